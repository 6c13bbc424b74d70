"""The spans of one trace as a tree, in an order that does not depend on how they came."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from schemas.span import Span, SpanKind
from streams.assembly.merge import merge_copies

_LATE = datetime(9999, 1, 1, tzinfo=UTC)
_NEVER_PART = frozenset({SpanKind.EVALUATOR, SpanKind.FEEDBACK})


@dataclass(frozen=True, slots=True)
class Tree:
    """One span for each span id, ordered by start, then end, then id.

    ``root`` is the earliest span without a parent id; where there is none, the earliest whose parent is not here, and
    ``is_rooted`` is False. ``asides`` are evaluator and feedback spans, which are no part of the answer.
    """

    spans: tuple[Span, ...]
    root: Span
    is_rooted: bool
    by_id: Mapping[str, Span]
    asides: tuple[Span, ...] = ()

    def of_kind(self, *kinds: SpanKind) -> tuple[Span, ...]:
        """The spans of these kinds, in order."""
        return tuple(span for span in self.spans if span.kind in kinds)


def build_tree(copies: Iterable[Span]) -> Tree | None:
    """The tree of the spans of one trace; None when nothing in it is part of an answer (a judge's own trace)."""
    by_id: dict[str, list[Span]] = {}
    for copy in copies:
        by_id.setdefault(copy.span_id, []).append(copy)
    merged = sorted((merge_copies(group) for group in by_id.values()), key=_order)
    asides = tuple(_asides(merged))
    outside = {span.span_id for span in asides}
    spans = tuple(span for span in merged if span.span_id not in outside)
    if not spans:
        return None
    present = {span.span_id: span for span in spans}
    parentless = [span for span in spans if not span.parent_id]
    orphans = [span for span in spans if span.parent_id and span.parent_id not in present]
    root = (parentless or orphans or list(spans))[0]
    return Tree(spans, root, bool(parentless), present, asides)


def ids_above(span: Span, tree: Tree) -> frozenset[str]:
    """Ids of the spans that a span is part of, however deep; a circle ends the walk."""
    found: set[str] = set()
    above = tree.by_id.get(span.parent_id)
    while above is not None and above.span_id not in found:
        found.add(above.span_id)
        above = tree.by_id.get(above.parent_id)
    return frozenset(found)


def _asides(spans: Sequence[Span]) -> Iterator[Span]:
    """Evaluator and feedback spans, and everything below an evaluator: its model calls are not the product's."""
    children: dict[str, list[Span]] = {}
    for span in spans:
        children.setdefault(span.parent_id, []).append(span)
    waiting = [span for span in spans if span.kind in _NEVER_PART]
    excluded: set[str] = set()
    while waiting:
        span = waiting.pop()
        if span.span_id not in excluded:
            excluded.add(span.span_id)
            yield span
            waiting += children.get(span.span_id, [])


def _order(span: Span) -> tuple[datetime, datetime, str]:
    return span.start or span.end or _LATE, span.end or _LATE, span.span_id
