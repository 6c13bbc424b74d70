"""OTLP protobuf: spans and logs, in good and in bad condition."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, SeverityNumber
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from schemas.errors import InvalidMessage
from streams.sources.envelopes import otlp_values
from streams.sources.envelopes.otlp_json import decode_otlp_json
from streams.sources.envelopes.otlp_proto import Signal, decode_otlp_proto, signal_of
from streams.sources.raw import RawEvent, RawSpan
from tests.unit.sources.otlp_messages import fixture, otlp_fixtures, request_of

TRACE, SPAN = bytes(range(16)), bytes(range(8))


def request(*spans: Span, resource: str = "shop", scope: str = "tests") -> ExportTraceServiceRequest:
    """A request with these spans in one scope."""
    found = ExportTraceServiceRequest()
    group = found.resource_spans.add()
    group.resource.attributes.add(key="service.name").value.string_value = resource
    part = group.scope_spans.add()
    part.scope.name = scope
    part.spans.extend(spans)
    return found


def one(**fields: Any) -> Span:
    """A span with ids."""
    return Span(**{"trace_id": TRACE, "span_id": SPAN, **fields})


def logs(*records: LogRecord) -> bytes:
    """An encoded request with these log records."""
    found = ExportLogsServiceRequest()
    found.resource_logs.add().scope_logs.add().log_records.extend(records)
    return found.SerializeToString()


def decoded(*spans: Span) -> tuple[RawSpan, ...]:
    """The spans after a way through bytes; there must be no problem."""
    envelope = decode_otlp_proto(request(*spans).SerializeToString())
    assert () == envelope.problems
    return envelope.spans


@pytest.mark.parametrize("name", otlp_fixtures())
def test_both_encodings_of_a_fixture_give_the_same_spans(name: str) -> None:
    """Copies of one span that come in different encodings must join."""
    envelope = decode_otlp_json(fixture(name))
    assert envelope == decode_otlp_proto(request_of(name).SerializeToString())
    assert () == envelope.problems
    assert envelope.spans


def test_everything_on_a_span_is_kept() -> None:
    """Ids as hex, times with a zone, status, what was dropped, resource, scope, events."""
    span = one(
        parent_span_id=b"\xaa" * 8,
        name="answer",
        start_time_unix_nano=1_778_745_600_000_001_999,
        end_time_unix_nano=1_778_745_600_900_000_000,
        dropped_attributes_count=1,
        dropped_events_count=2,
        status=Status(code=Status.STATUS_CODE_ERROR),
    )
    event = span.events.add(name="note", time_unix_nano=1_778_745_600_500_000_000, dropped_attributes_count=4)
    event.attributes.add(key="k").value.int_value = 3
    start = datetime(2026, 5, 14, 8, tzinfo=UTC)
    expected = RawSpan(
        trace_id="000102030405060708090a0b0c0d0e0f",
        span_id="0001020304050607",
        parent_id="aaaaaaaaaaaaaaaa",
        name="answer",
        start=start.replace(microsecond=1),
        end=start.replace(microsecond=900_000),
        events=(RawEvent("note", start.replace(microsecond=500_000), {"k": 3}),),
        resource={"service.name": "shop"},
        scope="tests",
        is_error=True,
        dropped=7,
    )
    assert (expected,) == decoded(span)


def test_values_of_every_kind_become_plain_json() -> None:
    """Bytes as base64; what is no number in JSON, and what is not there, as None."""
    span = one()
    values = {
        "text": AnyValue(string_value="x\0é"),
        "yes": AnyValue(bool_value=True),
        "whole": AnyValue(int_value=-(2**63)),
        "real": AnyValue(double_value=0.5),
        "nan": AnyValue(double_value=float("nan")),
        "inf": AnyValue(double_value=float("-inf")),
        "bytes": AnyValue(bytes_value=b"\xff\xfe"),
        "none": AnyValue(),
        "foreign": AnyValue(string_value_strindex=4),
    }
    for key, value in values.items():
        span.attributes.add(key=key).value.CopyFrom(value)
    nested = span.attributes.add(key="nested").value
    inner = nested.kvlist_value.values.add(key="list").value.array_value.values
    inner.extend([AnyValue(int_value=1), AnyValue(string_value="b")])
    expected = {
        "text": "x\0é",
        "yes": True,
        "whole": -(2**63),
        "real": 0.5,
        **dict.fromkeys(("nan", "inf", "none", "foreign")),
        "bytes": "//4=",
        "nested": {"list": [1, "b"]},
    }
    (found,) = decoded(span)
    assert expected == found.attributes
    assert () == found.flags


def nested(depth: int) -> Span:
    """A span with an attribute of that many lists within one another."""
    span = one()
    value = span.attributes.add(key="deep").value
    for _ in range(depth):
        value = value.array_value.values.add()
    value.string_value = "bottom"
    return span


def test_values_are_read_to_a_depth() -> None:
    """32 levels are kept, what is deeper is cut and the span says so."""
    (whole,) = decoded(nested(32))
    assert () == whole.flags
    assert "bottom" in str(whole.attributes)
    (cut,) = decoded(nested(33))
    assert ("cut_values",) == cut.flags
    assert "bottom" not in str(cut.attributes)


def test_values_too_deep_for_the_parser_cost_no_neighbour() -> None:
    """Protobuf gives up on a message with 100 levels, the request's own among them: each span is then read alone."""
    before, deep, after = decoded(one(name="before"), nested(48), one(name="after"))
    assert ("cut_values",) == deep.flags
    assert "tests" == deep.scope
    assert replace(before, name="after") == after


