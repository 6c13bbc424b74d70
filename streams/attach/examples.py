"""Three assembled traces for a person to look at: whole ones first, of as many intents as there are."""

from collections.abc import Callable, Sequence

from schemas.trace import Passage, Trace
from streams.attach.reading import Built
from streams.attach.report import Example

COUNT = 3
_TEXT_CHARS = 300
_PASSAGE_CHARS = 160
_PASSAGES = 4


def examples(built: Sequence[Built], finish: Callable[[Trace], Trace]) -> tuple[Example, ...]:
    """At most three, shortened; ``finish`` takes out what must not be shown."""
    ordered = sorted(built, key=lambda one: (not one.trace.answer, not one.trace.passages, not one.is_whole))
    first: dict[str, Built] = {}
    for one in ordered:
        first.setdefault(one.trace.intent, one)
    others = [one for one in ordered if first[one.trace.intent] is not one]
    return tuple(_example(finish(one.trace), len(one.spans)) for one in [*first.values(), *others][:COUNT])


def _example(trace: Trace, spans: int) -> Example:
    return Example(
        trace_id=trace.trace_id,
        intent=trace.intent,
        tier=trace.tier,
        question=_short(trace.question),
        answer=None if trace.answer is None else _short(trace.answer),
        passages=None if trace.passages is None else tuple(map(_passage, trace.passages[:_PASSAGES])),
        tools=tuple(call.name[:_PASSAGE_CHARS] for call in trace.tool_calls[:_PASSAGES]),
        spans=spans,
        flags=trace.flags,
        decoder=trace.decoder,
    )


def _passage(passage: Passage) -> str:
    return f"{(passage.doc_id or passage.chunk_id)[:_PASSAGE_CHARS]}: {_short(passage.text, _PASSAGE_CHARS)}"


def _short(text: str, chars: int = _TEXT_CHARS) -> str:
    return text if len(text) <= chars else f"{text[:chars]}…"
