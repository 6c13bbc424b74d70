"""Jaeger's spans in all its forms."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict

from schemas.errors import InvalidMessage
from streams.sources.envelopes.jaeger import decode_jaeger_json
from streams.sources.envelopes.jaeger_proto import _span_class, decode_jaeger_proto
from streams.sources.envelopes.otlp_json import decode_otlp_json
from streams.sources.raw import RawEvent, RawSpan
from tests.unit.sources.otlp_messages import ROOT_ID, TRACE_ID, fixture

IDS = {"traceId": "PH8qkNThS2+KUcCed7LWEw==", "spanId": "ofDD0uS1loc="}
_TYPES = {"STRING": 0, "BOOL": 1, "INT64": 2, "FLOAT64": 3, "BINARY": 4}


def lines() -> list[bytes]:
    """The messages of the fixture."""
    return fixture("jaeger_openinference.jsonl").splitlines()


def one(**fields: Any) -> RawSpan:
    """The span of a message in the Kafka form, which must have no problem."""
    envelope = decode_jaeger_json(json.dumps({**IDS, **fields}).encode())
    assert () == envelope.problems
    return envelope.spans[0]


def queried(**fields: Any) -> RawSpan:
    """The span of an answer of the query API, which must have no problem."""
    span = {"traceID": TRACE_ID, "spanID": ROOT_ID, "operationName": "answer", **fields}
    envelope = decode_jaeger_json(json.dumps(span).encode())
    assert () == envelope.problems
    return envelope.spans[0]


def proto(message: bytes) -> bytes:
    """A message of the Kafka form as protobuf."""
    document = json.loads(message)
    for tag in document["tags"] + document["process"]["tags"]:
        tag["vType"] = _TYPES[tag.get("vType", "STRING")]
    return ParseDict(document, _span_class()()).SerializeToString()


def test_all_forms_give_the_spans_that_otlp_gives() -> None:
    """Jaeger adds tags of its own, and nothing else differs."""
    by_line = tuple(decode_jaeger_json(line).spans[0] for line in lines())
    assert by_line == decode_jaeger_json(fixture("jaeger_query_openinference.json")).spans
    assert by_line == tuple(decode_jaeger_proto(proto(line)).spans[0] for line in lines())
    own = {"otel.scope.name"}
    bare = [
        replace(span, attributes={key: text for key, text in span.attributes.items() if key not in own})
        for span in by_line
    ]
    assert list(decode_otlp_json(fixture("otlp_openinference.json")).spans) == bare


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ({"vStr": "x"}, "x"),
        ({}, ""),
        ({"vType": "BOOL", "vBool": True}, True),
        ({"vType": "BOOL"}, False),
        ({"vType": "INT64", "vInt64": "-7"}, -7),
        ({"vType": "INT64"}, 0),
        ({"vType": "FLOAT64", "vFloat64": 0.5}, 0.5),
        ({"vType": "FLOAT64", "vFloat64": "NaN"}, None),
        ({"vType": 4, "vBinary": "/w=="}, "/w=="),
        ({"vType": "LIST"}, None),
        ({"type": "string", "value": "x"}, "x"),
        ({"type": "bool", "value": "true"}, True),
        ({"type": "int64", "value": "12"}, 12),
        ({"type": "float64", "value": 1}, 1.0),
        ({"type": "binary", "value": "!"}, None),
        ({"type": "string", "value": {}}, None),
    ],
)
def test_tags(tag: dict[str, Any], expected: Any) -> None:
    """The Kafka form leaves out the type of text, and values that are zero, false or empty."""
    found = one(tags=[{"key": "k", **tag}, 5, {"vStr": "no key"}]).attributes
    assert {"k": expected} == found
    assert type(expected) is type(found["k"])


def test_times_and_durations_of_both_forms() -> None:
    """Text with nanoseconds, and microseconds."""
    start = datetime(2026, 5, 14, 8, 0, 0, 10_000, tzinfo=UTC)
    kafka = one(startTime="2026-05-14T08:00:00.010000999Z", duration="0.040000999s")
    query = queried(startTime=1_778_745_600_010_000, duration=40_000)
    for found in (kafka, query):
        assert (start, start.replace(microsecond=50_000), ()) == (found.start, found.end, found.flags)
    at_once = one(startTime="2026-05-14T08:00:00.010Z")
    assert at_once.start == at_once.end == start


@pytest.mark.parametrize(
    "fields",
    [
        {"startTime": "yesterday"},
        {"startTime": -5},
        {"startTime": "2026-05-14T08:00:00Z", "duration": "long"},
        {"startTime": "2026-05-14T08:00:00Z", "duration": "999999999999s"},
        {"startTime": "2026-05-14T08:00:00Z", "duration": -1},
    ],
)
def test_impossible_times_are_flagged(fields: dict[str, Any]) -> None:
    """The span is kept without an end."""
    found = one(**fields)
    assert None is found.end
    assert ("bad_time",) == found.flags


def test_parent_is_the_span_that_this_one_is_a_child_of() -> None:
    """Before the one that it follows, and never one of another trace."""
    follows = {"refType": "FOLLOWS_FROM", **IDS}
    child = {**IDS, "spanId": "AAAAAAAAAAE="}
    other = {"traceId": "AAAAAAAAAAAAAAAAAAAAAQ==", "spanId": "AAAAAAAAAAI="}
    assert "0000000000000001" == one(references=[other, follows, child]).parent_id
    assert ROOT_ID == one(references=[other, follows]).parent_id
    assert "" == one(references=[other]).parent_id
    assert "" == one().parent_id


def test_query_api_leaves_out_leading_zeros() -> None:
    """Of trace ids and of span ids."""
    found = queried(traceID="1f", spanID="2e", references=[{"refType": "CHILD_OF", "traceID": "1f", "spanID": "3"}])
    assert ("1f".zfill(32), "2e".zfill(16), "3".zfill(16)) == (found.trace_id, found.span_id, found.parent_id)


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ({"key": "error", "vType": "BOOL", "vBool": True}, True),
        ({"key": "error", "vStr": "true"}, True),
        ({"key": "otel.status_code", "vStr": "ERROR"}, True),
        ({"key": "error", "vType": "BOOL"}, False),
        ({"key": "otel.status_code", "vStr": "OK"}, False),
    ],
)
def test_errors_are_in_tags(tag: dict[str, Any], *, expected: bool) -> None:
    """Jaeger has no status of its own."""
    assert expected is one(tags=[tag]).is_error


def test_logs_become_events() -> None:
    """The name of an event is the field that is called so."""
    fields = [{"key": "event", "vStr": "gen_ai.choice"}, {"key": "index", "vType": "INT64", "vInt64": "1"}]
    found = one(logs=[{"timestamp": "2026-05-14T08:00:00Z", "fields": fields}, 7])
    assert (RawEvent("gen_ai.choice", datetime(2026, 5, 14, 8, tzinfo=UTC), {"index": 1}),) == found.events


def test_process_becomes_the_resource() -> None:
    """Under the name that OpenTelemetry has for it."""
    process = {"serviceName": "shop", "tags": [{"key": "region", "vStr": "eu"}]}
    assert {"service.name": "shop", "region": "eu"} == one(process=process).resource


def test_bad_spans_of_an_answer_cost_no_neighbour() -> None:
    """Traces that are none do not, either."""
    document = json.loads(fixture("jaeger_query_openinference.json"))
    document["data"][0]["spans"][1:1] = [5, {"spanID": "1"}]
    document["data"][:0] = [None, {"spans": {}}]
    envelope = decode_jaeger_json(json.dumps(document).encode())
    assert 3 == len(envelope.spans)
    assert ["wrong_type", "missing_field", "wrong_type", "missing_field"] == [p.reason for p in envelope.problems]


def test_broken_text_is_mended_span_by_span() -> None:
    """Only the span that had it is flagged."""
    text = fixture("jaeger_query_openinference.json").replace(
        b'"operationName": "retriever"', b'"operationName": "\\ud800"'
    )
    envelope = decode_jaeger_json(text)
    assert [(), ("repaired_text",), ()] == [span.flags for span in envelope.spans]
    assert "�" == envelope.spans[1].name


@pytest.mark.parametrize("value", [b"{}", b"[]", b'{"data": {}}', b"5"])
def test_other_json_is_a_dead_letter(value: bytes) -> None:
    """It has no span anywhere."""
    with pytest.raises(InvalidMessage, match="not_jaeger"):
        decode_jaeger_json(value)


def test_other_protobuf_is_a_dead_letter() -> None:
    """A span without ids is a problem."""
    with pytest.raises(InvalidMessage, match="not_protobuf"):
        decode_jaeger_proto(b"\xff\xff")
    assert ["missing_field"] == [problem.reason for problem in decode_jaeger_proto(b"").problems]
