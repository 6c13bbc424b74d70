"""Decoding of native JSON messages."""

import json
from datetime import timedelta

import pytest

from schemas.errors import InvalidMessage
from streams.messages import Message
from streams.sources.native import decode_native
from tests.builders import NOW

GOOD = {"trace_id": "t-1", "ts": NOW.isoformat(), "question": "How long?", "answer": "30 days [a].", "passages": []}


def message(value: bytes | None, **fields: object) -> Message:
    """A message at offset 7 recorded at ``NOW``."""
    plain = {"topic": "traces", "partition": 0, "offset": 7, "key": None, "headers": (), "recorded_at": NOW}
    return Message(**{**plain, **fields, "value": value})  # type: ignore[arg-type]


def encoded(**fields: object) -> bytes:
    """A good trace with fields overridden."""
    return json.dumps({**GOOD, **fields}).encode()


def test_a_good_trace_carries_its_position() -> None:
    """The source position comes from the message."""
    trace = decode_native(message(encoded()))
    assert trace.source is not None
    assert ("traces", 0, 7) == (trace.source.topic, trace.source.partition, trace.source.offset)


@pytest.mark.parametrize(
    ("value", "reason", "named"),
    [
        (None, "tombstone", "null"),
        (b"", "not_json", "message"),
        (b"not json", "not_json", "message"),
        (b"\xff\xfe{", "not_utf8", "message"),
        (b"\x00\x00\x00\x00\x01avro", "not_json", "message"),
        (b"[1, 2]", "wrong_type", "message"),
        (b'{"trace_id": "t"}', "missing_field", "ts"),
        (encoded(trace_id=""), "wrong_type", "trace_id"),
        (encoded(answer=17), "wrong_type", "answer"),
        (encoded(passages="none"), "wrong_type", "passages"),
        (encoded(passages=[{"doc_id": "a"}]), "missing_field", "passages.0.text"),
        (encoded(ts="yesterday"), "wrong_type", "ts"),
        (encoded(ts="2026-03-10T12:00:00"), "wrong_type", "ts"),
        (encoded(tier="extreme"), "wrong_type", "tier"),
        (encoded()[:-5], "not_json", "message"),
    ],
)
def test_a_bad_message_is_invalid_and_the_field_is_named(value: bytes | None, reason: str, named: str) -> None:
    """Every kind of bad message has a constant reason and a detail that names the place."""
    with pytest.raises(InvalidMessage) as caught:
        decode_native(message(value))
    assert reason == caught.value.reason
    assert named in caught.value.detail


def test_the_detail_never_repeats_the_input() -> None:
    """User text must not reach headers and logs."""
    with pytest.raises(InvalidMessage) as caught:
        decode_native(message(encoded(tier="secret words of a user")))
    assert "secret" not in caught.value.detail


def test_unknown_fields_are_ignored() -> None:
    """A newer producer does not break an older reader."""
    assert "t-1" == decode_native(message(encoded(brand_new={"a": [1]}))).trace_id


def test_a_lone_surrogate_becomes_a_replacement_character() -> None:
    """Strict JSON parsers refuse it; the rest of the trace is worth keeping."""
    trace = decode_native(message(encoded(answer="PLACE 30 days").replace(b"PLACE", rb"\ud83d")))
    assert trace.answer == "\ufffd 30 days"


def test_a_clock_ahead_gets_the_record_time_and_a_flag() -> None:
    """A producer from the future must not move watermarks."""
    trace = decode_native(message(encoded(ts=(NOW + timedelta(hours=1)).isoformat())))
    assert NOW == trace.ts
    assert ("clock_ahead",) == trace.flags


def test_five_minutes_ahead_are_tolerated() -> None:
    """Clocks differ a little everywhere."""
    ahead = NOW + timedelta(minutes=5)
    assert ahead == decode_native(message(encoded(ts=ahead.isoformat()))).ts