def test_span_with_broken_bytes_costs_no_neighbour() -> None:
    """Its length still tells where the next one begins."""
    value = request(one(name="before"), one(name="BROKEN_TEXT_15!"), one(name="after")).SerializeToString()
    envelope = decode_otlp_proto(
        value.replace(b"BROKEN_TEXT_15!", b"BROKEN_TEXT_15!"[:1] * 15).replace(b"*\x0fB", b"*\xffB")
    )
    assert ["before", "after"] == [span.name for span in envelope.spans]
    assert ["not_protobuf"] == [problem.reason for problem in envelope.problems]
    assert {"service.name": "shop"} == envelope.spans[1].resource


def test_long_lists_are_cut() -> None:
    """A list without end must not fill the memory."""
    span = one()
    span.attributes.add(key="a").value.array_value.values.extend([AnyValue(int_value=1)] * 10_001)
    (found,) = decoded(span)
    assert 10_000 == len(found.attributes["a"])
    many = one()
    for number in range(10_001):
        many.attributes.add(key=str(number))
    (other,) = decoded(many)
    assert 10_000 == len(other.attributes)
    assert found.flags == other.flags == ("cut_values",)


@pytest.mark.parametrize(
    ("ids", "reason", "field"),
    [
        ({"trace_id": b""}, "missing_field", "trace_id"),
        ({"trace_id": bytes(16)}, "missing_field", "trace_id"),
        ({"span_id": b""}, "missing_field", "span_id"),
        ({"span_id": b"12345"}, "wrong_type", "span_id: 5 bytes, where an id has 8"),
        ({"trace_id": b"1" * 20}, "wrong_type", "trace_id"),
    ],
)
def test_span_without_ids_is_a_problem_and_its_neighbours_live(ids: dict[str, bytes], reason: str, field: str) -> None:
    """It can join no trace."""
    envelope = decode_otlp_proto(request(one(name="a"), one(**ids), one(name="b")).SerializeToString())
    assert ["a", "b"] == [span.name for span in envelope.spans]
    (problem,) = envelope.problems
    assert reason == problem.reason
    assert "span 2 of the message" in problem.detail
    assert field in problem.detail


def test_short_and_mistaken_ids_are_understood() -> None:
    """64-bit trace ids have leading zeros; hex that somebody parsed as base64 is hex again."""
    (short,) = decoded(one(trace_id=SPAN, start_time_unix_nano=1))
    assert "0000000000000000" + SPAN.hex() == short.trace_id
    taken_for_base64 = request_of("otlp_openinference.json")
    wrong = Parse(fixture("otlp_openinference.json"), ExportTraceServiceRequest())
    assert 24 == len(wrong.resource_spans[0].scope_spans[0].spans[0].trace_id)
    assert decode_otlp_proto(taken_for_base64.SerializeToString()) == decode_otlp_proto(wrong.SerializeToString())


def test_parent_that_is_no_id_does_not_make_a_root() -> None:
    """A root closes its trace; all zeros are no parent."""
    odd, root = decoded(one(parent_span_id=b"xyz"), one(parent_span_id=bytes(8)))
    assert "78797a" == odd.parent_id
    assert "" == root.parent_id


def test_impossible_times_are_flagged() -> None:
    """No clock of 64 bits gives them."""
    zero, (late) = decoded(one(), one(start_time_unix_nano=2**64 - 1, end_time_unix_nano=2**63 - 1))
    assert None is zero.start
    assert () == zero.flags
    assert None is late.start
    assert 2262 == (late.end.year if late.end else 0)
    assert ("bad_time",) == late.flags


BROKEN = b"Postage is 4 \xe2\x82"


def with_broken_text(value: bytes) -> bytes:
    """The same bytes with text that ends within a character."""
    return value.replace(b"BROKEN_TEXT_15!", BROKEN)


def test_text_cut_within_a_character_costs_nothing_else() -> None:
    """Collectors write text unchecked, and the strict parser refuses the whole batch for it."""
    broken = one(name="answer")
    broken.attributes.add(key="output.value").value.string_value = "BROKEN_TEXT_15!"
    value = with_broken_text(request(one(name="before"), broken, one(name="after")).SerializeToString())
    envelope = decode_otlp_proto(value)
    before, mended, after = envelope.spans
    assert () == envelope.problems
    assert {"output.value": "Postage is 4 �"} == mended.attributes
    assert [(), ("repaired_text",), ()] == [span.flags for span in envelope.spans]
    assert replace(before, name="after") == after


