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


def test_mark_on_a_clock_that_was_set_back_is_still_the_newest() -> None:
    """The row with the latest time of writing counts: a process that restarts on such a clock must not be ignored."""
    before = Watermark(topic="traces", partition=0, event_time=OLD, at=NOW)
    marks = Watermarks([before])
    past = NOW - timedelta(hours=5)
    written = [marks.rows({KEY: None}, past + timedelta(seconds=number))[0].at for number in range(3)]
    assert written == sorted(set(written))
    assert written[0] > NOW
    assert marks.rows({KEY: None}, NOW + timedelta(seconds=9))[0].at == NOW + timedelta(seconds=9)


def test_trace_from_the_future_closes_no_bucket_that_has_not_ended() -> None:
    """A producer whose clock is ahead, or a span that ends in a hundred years."""
    marks = Watermarks()
    stored(marks, 0, NOW + timedelta(days=36_500))
    assert [NOW] == [row.event_time for row in marks.rows({KEY: 9}, NOW)]
    later = NOW + timedelta(hours=1)
    assert [later] == [row.event_time for row in marks.rows({KEY: 9}, later)]
