"""Faust's events to messages, whatever a producer put around the value."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from streams.agents.batches import in_parts
from streams.messages import Message, from_events, from_record
from tests.builders import NOW

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def event(**fields: Any) -> SimpleNamespace:
    """An event as Faust gives it."""
    plain = {"topic": "t", "partition": 0, "offset": 1, "key": None, "value": b"", "headers": None, "timestamp": 0.0}
    return SimpleNamespace(message=SimpleNamespace(**{**plain, **fields}))


@pytest.mark.parametrize("seconds", [None, -0.001, -9e12, 9.2e15, float("nan")])
def test_a_record_time_that_is_none_is_1970(seconds: float | None) -> None:
    """It is a 64-bit number of the producer's choice, and most of them are no date."""
    assert [EPOCH] == [message.recorded_at for message in from_events([event(timestamp=seconds)])]


@pytest.mark.parametrize(
    ("milliseconds", "moment"),
    [
        (None, EPOCH),
        (-1, EPOCH),
        (2**63 - 1, EPOCH),
        (1_700_000_000_123, datetime(2023, 11, 14, 22, 13, 20, 123_000, UTC)),
    ],
)
def test_a_record_of_the_client_is_read_like_an_event(milliseconds: int | None, moment: datetime) -> None:
    """Its time is in milliseconds, and as often no date."""
    record = event(timestamp=milliseconds, headers=(("a", None),)).message
    assert Message("t", 0, 1, None, b"", (("a", b""),), moment) == from_record(record)


def test_headers_without_a_value_are_empty() -> None:
    """Null is allowed there, and names may repeat."""
    headers = [("a", None), ("a", b"\xff")]
    assert (("a", b""), ("a", b"\xff")) == from_events([event(headers=headers)])[0].headers


def test_a_batch_is_cut_by_bytes_and_keeps_its_order() -> None:
    """Two hundred messages of 16 MB at once would not fit into memory."""
    sizes = [3, 3, 9, 50, 1, 1, 0]
    messages = [Message("t", 0, n, None, b"x" * size, (), NOW) for n, size in enumerate(sizes)]
    assert [[0, 1], [2], [3], [4, 5, 6]] == [[m.offset for m in part] for part in in_parts(messages, 10)]
    assert [] == in_parts([], 10)
