"""OTLP protobuf, spans and logs, as the collector's Kafka exporter writes it: many resources and traces in one value.

Requests for spans and for logs share their outer shape, and no header names them: unless the topic's setting says
which, the first record decides by its fields. Of log records only those of model calls become spans (`is_model_call`);
the others are counted. Span links are not kept: nothing of ours follows them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain, groupby, islice
from operator import attrgetter
from typing import TypeVar

from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from schemas.errors import InvalidMessage
from streams.sources.envelopes.otlp_proto_values import attributes_of, value_of
from streams.sources.envelopes.otlp_repair import parse_mending, pieces
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
from streams.sources.envelopes.protobuf_wire import FIXED32, FIXED64, LENGTH, VARINT, fields
from streams.sources.raw import Envelope, Json, RawEvent, RawSpan

M = TypeVar("M", bound=Message)
_REPAIRED = {"repaired_text"}
_LOOKED_AT = 100
"""Records, and fields of each, that are looked at to tell spans from logs."""


class Signal(StrEnum):
    """What an OTLP message carries."""

    TRACES = "traces"
    LOGS = "logs"


@dataclass(slots=True)
class _Record:
    """A span or log record with what it shares with its group; None in place of one that cannot be read."""

    message: Span | LogRecord | None
    resource: Mapping[str, Json] = field(default_factory=dict)
    scope: str = ""
    flags: set[str] = field(default_factory=set)
    is_cut: bool = False


def decode_otlp_proto(value: bytes, signal: Signal | None = None) -> Envelope:
    """All spans of an ExportTraceServiceRequest, or the model calls of an ExportLogsServiceRequest.

    Raises InvalidMessage (``not_otlp``) when nothing in ``value`` is a span or a log record. A record without ids, or
    that cannot be read, is a problem of the envelope. Broken text is mended and flagged.
    """
    signal = signal or signal_of(value)
    if signal is None and value:
        raise InvalidMessage("not_otlp", "no span and no log record in it; set the topic's decoder")
    found = Gathered()
    for record in _records(value, signal or Signal.TRACES):
        if not found.has_room():
            break
        _add(record, found)
    return found.envelope()


def signal_of(value: bytes) -> Signal | None:
    """Whether ``value`` holds spans or logs, by the numbers and types of its records' fields; None when neither."""
    if _begins_with_a_span(value):
        return Signal.TRACES
    for piece in islice(pieces(value), _LOOKED_AT):
        for item in islice(fields(piece.record), _LOOKED_AT):
            seen = (item.number, item.wire_type)
            if seen in {(7, FIXED64), (8, FIXED64)} or (seen == (1, LENGTH) and _is_trace_id(item.data)):
                return Signal.TRACES
            if seen in {(1, FIXED64), (11, FIXED64), (2, VARINT), (8, FIXED32)}:
                return Signal.LOGS
    return None


def _begins_with_a_span(value: bytes) -> bool:
    """The quick answer for nearly every message: a log record has no start time where a span has one."""
    try:
        group = ExportTraceServiceRequest.FromString(value).resource_spans[0]
        return group.scope_spans[0].spans[0].start_time_unix_nano > 0
    except (DecodeError, IndexError):
        return False


