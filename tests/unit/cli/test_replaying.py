"""What a replay sends, and when."""

import json
from datetime import datetime, timedelta

import pytest

from schemas.errors import ConfigError
from streams.cli.replaying import (
    KEEP_TIME_HEADER,
    Recorded,
    Stamp,
    due_as_recorded,
    due_at_rate,
    headers,
    message,
    understand,
)


def line(**fields: object) -> Recorded:
    """A recorded JSON object."""
    return understand(json.dumps(fields).encode())


@pytest.mark.parametrize("content", [b"not json", b"[1]", b"\xff\xfe", b'"x"', b"[" * 100_000])
def test_what_is_no_object_is_sent_as_it_is(content: bytes, now: datetime) -> None:
    """Bad input takes the way that it would have taken in production."""
    recorded = understand(content)
    assert recorded.fields is None
    assert (None, content) == message(recorded, Stamp(), now)


def test_event_time_becomes_the_time_of_sending(now: datetime) -> None:
    """Old data would otherwise be late."""
    _, value = message(line(trace_id="t", ts="2020-01-01T00:00:00Z"), Stamp(), now)
    assert now.isoformat() == json.loads(value)["ts"]


def test_kept_time_leaves_the_bytes_alone(now: datetime) -> None:
    """Recorded history goes through unchanged, with a header that says so."""
    content = b'{"trace_id": "t",  "ts": "2020-01-01T00:00:00Z", "x": NaN}'
    assert (b"t", content) == message(understand(content), Stamp(keeps_time=True), now)
    assert [(KEEP_TIME_HEADER, b"1")] == headers(Stamp(keeps_time=True))


def test_key_is_the_trace_id_with_its_suffix(now: datetime) -> None:
    """A second replay under new ids is no duplicate."""
    key, value = message(line(trace_id="t"), Stamp(id_suffix="-2"), now)
    assert (b"t-2", "t-2") == (key, json.loads(value)["trace_id"])


@pytest.mark.parametrize("trace_id", [None, 5, ["t"]])
def test_odd_trace_id_gives_no_key(trace_id: object, now: datetime) -> None:
    """The pipeline refuses it later; the replay does not."""
    assert message(line(trace_id=trace_id), Stamp(id_suffix="-2"), now)[0] is None


def test_lone_surrogate_survives(now: datetime) -> None:
    """A replay must not repair what the pipeline should see."""
    recorded = understand(b'{"trace_id": "\\ud800"}')
    key, value = message(recorded, Stamp(), now)
    assert (b"?", True) == (key, b"\\ud800" in value)


def test_rate_spaces_lines_evenly() -> None:
    """At four a second a line is due every quarter second."""
    assert [0.0, 0.25, 0.5] == [due for due, _ in due_at_rate([line(), line(), line()], 4)]


def test_rate_zero_means_at_once() -> None:
    """As fast as the broker takes them."""
    assert [0.0, 0.0] == [due for due, _ in due_at_rate([line(), line()], 0)]


def test_recorded_pace_follows_event_times(now: datetime) -> None:
    """Ten times faster; a line that jumps back and one without a time go at once."""
    moments = [now, now + timedelta(seconds=20), now + timedelta(seconds=10), None, now + timedelta(seconds=30)]
    lines = [line(ts=moment.isoformat()) if moment else line() for moment in moments]
    assert [0.0, 2.0, 2.0, 2.0, 3.0] == [due for due, _ in due_as_recorded(lines, 10)]


def test_recorded_pace_needs_a_first_time() -> None:
    """Nothing to pace by is said at the start, not after an hour."""
    with pytest.raises(ConfigError, match="--rate"):
        list(due_as_recorded([line(ts="yesterday")], 1))
