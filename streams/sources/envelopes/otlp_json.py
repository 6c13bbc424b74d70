"""OTLP/JSON, spans and logs, read by hand: a generic protobuf parser would take its hex ids for base64.

More is let through than the specification asks for: snake_case names, enum names, numbers as text, base64 ids.
Unknown fields are ignored. What a field may not hold is empty or None; only a span without ids is a problem.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

from schemas.errors import InvalidMessage
from streams.sources.envelopes.otlp_json_values import attributes_of, integer, value_of
from streams.sources.envelopes.otlp_values import (
    MAX_ITEMS,
    MAX_SPANS,
    SEVERITY_ERROR,
    SPAN_ID_BYTES,
    STATUS_ERROR,
    TRACE_ID_BYTES,
    Gathered,
    is_model_call,
    log_name,
    parent_id,
    required_id,
    time_from_nanoseconds,
)
from streams.sources.json_text import clean, load
from streams.sources.raw import Envelope, Json, RawEvent, RawSpan

_DROPPED = ("droppedAttributesCount", "dropped_attributes_count")
_ERROR_CODES = (STATUS_ERROR, str(STATUS_ERROR), "STATUS_CODE_ERROR")
_ERROR_SEVERITIES = ("SEVERITY_NUMBER_ERROR", "SEVERITY_NUMBER_FATAL")


def decode_otlp_json(value: bytes) -> Envelope:
    """All spans, and the model calls among the log records, of an OTLP/JSON message.

    Raises InvalidMessage (``not_json``, ``too_deep``, ``not_otlp``, ``wrong_type``) when no part of it can be read.
    """
    document, is_dirty = load(value)
    return envelope_of(document, is_dirty=is_dirty)


def envelope_of(document: Json, *, is_dirty: bool = False) -> Envelope:
    """As `decode_otlp_json`, for what `json_text.load` gave."""
    if not isinstance(document, dict):
        raise InvalidMessage("not_otlp", "the value is no JSON object")
    if all(_get(document, *names.groups) is None for names in _SHAPES):
        raise InvalidMessage("not_otlp", "no resourceSpans and no resourceLogs in it; set the topic's decoder")
    found = Gathered()
    for record in _records(document, found, is_dirty=is_dirty):
        if not found.has_room():
            break
        _add(record, found, is_dirty=is_dirty)
    return found.envelope()


@dataclass(slots=True)
class _Record:
    """A span or log record with what it shares with its group."""

    make: Callable[["_Record", dict[str, Any]], RawSpan | None]
    content: Any
    resource: Mapping[str, Json] = field(default_factory=dict)
    scope: str = ""
    flags: set[str] = field(default_factory=set)


def _add(record: _Record, found: Gathered, *, is_dirty: bool) -> None:
    try:
        content = record.content
        if is_dirty:
            content, is_mended = clean(content)
            record.flags |= {"repaired_text"} if is_mended else set()
        if not isinstance(content, dict):
            raise InvalidMessage("wrong_type", "no JSON object")  # noqa: TRY301  handled like every other fault
        found.add(record.make(record, content))
    except InvalidMessage as error:
        found.refuse(error)


def _records(document: dict[str, Any], found: Gathered, *, is_dirty: bool) -> Iterator[_Record]:
    for names in _SHAPES:
        for group in _groups(document, names.groups, found):
            resource, mended = _shared(group.get("resource"), found, is_dirty=is_dirty)
            flags = {"repaired_text"} if mended else set[str]()
            attributes = attributes_of(resource.get("attributes"), flags)
            for part in _groups(group, names.parts, found):
                scope, mended = _shared(part.get("scope"), found, is_dirty=is_dirty)
                shared = flags | {"repaired_text"} if mended else flags
                for content in _list(_get(part, *names.records)):
                    yield _Record(names.make, content, attributes, _text(scope.get("name")), set(shared))


def _groups(parent: dict[str, Any], names: tuple[str, str], found: Gathered) -> Iterator[dict[str, Any]]:
    groups = _get(parent, *names)
    for group in islice(_list(groups), MAX_SPANS):
        if isinstance(group, dict):
            yield group
        else:
            found.refuse(InvalidMessage("wrong_type", f"{names[0]}: an item is no JSON object"))


def _shared(part: Json, found: Gathered, *, is_dirty: bool) -> tuple[dict[str, Any], bool]:
    """A resource or scope, and whether its text was mended; an empty one in place of what cannot be read."""
    if not isinstance(part, dict):
        return {}, False
    if not is_dirty:
        return part, False
    try:
        return clean(part)
    except InvalidMessage as error:
        found.refuse(error)
        return {}, False


def _span(record: _Record, span: dict[str, Any]) -> RawSpan:
    flags = record.flags
    attributes = attributes_of(span.get("attributes"), flags)
    events = [event for event in islice(_list(span.get("events")), MAX_ITEMS) if isinstance(event, dict)]
    status = span.get("status")
    return RawSpan(
        trace_id=required_id(_get(span, "traceId", "trace_id"), TRACE_ID_BYTES, "trace_id"),
        span_id=required_id(_get(span, "spanId", "span_id"), SPAN_ID_BYTES, "span_id"),
        parent_id=parent_id(_get(span, "parentSpanId", "parent_span_id")),
        name=_text(span.get("name")),
        start=_time(_get(span, "startTimeUnixNano", "start_time_unix_nano"), flags),
        end=_time(_get(span, "endTimeUnixNano", "end_time_unix_nano"), flags),
        attributes=attributes,
        events=tuple(
            RawEvent(
                _text(event.get("name")),
                _time(_get(event, "timeUnixNano", "time_unix_nano"), flags),
                attributes_of(event.get("attributes"), flags),
            )
            for event in events
        ),
        resource=record.resource,
        scope=record.scope,
        is_error=isinstance(status, dict) and status.get("code") in _ERROR_CODES,
        dropped=_count(_get(span, "droppedEventsCount", "dropped_events_count"))
        + sum(_count(_get(part, *_DROPPED)) for part in (span, *events)),
        flags=tuple(sorted(flags)),
    )


def _log(record: _Record, log: dict[str, Any]) -> RawSpan | None:
    """The record as a span that has a start alone; None when it tells of no model call."""
    flags = record.flags
    attributes = attributes_of(log.get("attributes"), flags)
    name = log_name(_text(_get(log, "eventName", "event_name")), attributes)
    if not is_model_call(name, attributes):
        return None
    times = (_get(log, "timeUnixNano", "time_unix_nano"), _get(log, "observedTimeUnixNano", "observed_time_unix_nano"))
    severity = _get(log, "severityNumber", "severity_number")
    return RawSpan(
        trace_id=required_id(_get(log, "traceId", "trace_id"), TRACE_ID_BYTES, "trace_id"),
        span_id=required_id(_get(log, "spanId", "span_id"), SPAN_ID_BYTES, "span_id"),
        name=name,
        start=_time(times[0], flags) or _time(times[1], flags),
        attributes=attributes,
        resource=record.resource,
        scope=record.scope,
        is_error=_text(severity).startswith(_ERROR_SEVERITIES) or _count(severity) >= SEVERITY_ERROR,
        is_log=True,
        dropped=_count(_get(log, *_DROPPED)),
        body=value_of(log.get("body"), flags),
        flags=tuple(sorted(flags)),
    )


def _get(parts: dict[str, Any], camel: str, snake: str) -> Any:
    """A field by the name of the specification, else by its protobuf name."""
    found = parts.get(camel)
    return parts.get(snake) if found is None else found


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int:
    return max(integer(value, set()) or 0, 0)


def _time(value: Any, flags: set[str]) -> datetime | None:
    found: set[str] = set()
    nanoseconds = integer(value, found)
    if found:
        flags.add("bad_time")
    return time_from_nanoseconds(nanoseconds, flags)


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of a signal's levels, as the specification writes them and in snake_case."""

    groups: tuple[str, str]
    parts: tuple[str, str]
    records: tuple[str, str]
    make: Callable[[_Record, dict[str, Any]], RawSpan | None]


_SHAPES = (
    _Names(("resourceSpans", "resource_spans"), ("scopeSpans", "scope_spans"), ("spans", "spans"), _span),
    _Names(("resourceLogs", "resource_logs"), ("scopeLogs", "scope_logs"), ("logRecords", "log_records"), _log),
)