def _is_trace_id(data: memoryview) -> bool:
    return len(data) in {TRACE_ID_BYTES, TRACE_ID_BYTES * 3 // 2}


def _records(value: bytes, signal: Signal) -> Iterator[_Record]:
    try:
        return _traces(value) if signal is Signal.TRACES else _logs(value)
    except DecodeError:
        found = _one_by_one(value, signal)
        first = next(found, None)
        if first is None:
            raise InvalidMessage("not_otlp", "the value is no OTLP request; set the topic's decoder") from None
        return chain([first], found)


def _traces(value: bytes) -> Iterator[_Record]:
    request = ExportTraceServiceRequest.FromString(value)
    groups = ((group, *_resource(group.resource)) for group in islice(request.resource_spans, MAX_SPANS))
    return (
        _Record(span, resource, part.scope.name, set(flags))
        for group, resource, flags in groups
        for part in islice(group.scope_spans, MAX_SPANS)
        for span in part.spans
    )


def _logs(value: bytes) -> Iterator[_Record]:
    request = ExportLogsServiceRequest.FromString(value)
    groups = ((group, *_resource(group.resource)) for group in islice(request.resource_logs, MAX_SPANS))
    return (
        _Record(record, resource, part.scope.name, set(flags))
        for group, resource, flags in groups
        for part in islice(group.scope_logs, MAX_SPANS)
        for record in part.log_records
    )


def _one_by_one(value: bytes, signal: Signal) -> Iterator[_Record]:
    """The slow way, for a request that does not parse as a whole."""
    kind: type[Span | LogRecord] = Span if signal is Signal.TRACES else LogRecord
    for resource_bytes, group in groupby(pieces(value), key=attrgetter("resource")):
        resource, is_resource_mended = _mended(Resource, resource_bytes)
        attributes, flags = _resource(resource)
        for scope_bytes, records in groupby(group, key=attrgetter("scope")):
            scope, is_scope_mended = _mended(InstrumentationScope, scope_bytes)
            shared = flags | _REPAIRED if is_resource_mended or is_scope_mended else flags
            for piece in records:
                if piece.is_cut:
                    yield _Record(None, is_cut=True)
                    continue
                try:
                    message, is_mended = parse_mending(kind, piece.record)
                except DecodeError:
                    yield _Record(None)
                else:
                    yield _Record(message, attributes, scope.name, shared | _REPAIRED if is_mended else set(shared))


def _mended(kind: type[M], data: memoryview) -> tuple[M, bool]:
    """As `parse_mending`, with an empty message in place of one that cannot be read: its spans are worth more."""
    try:
        return parse_mending(kind, data)
    except DecodeError:
        return kind(), True


def _resource(resource: Resource) -> tuple[dict[str, Json], set[str]]:
    flags: set[str] = set()
    return attributes_of(resource.attributes, flags), flags


def _add(record: _Record, found: Gathered) -> None:
    try:
        if isinstance(record.message, Span):
            found.add(_span(record, record.message))
        elif isinstance(record.message, LogRecord):
            found.add(_log(record, record.message))
        else:
            found.refuse(InvalidMessage("truncated" if record.is_cut else "not_protobuf", "its bytes are no record"))
    except InvalidMessage as error:
        found.refuse(error)


def _span(record: _Record, span: Span) -> RawSpan:
    flags = record.flags
    attributes = attributes_of(span.attributes, flags)
    dropped = span.dropped_attributes_count + span.dropped_events_count
    events = []
    for event in islice(span.events, MAX_ITEMS):
        at = time_from_nanoseconds(event.time_unix_nano, flags)
        events.append(RawEvent(event.name, at, attributes_of(event.attributes, flags)))
        dropped += event.dropped_attributes_count
    return RawSpan(
        trace_id=required_id(span.trace_id, TRACE_ID_BYTES, "trace_id"),
        span_id=required_id(span.span_id, SPAN_ID_BYTES, "span_id"),
        parent_id=parent_id(span.parent_span_id),
        name=span.name,
        start=time_from_nanoseconds(span.start_time_unix_nano, flags),
        end=time_from_nanoseconds(span.end_time_unix_nano, flags),
        attributes=attributes,
        events=tuple(events),
        resource=record.resource,
        scope=record.scope,
        is_error=span.status.code == STATUS_ERROR,
        dropped=dropped,
        flags=tuple(sorted(flags)),
    )


def _log(record: _Record, log: LogRecord) -> RawSpan | None:
    """The record as a span that has a start alone; None when it tells of no model call."""
    flags = record.flags
    attributes = attributes_of(log.attributes, flags)
    name = log_name(log.event_name, attributes)
    if not is_model_call(name, attributes):
        return None
    return RawSpan(
        trace_id=required_id(log.trace_id, TRACE_ID_BYTES, "trace_id"),
        span_id=required_id(log.span_id, SPAN_ID_BYTES, "span_id"),
        name=name,
        start=time_from_nanoseconds(log.time_unix_nano or log.observed_time_unix_nano, flags),
        attributes=attributes,
        resource=record.resource,
        scope=record.scope,
        is_error=log.severity_number >= SEVERITY_ERROR,
        is_log=True,
        dropped=log.dropped_attributes_count,
        body=value_of(log.body, flags),
        flags=tuple(sorted(flags)),
    )
