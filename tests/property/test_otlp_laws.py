"""OTLP: both encodings give the same spans, and no bytes can do more harm than to become a dead letter."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from schemas.errors import InvalidMessage
from streams.sources.envelopes.jaeger import decode_jaeger_json
from streams.sources.envelopes.jaeger_proto import decode_jaeger_proto
from streams.sources.envelopes.otlp_json import decode_otlp_json
from streams.sources.envelopes.otlp_proto import Signal, decode_otlp_proto
from streams.sources.raw import Envelope
from streams.sources.wire import Framed, unwrap
from tests.unit.sources.otlp_messages import Request, fixture, json_of, request_of, span, spans_request

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
COUNTS = st.integers(0, 2**32 - 1)
TIMES = st.sampled_from([0, 1, 10**18, 2**63 - 1]) | st.integers(0, 2**64 - 1)


def ids(size: int) -> st.SearchStrategy[bytes]:
    """Mostly ids, sometimes none, zeros, or bytes of another length."""
    return st.binary(min_size=size, max_size=size) | st.sampled_from([b"", bytes(size), b"12345"])


def _nested(values: st.SearchStrategy[AnyValue]) -> st.SearchStrategy[AnyValue]:
    arrays = st.lists(values, max_size=3).map(lambda items: AnyValue(array_value=ArrayValue(values=items)))
    pairs = st.lists(st.builds(KeyValue, key=TEXTS, value=values), max_size=3)
    return arrays | pairs.map(lambda items: AnyValue(kvlist_value=KeyValueList(values=items)))


VALUES = st.recursive(
    st.just(AnyValue())
    | TEXTS.map(lambda text: AnyValue(string_value=text))
    | st.booleans().map(lambda yes: AnyValue(bool_value=yes))
    | st.integers(-(2**63), 2**63 - 1).map(lambda number: AnyValue(int_value=number))
    | st.floats().map(lambda number: AnyValue(double_value=number))
    | st.binary(max_size=9).map(lambda raw: AnyValue(bytes_value=raw)),
    _nested,
    max_leaves=6,
)
ATTRIBUTES = st.lists(
    st.builds(KeyValue, key=TEXTS | st.sampled_from(["gen_ai.system", "event.name"]), value=VALUES), max_size=3
)
EVENTS = st.builds(Span.Event, name=TEXTS, time_unix_nano=TIMES, attributes=ATTRIBUTES, dropped_attributes_count=COUNTS)
SPANS = st.builds(
    Span,
    trace_id=ids(16),
    span_id=ids(8),
    parent_span_id=st.binary(min_size=8, max_size=8) | st.just(b""),
    name=TEXTS,
    kind=st.integers(0, 5),
    start_time_unix_nano=TIMES.filter(bool),
    end_time_unix_nano=TIMES,
    attributes=ATTRIBUTES,
    events=st.lists(EVENTS, max_size=2),
    status=st.builds(Status, code=st.integers(0, 2)),
    dropped_attributes_count=COUNTS,
    dropped_events_count=COUNTS,
)
RECORDS = st.builds(
    LogRecord,
    trace_id=ids(16),
    span_id=ids(8),
    event_name=st.sampled_from(["", "gen_ai.choice", "other"]),
    time_unix_nano=TIMES,
    observed_time_unix_nano=TIMES.filter(bool),
    severity_number=st.integers(0, 24),
    attributes=ATTRIBUTES,
    body=VALUES,
    dropped_attributes_count=COUNTS,
)
GROUPS = st.lists(
    st.tuples(ATTRIBUTES, TEXTS, st.lists(SPANS | RECORDS, min_size=1, max_size=3)), min_size=1, max_size=2
)


def traces(groups: Any) -> ExportTraceServiceRequest:
    """A request with the spans among the records, each group in a resource and scope of its own."""
    found = ExportTraceServiceRequest()
    for attributes, scope, records in groups:
        group = found.resource_spans.add(resource=Resource(attributes=attributes))
        part = group.scope_spans.add()
        part.scope.name = scope
        part.spans.extend(record for record in records if isinstance(record, Span))
    return found


def logs(groups: Any) -> ExportLogsServiceRequest:
    """The same with the log records."""
    found = ExportLogsServiceRequest()
    for attributes, scope, records in groups:
        part = found.resource_logs.add(resource=Resource(attributes=attributes)).scope_logs.add()
        part.scope.name = scope
        part.log_records.extend(record for record in records if isinstance(record, LogRecord))
    return found


def told(envelope: Envelope) -> tuple[Any, ...]:
    """An envelope without the wording of its problems."""
    return envelope.spans, [problem.reason for problem in envelope.problems], envelope.ignored


@given(GROUPS, st.booleans(), st.booleans(), st.sampled_from(Signal))
def test_both_encodings_agree(groups: Any, snake_case: bool, enum_numbers: bool, signal: Signal) -> None:
    """Copies of one span in different encodings are the same span."""
    request: Request = traces(groups) if signal is Signal.TRACES else logs(groups)
    document = json_of(request, snake_case=snake_case, enum_numbers=enum_numbers)
    document = document or {"resourceSpans": []}
    proto = decode_otlp_proto(request.SerializeToString(), signal)
    assert told(proto) == told(decode_otlp_json(json.dumps(document).encode()))


@given(st.lists(SPANS, min_size=1, max_size=4), st.lists(RECORDS, min_size=1, max_size=4))
def test_signals_are_told_apart(spans: list[Span], records: list[LogRecord]) -> None:
    """Whatever fields are there, as long as each record has a time."""
    of_spans, of_records = traces([([], "", spans)]), logs([([], "", records)])
    assert told(decode_otlp_proto(of_spans.SerializeToString())) == told(
        decode_otlp_proto(of_spans.SerializeToString(), Signal.TRACES)
    )
    assert told(decode_otlp_proto(of_records.SerializeToString())) == told(
        decode_otlp_proto(of_records.SerializeToString(), Signal.LOGS)
    )


DECODERS: dict[str, Callable[[bytes], Envelope]] = {
    "otlp_proto": decode_otlp_proto,
    "otlp_logs": lambda value: decode_otlp_proto(value, Signal.LOGS),
    "otlp_json": decode_otlp_json,
    "jaeger_json": decode_jaeger_json,
    "jaeger_proto": decode_jaeger_proto,
}
MESSAGES = [
    *(request_of(name).SerializeToString() for name in ("otlp_openinference.json", "otlp_genai_1_36_logs.json")),
    *(fixture(name) for name in ("otlp_openinference.json", "otlp_genai_1_37_logs.json")),
    *(fixture("jaeger_query_openinference.json"), fixture("jaeger_openinference.jsonl").splitlines()[0]),
]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A good message that was cut, or has wrong bits, or bytes put in or taken out."""
    message = bytearray(draw(st.sampled_from(MESSAGES)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(message)))
        match draw(st.sampled_from(["cut", "flip", "put", "take"])):
            case "cut":
                del message[at:]
            case "flip" if at < len(message):
                message[at] ^= draw(st.integers(1, 255))
            case "put":
                message[at:at] = draw(st.binary(max_size=5))
            case _:
                del message[at : at + draw(st.integers(1, 9))]
    return bytes(message)


