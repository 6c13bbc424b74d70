"""OTLP/JSON: the rules of the specification, and what producers do instead."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.errors import InvalidMessage
from streams.sources.envelopes.otlp_json import decode_otlp_json
from streams.sources.raw import RawSpan
from tests.unit.sources.otlp_messages import (
    ROOT_ID,
    TRACE_ID,
    attribute,
    fixture,
    json_of,
    request_of,
    span,
    spans_request,
)


def one(**fields: Any) -> RawSpan:
    """The only span of a message, which must have no problem."""
    envelope = decode_otlp_json(spans_request(span(**fields)))
    assert () == envelope.problems
    return envelope.spans[0]


def value(**content: Any) -> Any:
    """One attribute's value after decoding."""
    return one(attributes=[attribute("k", **content)]).attributes["k"]


@pytest.mark.parametrize("name", ["otlp_openinference.json", "otlp_genai_1_36_logs.json"])
@pytest.mark.parametrize("snake_case", [False, True])
@pytest.mark.parametrize("enum_numbers", [False, True])
def test_names_and_enumerations_are_read_in_both_spellings(name: str, *, snake_case: bool, enum_numbers: bool) -> None:
    """Protobuf printers can be set to either."""
    document = json_of(request_of(name), snake_case=snake_case, enum_numbers=enum_numbers)
    assert decode_otlp_json(fixture(name)) == decode_otlp_json(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"intValue": "212"}, 212),
        ({"intValue": 212}, 212),
        ({"intValue": 212.0}, 212),
        ({"intValue": "-9223372036854775808"}, -(2**63)),
        ({"intValue": True}, None),
        ({"intValue": "many"}, None),
        ({"doubleValue": 1}, 1.0),
        ({"doubleValue": "0.25"}, 0.25),
        ({"doubleValue": "NaN"}, None),
        ({"doubleValue": "-Infinity"}, None),
        ({"doubleValue": 10**400}, None),
        ({"boolValue": False}, False),
        ({"boolValue": "false"}, None),
        ({"stringValue": ""}, ""),
        ({"stringValue": 5}, None),
        ({"stringValue": None}, None),
        ({"bytesValue": "__4"}, "//4="),
        ({"bytesValue": "!"}, None),
        ({"arrayValue": {}}, []),
        ({"arrayValue": []}, None),
        ({"arrayValue": {"values": [{"intValue": 1}, {}, 7]}}, [1, None, None]),
        ({"kvlistValue": {"values": [attribute("a", intValue=1), 5, {"value": {}}]}}, {"a": 1, "": None}),
        ({"string_value": "x"}, "x"),
        ({"unheardOf": 1}, None),
        ({}, None),
    ],
)
def test_values(content: dict[str, Any], expected: Any) -> None:
    """What is not of the kind that its name promises is None."""
    assert expected == value(**content)
    assert type(expected) is type(value(**content))


@pytest.mark.parametrize("number", [2**63, "9223372036854775808", -(2**63) - 1])
def test_whole_numbers_beyond_64_bits_are_flagged(number: int | str) -> None:
    """The store could not hold them."""
    found = one(attributes=[attribute("k", intValue=number)])
    assert {"k": None} == found.attributes
    assert ("bad_number",) == found.flags


def test_literals_that_are_not_json_are_none() -> None:
    """Python's json module writes NaN and Infinity as they are."""
    text = spans_request(span(attributes=[attribute("k", doubleValue=1.25), attribute("m", doubleValue=2.25)]))
    (found,) = decode_otlp_json(text.replace(b"1.25", b"NaN").replace(b"2.25", b"-Infinity")).spans
    assert {"k": None, "m": None} == found.attributes


@pytest.mark.parametrize(
    ("trace_id", "span_id"),
    [
        (TRACE_ID, ROOT_ID),
        (TRACE_ID.upper(), ROOT_ID.upper()),
        ("0x" + TRACE_ID, "0x" + ROOT_ID),
        ("PH8qkNThS2+KUcCed7LWEw==", "ofDD0uS1loc="),
        ("PH8qkNThS2-KUcCed7LWEw", "ofDD0uS1loc"),
    ],
)
def test_ids_are_read_in_hex_of_any_case_and_in_base64(trace_id: str, span_id: str) -> None:
    """The specification says hex, a generic protobuf printer writes base64."""
    found = one(traceId=trace_id, spanId=span_id)
    assert (TRACE_ID, ROOT_ID) == (found.trace_id, found.span_id)


def test_short_trace_ids_have_leading_zeros() -> None:
    """64-bit ids of older tracers."""
    assert "0" * 16 + ROOT_ID == one(traceId=ROOT_ID).trace_id


@pytest.mark.parametrize(
    ("ids", "reason"),
    [
        ({"traceId": None}, "missing_field"),
        ({"traceId": "0" * 32}, "missing_field"),
        ({"spanId": ""}, "missing_field"),
        ({"spanId": 7}, "wrong_type"),
        ({"spanId": "no id"}, "wrong_type"),
        ({"traceId": TRACE_ID + "00"}, "wrong_type"),
    ],
)
def test_span_without_ids_is_a_problem_and_its_neighbours_live(ids: dict[str, Any], reason: str) -> None:
    """It can join no trace."""
    envelope = decode_otlp_json(spans_request(span(name="a"), span(**ids), span(name="b")))
    assert ["a", "b"] == [span.name for span in envelope.spans]
    assert [reason] == [problem.reason for problem in envelope.problems]
    assert "span 2 of the message" in envelope.problems[0].detail


