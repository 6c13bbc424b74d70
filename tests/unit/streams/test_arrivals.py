"""Duplicates, redeliveries and expired traces of a batch."""

from datetime import timedelta

from schemas.trace import Trace
from streams.agents.arrivals import Arrival, content_hash, settle, split_expired
from streams.messages import Message
from streams.store import TraceHead
from tests.builders import NOW, trace


def arrival(trace_id: str = "t-1", value: bytes = b"{}", offset: int = 0, **fields: object) -> Arrival:
    """An arrival whose message holds ``value``."""
    made: Trace = trace(trace_id, **fields)
    message = Message("traces", 0, offset, None, value, (), NOW)
    return Arrival(message, made, content_hash(value))


def head(trace_id: str = "t-1", value: bytes = b"{}", **fields: object) -> TraceHead:
    """What the store knows of an id."""
    known = {
        "ts": NOW - timedelta(hours=1),
        "stratum": "low_score",
        "inclusion_probability": 0.5,
        "policy_id": "p1",
        **fields,
    }
    return TraceHead(trace_id=trace_id, content_hash=content_hash(value), **known)


def test_a_new_trace_has_no_head() -> None:
    """Nothing is known of an id that was never stored."""
    settled, letters = settle([arrival()], {})
    assert [None] == [one.head for one in settled]
    assert [] == letters


def test_a_redelivery_keeps_the_stored_event_time() -> None:
    """The same bytes again must land in the same bucket."""
    settled, letters = settle([arrival()], {"t-1": head()})
    assert [NOW - timedelta(hours=1)] == [one.trace.ts for one in settled]
    assert [] == letters


def test_the_same_bytes_twice_in_a_batch_are_one_trace() -> None:
    """A producer's retry inside one batch counts once."""
    settled, letters = settle([arrival(), arrival(offset=1)], {})
    assert 1 == len(settled)
    assert [] == letters


def test_other_bytes_under_a_stored_id_go_to_the_dead_letter() -> None:
    """The first trace stays as it was judged; the second is not lost in silence."""
    settled, letters = settle([arrival(value=b"other", offset=5)], {"t-1": head()})
    assert [] == settled
    assert [("duplicate_id", 5)] == [(letter.reason, letter.message.offset) for letter in letters]


def test_other_bytes_under_an_id_of_the_same_batch_go_to_the_dead_letter() -> None:
    """Order within the batch decides which one is first."""
    settled, letters = settle([arrival(), arrival(value=b"other", offset=1)], {})
    assert [0] == [one.message.offset for one in settled]
    assert [1] == [letter.message.offset for letter in letters]


def test_a_trace_older_than_retention_is_only_counted() -> None:
    """The store drops such rows at insert, so a row would be lost in silence."""
    old = arrival("old", ts=NOW - timedelta(days=91))
    kept, expired = split_expired([arrival(), old], NOW - timedelta(days=90))
    assert ["t-1"] == [one.trace.trace_id for one in kept]
    assert ["old"] == [one.trace_id for one in expired]