@pytest.mark.parametrize("name", DECODERS)
@given(value=st.binary(max_size=300) | damaged())
def test_any_bytes_are_spans_or_a_dead_letter(name: str, value: bytes) -> None:
    """Nothing but InvalidMessage is raised, and what is given can be written as UTF-8 JSON."""
    try:
        found = unwrap(value, 10_000)
        envelope = DECODERS[name](value if isinstance(found, Framed) else found)
    except InvalidMessage:
        return
    for raw in envelope.spans:
        assert 32 == len(raw.trace_id)
        assert 16 == len(raw.span_id)
        parts = (raw.attributes, raw.resource, raw.body, raw.name, raw.scope, raw.parent_id)
        events = [(event.name, event.attributes) for event in raw.events]
        json.dumps([*parts, events], allow_nan=False, ensure_ascii=False).encode()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
FIELDS = ("attributes", "events", "name", "startTimeUnixNano", "status", "parentSpanId", "traceId", "spanId")


@given(JSON | st.dictionaries(st.sampled_from(FIELDS), JSON).map(lambda fields: span(**fields)), st.integers(0, 2))
def test_a_neighbour_in_json_can_be_anything(neighbour: Any, at: int) -> None:
    """The spans around it are read as if it were not there."""
    good = [span(name="a"), span(name="b")]
    envelope = decode_otlp_json(spans_request(*good[:at], neighbour, *good[at:]))
    assert {"a", "b"} <= {found.name for found in envelope.spans}
    assert 3 == len(envelope.spans) + len(envelope.problems)


@given(st.binary(max_size=60), st.integers(0, 2))
def test_a_neighbour_in_protobuf_can_be_anything(neighbour: bytes, at: int) -> None:
    """As long as its length is right."""
    parts = [Span(trace_id=b"t" * 16, span_id=b"s" * 8, name=name).SerializeToString() for name in ("before", "after")]
    parts.insert(min(at, 2), neighbour)
    scope = b"".join(b"\x12" + bytes([len(part)]) + part for part in parts)
    group = ResourceSpans(scope_spans=[ScopeSpans()]).SerializeToString()[:-1]
    length = bytes([len(scope) & 0x7F | 0x80, len(scope) >> 7])
    inner = group + length + scope
    outer = b"\x0a" + bytes([len(inner) & 0x7F | 0x80, len(inner) >> 7]) + inner
    envelope = decode_otlp_proto(outer, Signal.TRACES)
    assert {"before", "after"} <= {found.name for found in envelope.spans}
    assert 3 == len(envelope.spans) + len(envelope.problems)
