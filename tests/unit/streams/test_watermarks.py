"""How far a partition has been read."""

from datetime import datetime, timedelta

from streams.agents.watermarks import NOTHING_READ, Watermarks
from streams.messages import Message
from streams.store import Watermark
from tests.builders import NOW

KEY = ("traces", 0)
OLD = NOW - timedelta(days=3)


def stored(marks: Watermarks, offset: int, ts: datetime | None) -> None:
    """One message of the partition is safe."""
    times = {} if ts is None else {("traces", 0, offset): ts}
    marks.stored([Message("traces", 0, offset, None, b"", (), NOW)], times)


def test_a_busy_partition_stands_at_its_newest_trace() -> None:
    """While messages wait, event time is what was read."""
    marks = Watermarks()
    stored(marks, 0, OLD)
    assert [OLD] == [row.event_time for row in marks.rows({KEY: 5}, NOW)]


def test_a_partition_read_to_its_end_moves_on_with_the_clock() -> None:
    """Otherwise a quiet partition would keep every bucket open."""
    marks = Watermarks()
    stored(marks, 4, OLD)
    (row,) = marks.rows({KEY: 5}, NOW)
    assert (NOW - timedelta(minutes=5), True) == (row.event_time, row.is_idle)


def test_a_watermark_never_goes_back() -> None:
    """Traces out of order do not reopen buckets."""
    marks = Watermarks()
    stored(marks, 0, NOW)
    stored(marks, 1, OLD)
    assert [NOW] == [row.event_time for row in marks.rows({KEY: 9}, NOW)]


def test_a_partition_of_which_nothing_was_read_holds_every_bucket() -> None:
    """Left out, it would let buckets close before its traces are seen."""
    for end in (None, 5):
        assert [NOTHING_READ] == [row.event_time for row in Watermarks().rows({KEY: end}, NOW)]


def test_a_restart_goes_on_from_the_stored_mark() -> None:
    """The new process has read nothing yet, but an earlier one had."""
    before = Watermark(topic="traces", partition=0, event_time=OLD, at=NOW)
    assert [OLD] == [row.event_time for row in Watermarks([before]).rows({KEY: None}, NOW)]


def test_an_empty_partition_is_idle() -> None:
    """A partition without any message must not hold the others."""
    assert [True] == [row.is_idle for row in Watermarks().rows({KEY: 0}, NOW)]
