"""From a raw span to a span in our words: the conventions that its keys show, in order, field by field.

Order of precedence, which is that of the keys: Langfuse, GenAI events, MLflow, OpenLLMetry, OpenInference, GenAI
attributes, bare keys. A span may carry several; a topic may mix all of them and their versions.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from schemas.span import Feedback, Span, SpanKind
from schemas.trace import MAX_ITEMS, Versions
from streams.sources.checked import is_name
from streams.sources.conventions.genai import read_genai
from streams.sources.conventions.genai_events import read_genai_events
from streams.sources.conventions.langfuse import read_langfuse
from streams.sources.conventions.mlflow import read_mlflow
from streams.sources.conventions.openinference import read_openinference
from streams.sources.conventions.openllmetry import read_openllmetry
from streams.sources.conventions.plain import kind_of, read_plain
from streams.sources.conventions.reading import Reading
from streams.sources.conventions.shapes import Fields, shaped
from streams.sources.conventions.values import is_redacted
from streams.sources.raw import RawSpan

_READERS: tuple[Callable[[RawSpan], Reading | None], ...] = (
    read_langfuse,
    read_genai_events,
    read_mlflow,
    read_openllmetry,
    read_openinference,
    read_genai,
    read_plain,
)
_VERSIONS = tuple(Versions.model_fields)
_CONTENT = {
    SpanKind.LLM: ("messages", "completions"),
    SpanKind.RETRIEVER: ("documents",),
    SpanKind.RERANKER: ("documents",),
    SpanKind.CHAIN: ("input", "output"),
    SpanKind.AGENT: ("input", "output"),
}
"""What a span of a kind holds when nothing was dropped from it."""


def to_span(raw: RawSpan, said: Sequence[Reading] = ()) -> Span:
    """The span. Never raises: what has the wrong shape is left out and flagged. Linear in the size of the span.

    ``said`` comes before what the keys say: what a mapping found.
    """
    readings = [*said, *(reading for read in _READERS if (reading := read(raw)) is not None)]
    kind = kind_of(raw, [reading.kind for reading in readings if reading.kind is not None])
    flags = set(raw.flags).union(*(reading.flags for reading in readings))
    fields = shaped(kind, readings, raw.name, flags)
    flags |= _content_flags(raw, kind, fields, readings)
    names = {key: text for reading in reversed(readings) for key, text in reading.names.items()}
    versions = {key: names[key] for key in _VERSIONS if key in names}
    if any(not is_name(text) for text in versions.values()):
        flags.add("name_dropped")
        versions = {key: text for key, text in versions.items() if is_name(text)}
    return Span(
        trace_id=raw.trace_id,
        span_id=raw.span_id,
        parent_id=raw.parent_id,
        name="" if raw.is_log else raw.name,
        kind=kind,
        start=raw.start,
        end=raw.end,
        is_update=raw.is_log,
        is_error=raw.is_error,
        **fields,
        conversation_id=names.get("conversation_id", ""),
        user_id=names.get("user_id", ""),
        versions=Versions(**versions),
        feedback=_feedback(readings),
        flags=tuple(sorted(flags)),
        decoder=readings[0].convention,
    )


def _feedback(readings: Iterable[Reading]) -> tuple[Feedback, ...]:
    return tuple(dict.fromkeys(said for reading in readings for said in reading.feedback))[:MAX_ITEMS]


def _content_flags(raw: RawSpan, kind: SpanKind, fields: Fields, readings: Sequence[Reading]) -> set[str]:
    flags = set()
    if kind is SpanKind.LLM and not any(reading.messages or reading.completions for reading in readings):
        flags |= set() if fields["messages"] or fields["completions"] else {"no_content"}
    if (raw.dropped or "cut_values" in raw.flags) and _concerns_content(kind, fields, readings):
        flags.add("truncated")
    given, written = _texts(fields)
    if any(is_redacted(text) for text in written):
        flags.add("redacted")
    if any(is_redacted(text) for text in given):
        flags.add("redacted_input")
    return flags


def _concerns_content(kind: SpanKind, fields: Fields, readings: Sequence[Reading]) -> bool:
    """Whether what limits dropped may have been content: it lies in many attributes, or some of it is missing."""
    expected = _CONTENT.get(kind)
    if expected is None:
        return False
    return any(reading.has_lists for reading in readings) or any(not fields.get(key) for key in expected)


def _texts(fields: Fields) -> tuple[list[str | None], list[str | None]]:
    """What the span was given, and what it gave: hidden questions leave an answer readable, hidden answers do not."""
    tool: Any = fields.get("tool")
    given = [fields.get("input"), fields.get("query"), *(message.content for message in fields.get("messages", ()))]
    written = [fields.get("output"), *fields.get("completions", ()), tool.output if tool else None]
    return given, [*written, *(passage.text for passage in fields.get("documents") or ())]
