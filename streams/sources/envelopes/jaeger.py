"""Jaeger spans as JSON: one span a message as collectors write it to Kafka, and the answers of Jaeger's query API.

The two differ in ids (base64 against hex without leading zeros), times (text against microseconds) and tags. Both
carry OpenTelemetry's status, scope and resource in tags, which stay among the attributes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from schemas.errors import InvalidMessage
from streams.sources.envelopes.jaeger_values import duration_of, tags_of, time_of
from streams.sources.envelopes.otlp_values import (
    MAX_ITEMS,
    SPAN_ID_BYTES,
    TRACE_ID_BYTES,
    Gathered,
    parent_id,
    required_id,
)
from streams.sources.json_text import clean, load
from streams.sources.raw import Envelope, Json, RawEvent, RawSpan

_FOLLOWS_FROM = ("FOLLOWS_FROM", 1)


def decode_jaeger_json(value: bytes) -> Envelope:
    """One span, one trace with its processes, or a query's ``data`` with several.

    Raises InvalidMessage (``not_json``, ``too_deep``, ``not_jaeger``). A span without ids is a problem of the envelope.
    """
    document, is_dirty = load(value)
    return envelope_of(document, is_dirty=is_dirty)


def envelope_of(document: Json, *, is_dirty: bool = False) -> Envelope:
    """As `decode_jaeger_json`, for what `json_text.load` gave."""
    found = Gathered()
    for record in _records(document):
        if not found.has_room():
            break
        try:
            found.add(_span(record, is_dirty=is_dirty))
        except InvalidMessage as error:
            found.refuse(error)
    return found.envelope()


@dataclass(frozen=True, slots=True)
class _Record:
    content: Any
    processes: Mapping[str, Any] = field(default_factory=dict)


def _records(document: Json) -> Iterator[_Record]:
    if isinstance(document, dict):
        if isinstance(document.get("data"), list):
            return (record for trace in document["data"] for record in _of_trace(trace))
        if isinstance(document.get("spans"), list):
            return _of_trace(document)
        if "operationName" in document or "spanId" in document or "spanID" in document:
            return iter([_Record(document)])
    raise InvalidMessage("not_jaeger", "no Jaeger span, and no spans or data in it; set the topic's decoder")


def _of_trace(trace: Any) -> Iterator[_Record]:
    if not isinstance(trace, dict) or not isinstance(trace.get("spans"), list):
        yield _Record(trace)
        return
    processes = trace.get("processes")
    for content in trace["spans"]:
        yield _Record(content, processes if isinstance(processes, dict) else {})


def _span(record: _Record, *, is_dirty: bool) -> RawSpan:
    flags: set[str] = set()
    (span, process), is_mended = _parts(record, is_dirty=is_dirty)
    if is_mended:
        flags.add("repaired_text")
    attributes = tags_of(span.get("tags"), flags)
    start = time_of(span.get("startTime"), flags)
    tags = tags_of(process.get("tags"), flags)
    name = process.get("serviceName")
    return RawSpan(
        trace_id=required_id(_hex_or_base64(span, "trace"), TRACE_ID_BYTES, "trace_id"),
        span_id=required_id(_hex_or_base64(span, "span"), SPAN_ID_BYTES, "span_id"),
        parent_id=parent_id(_parent(span)),
        name=_text(span.get("operationName")),
        start=start,
        end=duration_of(start, span.get("duration"), flags),
        attributes=attributes,
        events=tuple(_event(log, flags) for log in islice(_dicts(span.get("logs")), MAX_ITEMS)),
        resource={"service.name": name, **tags} if isinstance(name, str) else tags,
        scope=_text(attributes.get("otel.scope.name")) or _text(attributes.get("otel.library.name")),
        is_error=attributes.get("error") in (True, "true") or attributes.get("otel.status_code") == "ERROR",
        flags=tuple(sorted(flags)),
    )


def _parts(record: _Record, *, is_dirty: bool) -> tuple[tuple[dict[str, Any], dict[str, Any]], bool]:
    """A span and its process, mended where the message needs it."""
    span = record.content
    if not isinstance(span, dict):
        raise InvalidMessage("wrong_type", "no JSON object")
    process = span.get("process") or record.processes.get(_text(span.get("processID")))
    parts = (span, process if isinstance(process, dict) else {})
    if not is_dirty:
        return parts, False
    cleaned, is_mended = clean(list(parts))
    return (cleaned[0], cleaned[1]), is_mended


def _hex_or_base64(parts: Mapping[str, Any], name: str) -> Any:
    """The id under its name in the query API, with the zeros that this API leaves out, or under its protobuf name."""
    digits = parts.get(f"{name}ID")
    if isinstance(digits, str) and digits:
        return digits.zfill(2 * (TRACE_ID_BYTES if name == "trace" else SPAN_ID_BYTES))
    return parts.get(f"{name}Id") or parts.get(f"{name}_id")


def _parent(span: Mapping[str, Any]) -> Any:
    """The span that this one is a child of, else the one that it follows, within the same trace."""
    trace_id = _hex_or_base64(span, "trace")
    references = [ref for ref in _dicts(span.get("references")) if _hex_or_base64(ref, "trace") == trace_id]
    references.sort(key=lambda reference: reference.get("refType") in _FOLLOWS_FROM)
    return _hex_or_base64(references[0], "span") if references else _hex_or_base64(span, "parentSpan")


def _event(log: Mapping[str, Any], flags: set[str]) -> RawEvent:
    fields = tags_of(log.get("fields"), flags)
    name = fields.pop("event", None)
    return RawEvent(_text(name), time_of(log.get("timestamp"), flags), fields)


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