@pytest.mark.parametrize("place", ["resource", "scope"])
def test_broken_text_around_spans_is_mended(place: str) -> None:
    """All spans below it say so."""
    value = with_broken_text(request(one(), one(), **{place: "BROKEN_TEXT_15!"}).SerializeToString())
    envelope = decode_otlp_proto(value)
    assert [("repaired_text",)] * 2 == [span.flags for span in envelope.spans]
    assert "Postage is 4 �" in (envelope.spans[0].scope, envelope.spans[0].resource["service.name"])


def test_cut_message_gives_its_whole_spans() -> None:
    """The last span has no end; the ones before it do."""
    value = request(one(name="a"), one(name="b"), one(name="c" * 50)).SerializeToString()
    envelope = decode_otlp_proto(value[:-10])
    assert ["a", "b"] == [span.name for span in envelope.spans]
    assert ["truncated"] == [problem.reason for problem in envelope.problems]


@pytest.mark.parametrize("lost", range(1, 60))
def test_no_cut_goes_unnoticed(lost: int) -> None:
    """Wherever the message ends, what is whole is kept, and the message goes to the dead letter, too."""
    whole = ExportTraceServiceRequest()
    for name in ("a", "b"):
        whole.MergeFrom(request(one(name=name)))
    value = whole.SerializeToString()
    envelope = decode_otlp_proto(value[:-lost])
    assert ["a"] == [span.name for span in envelope.spans]
    is_group_gone = lost == len(value) // 2
    assert ([] if is_group_gone else ["truncated"]) == [problem.reason for problem in envelope.problems]


def test_only_model_calls_of_logs_become_spans() -> None:
    """The rest of a logs topic is counted; a model call without ids is a problem."""
    call = LogRecord(trace_id=TRACE, span_id=SPAN, event_name="gen_ai.choice", observed_time_unix_nano=10**18)
    call.severity_number = SeverityNumber.SEVERITY_NUMBER_ERROR
    call.body.kvlist_value.values.add(key="index").value.int_value = 0
    older = LogRecord(trace_id=TRACE, span_id=SPAN)
    older.attributes.add(key="event.name").value.string_value = "gen_ai.user.message"
    plain = LogRecord(trace_id=TRACE, span_id=SPAN)
    plain.body.string_value = "GET /parcels"
    envelope = decode_otlp_proto(logs(plain, call, LogRecord(event_name="gen_ai.choice"), older, plain))
    first, second = envelope.spans
    assert ("gen_ai.choice", {"index": 0}, True, True) == (first.name, first.body, first.is_log, first.is_error)
    assert (datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC), None) == (first.start, first.end)
    assert ("gen_ai.user.message", None) == (second.name, second.body)
    assert 2 == envelope.ignored
    assert ["missing_field"] == [problem.reason for problem in envelope.problems]


def test_spans_are_told_from_logs_by_their_fields() -> None:
    """No header names the signal; both share the outer shape."""
    assert Signal.TRACES is signal_of(request(one()).SerializeToString())
    assert Signal.TRACES is signal_of(request(Span(start_time_unix_nano=1)).SerializeToString())
    assert Signal.LOGS is signal_of(logs(LogRecord(time_unix_nano=1)))
    assert Signal.LOGS is signal_of(
        logs(LogRecord(trace_id=TRACE, severity_number=SeverityNumber.SEVERITY_NUMBER_INFO))
    )
    assert None is signal_of(request().SerializeToString())
    broken = request(one()).SerializeToString()[:-1]
    assert Signal.TRACES is signal_of(broken)


def test_metrics_are_no_traces() -> None:
    """They share the outer shape, too."""
    found = ExportMetricsServiceRequest()
    metric = found.resource_metrics.add().scope_metrics.add().metrics.add(name="http.duration", unit="s")
    metric.sum.data_points.add(as_int=1, time_unix_nano=5)
    with pytest.raises(InvalidMessage, match="not_otlp"):
        decode_otlp_proto(found.SerializeToString())


@pytest.mark.parametrize("value", [b"{}", b"\0\0\0\0\1", b"\x0a", b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"])
@pytest.mark.parametrize("signal", [None, *Signal])
def test_other_bytes_are_a_dead_letter(value: bytes, signal: Signal | None) -> None:
    """Whatever the topic's setting says."""
    with pytest.raises(InvalidMessage, match="not_otlp"):
        decode_otlp_proto(value, signal)


def test_empty_request_holds_nothing() -> None:
    """An exporter may send one."""
    assert () == decode_otlp_proto(b"").spans
    assert () == decode_otlp_proto(request().SerializeToString(), Signal.TRACES).spans


def test_spans_and_problems_of_a_message_have_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is beyond them is said, not read."""
    monkeypatch.setattr(otlp_values, "MAX_SPANS", 3)
    envelope = decode_otlp_proto(request(*[one()] * 5).SerializeToString())
    assert 3 == len(envelope.spans)
    assert ["too_many_spans"] == [problem.reason for problem in envelope.problems]
    monkeypatch.setattr(otlp_values, "MAX_SPANS", 1000)
    envelope = decode_otlp_proto(request(one(), *[Span(start_time_unix_nano=1)] * 150).SerializeToString())
    assert 101 == len(envelope.problems)
    assert "50 more" in envelope.problems[-1].detail