def test_times_are_text_or_numbers() -> None:
    """Nanoseconds do not fit a JSON number of most writers, so they should be text."""
    moment = datetime(2026, 5, 14, 8, tzinfo=UTC)
    found = one(startTimeUnixNano="1778745600000000000", endTimeUnixNano=1778745600000000000)
    assert (moment, moment, ()) == (found.start, found.end, found.flags)
    assert None is one(startTimeUnixNano="0").start


@pytest.mark.parametrize("time", [2**63, "1" * 30, -5])
def test_impossible_times_are_flagged(time: int | str) -> None:
    """They are None."""
    found = one(startTimeUnixNano=time)
    assert (None, ("bad_time",)) == (found.start, found.flags)


def test_wrong_types_anywhere_leave_a_span_without_that_part() -> None:
    """A span with ids is kept, whatever else it holds."""
    found = one(name=5, attributes={}, events=[7, {"name": []}], status="bad", startTimeUnixNano=[], parentSpanId=8)
    assert ("", {}, False, None) == (found.name, found.attributes, found.is_error, found.start)
    assert 1 == len(found.events)
    assert "8" == found.parent_id


@pytest.mark.parametrize("code", [2, "2", "STATUS_CODE_ERROR"])
def test_errors_are_seen_in_all_spellings(code: int | str) -> None:
    """Enumerations are numbers by the specification, names by many printers."""
    assert one(status={"code": code}).is_error
    assert not one(status={"code": 1}).is_error


def test_groups_that_are_no_objects_cost_no_neighbour() -> None:
    """Neither does a resource that is none."""
    document = json.loads(spans_request(span()))
    document["resourceSpans"] = [5, {"scopeSpans": [None, *document["resourceSpans"][0]["scopeSpans"]], "resource": 1}]
    envelope = decode_otlp_json(json.dumps(document).encode())
    assert 1 == len(envelope.spans)
    assert ["wrong_type"] * 2 == [problem.reason for problem in envelope.problems]


def test_spans_and_logs_may_share_a_message() -> None:
    """Nobody writes that, and nothing is lost when somebody does."""
    document = {**json.loads(fixture("otlp_openinference.json")), **json.loads(fixture("otlp_genai_1_36_logs.json"))}
    assert [False] * 3 + [True] * 3 == [span.is_log for span in decode_otlp_json(json.dumps(document).encode()).spans]


def test_lone_surrogates_and_broken_bytes_are_mended_span_by_span() -> None:
    """Only the span that had them is flagged."""
    text = spans_request(span(name="a"), span(name="SURROGATE"), span(name="BYTES"), **{"service.name": "shop"})
    envelope = decode_otlp_json(text.replace(b"SURROGATE", b"x\\ud83d").replace(b"BYTES", b"y\xe2\x82"))
    assert ["a", "x�", "y��"] == [span.name for span in envelope.spans]
    assert [(), ("repaired_text",), ("repaired_text",)] == [span.flags for span in envelope.spans]
    assert {"service.name": "shop"} == envelope.spans[2].resource


def test_broken_resource_flags_all_its_spans() -> None:
    """Their attributes hold the mended text, too."""
    text = spans_request(span(), **{"service.name": "SURROGATE"}).replace(b"SURROGATE", b"\\udfff")
    (found,) = decode_otlp_json(text).spans
    assert {"service.name": "�"} == found.resource
    assert ("repaired_text",) == found.flags


def test_span_that_is_too_deep_costs_no_neighbour() -> None:
    """300 lists within one another."""
    deep = json.loads("[" * 300 + "]" * 300)
    envelope = decode_otlp_json(spans_request(span(name="a"), span(x=deep), span(name="b")))
    assert ["a", "b"] == [span.name for span in envelope.spans]
    assert ["too_deep"] == [problem.reason for problem in envelope.problems]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "not_json"),
        (b"\xff", "not_json"),
        (b'{"resourceSpans": [', "not_json"),
        (b"[" * 100_000, "too_deep"),
        (b"[]", "not_otlp"),
        (b"{}", "not_otlp"),
        (b'{"resourceMetrics": []}', "not_otlp"),
    ],
)
def test_other_json_is_a_dead_letter(text: bytes, reason: str) -> None:
    """With a reason that tells what it is."""
    with pytest.raises(InvalidMessage) as caught:
        decode_otlp_json(text)
    assert reason == caught.value.reason


def test_empty_request_holds_nothing() -> None:
    """An exporter may send one."""
    assert () == decode_otlp_json(b'{"resourceSpans": []}').spans


def test_logs_of_no_model_call_are_counted() -> None:
    """They are most of a logs topic."""
    document = json.loads(fixture("otlp_genai_1_37_logs.json"))
    records = document["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    records += [{"body": {"stringValue": "GET /parcels"}, "traceId": TRACE_ID}] * 3
    envelope = decode_otlp_json(json.dumps(document).encode())
    assert (1, 3, ()) == (len(envelope.spans), envelope.ignored, envelope.problems)
