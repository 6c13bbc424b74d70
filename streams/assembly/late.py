"""What a trace still takes in after it was closed: late spans, up to a few times the caps, and then only its root.

Each closing reads all that is known of the trace, so one that never ends must not grow for ever.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.span import Span
from streams.assembly.closing import CloseReason, ClosingRules, cap_reason

GROWTH = 4
"""So many times the caps a trace may grow by late spans: one that is a little too long is still judged whole."""


@dataclass(frozen=True, slots=True)
class Late:
    """``taken`` are the late spans that go in, in order; ``cap`` is the one that the trace has reached with them.

    ``is_full``: spans were left out, now or when such a trace was closed before.
    """

    taken: tuple[Span, ...]
    left_out: int
    cap: CloseReason | None
    is_full: bool


def take_late(known: Sequence[Span], came: Sequence[Span], rules: ClosingRules) -> Late:
    """The spans of ``came`` that go in beside the ``known`` ones of their trace.

    The end of the root is taken once whatever came before: it holds question and answer.
    """
    spans, size = len(known), sum(map(_size_bytes, known))
    has_root = any(map(_is_root_end, known))
    taken: list[Span] = []
    for span in came:
        own = _size_bytes(span)
        is_first_root = not has_root and _is_root_end(span)
        if is_first_root or (spans < GROWTH * rules.spans and size + own <= GROWTH * rules.bytes):
            taken.append(span)
            spans, size, has_root = spans + 1, size + own, has_root or is_first_root
    left_out = len(came) - len(taken)
    is_full = left_out > 0 or spans > GROWTH * rules.spans
    return Late(tuple(taken), left_out, cap_reason(spans, size, rules), is_full)


def _size_bytes(span: Span) -> int:
    """About what it takes on the broker."""
    return len(span.model_dump_json(exclude_defaults=True))


def _is_root_end(span: Span) -> bool:
    return not span.parent_id and not span.is_update and span.end is not None
