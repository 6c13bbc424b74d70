"""What a value looks like."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.sources.envelopes.jaeger_proto import _span_class
from streams.sources.sniffing import Encoding, shape_of, sniff
from streams.sources.wire import Framed, unwrap
from tests.unit.sources.otlp_messages import fixture, otlp_fixtures, request_of


@pytest.mark.parametrize("name", otlp_fixtures())
def test_otlp_is_known_in_both_encodings(name: str) -> None:
    """Spans from logs, too, where the text says it."""
    expected = Encoding.OTLP_JSON_LOGS if "_logs" in name else Encoding.OTLP_JSON_TRACES
    assert expected is sniff(fixture(name))
    assert Encoding.OTLP_PROTO is sniff(request_of(name).SerializeToString())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("jaeger_openinference.jsonl", Encoding.JAEGER_JSON),
        ("jaeger_query_openinference.json", Encoding.JAEGER_JSON),
        ("langchain_events.jsonl", Encoding.LANGCHAIN),
        ("langfuse_batch.json", Encoding.LANGFUSE),
        ("langfuse_export.json", Encoding.LANGFUSE),
        ("langsmith_batch.json", Encoding.LANGSMITH),
        ("langsmith_runs.json", Encoding.LANGSMITH),
        ("llamaindex_events.jsonl", Encoding.LLAMAINDEX),
        ("mlflow_trace_v2.json", Encoding.MLFLOW),
        ("mlflow_trace_v3.json", Encoding.MLFLOW),
        ("native.json", Encoding.NATIVE_JSON),
    ],
)
def test_every_format_is_known_by_its_shape(name: str, expected: Encoding) -> None:
    """Each line of the files with lines is a message."""
    messages = fixture(name).splitlines() if name.endswith("l") else [fixture(name)]
    assert {expected} == {sniff(message) for message in messages}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"question": "?"}, Encoding.OTHER_JSON),
        ([], Encoding.OTHER_JSON),
        ([1], Encoding.OTHER_JSON),
        ([{"run_type": "llm", "id": "1"}], Encoding.LANGSMITH),
        ([{"trace_id": "1", "ts": "2026-05-14T08:00:00Z"}], Encoding.OTHER_JSON),
        ({"type": "span-update", "body": {}, "timestamp": ""}, Encoding.LANGFUSE),
        ({"post": [], "patch": [{"dotted_order": "x"}]}, Encoding.LANGSMITH),
        ("text", Encoding.UNKNOWN),
    ],
)
def test_documents(document: Any, expected: Encoding) -> None:
    """Single events and lists of them; other JSON is for mapping rules."""
    assert expected is shape_of(document)


def test_jaeger_protobuf_is_known() -> None:
    """By two ids at its beginning."""
    span = _span_class()(trace_id=b"1" * 16, span_id=b"2" * 8, operation_name="x")
    assert Encoding.JAEGER_PROTO is sniff(span.SerializeToString())


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (b"\0\x0a\x01x", Encoding.PROTOBUF_CONFLUENT),
        (b"\x06abc\x02", Encoding.AVRO_CONFLUENT),
        (b"\0\x0a\x09x", Encoding.AVRO_CONFLUENT),
        (b"", Encoding.AVRO_CONFLUENT),
        (b'{"a": 1}', Encoding.JSON_CONFLUENT),
        (b"{not json", Encoding.AVRO_CONFLUENT),
    ],
)
def test_frames_are_a_guess(payload: bytes, expected: Encoding) -> None:
    """Only the registry knows."""
    assert expected is sniff(Framed(1, payload))


@pytest.mark.parametrize("value", [b"", b"hello", b"\xff\xfe", b"{", b"\x0a\x05hello", b"\0", b"12", b'"x"'])
def test_what_nobody_reads_is_unknown(value: bytes) -> None:
    """Text, halves, foreign protobuf."""
    assert Encoding.UNKNOWN is sniff(value)


@given(
    st.binary(max_size=200)
    | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(json.dumps).map(str.encode)
)
def test_sniffing_never_raises(value: bytes) -> None:
    """Whatever comes."""
    assert isinstance(sniff(value), Encoding)
    assert isinstance(sniff(Framed(0, value)), Encoding)


def test_json_behind_a_byte_order_mark_is_json() -> None:
    """After unwrapping, as everywhere."""
    assert Encoding.NATIVE_JSON is sniff(unwrap(b"\xef\xbb\xbf" + fixture("native.json"), 10_000))
