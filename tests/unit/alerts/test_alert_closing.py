"""When a bucket may be folded."""

from datetime import timedelta

import pytest

from alerts.closing import Closing, Progress, closed_prefix, closing, lowest_watermark
from tests.builders import NOW

END = NOW - timedelta(hours=1)
MINUTE = timedelta(minutes=1)


def test_bucket_stays_open_until_the_watermark_has_passed_its_end() -> None:
    """A complete bucket that a partition may still add to is open."""
    bucket = Progress(END, drawn=3, judged=3)
    assert Closing.OPEN_WATERMARK is closing(bucket, END - MINUTE, NOW, is_verify_behind=False)
    assert Closing.OPEN_WATERMARK is closing(bucket, None, NOW, is_verify_behind=False)


def test_bucket_closes_when_every_drawn_trace_has_an_outcome() -> None:
    """Errors and unresolved traces are outcomes too."""
    bucket = Progress(END, drawn=6, judged=3, errors=2, unresolved=1)
    assert Closing.CLOSED_COMPLETE is closing(bucket, END, NOW, is_verify_behind=False)


@pytest.mark.parametrize(
    ("waited", "is_behind", "expected"),
    [
        (29 * MINUTE, False, Closing.OPEN_VERDICTS),
        (30 * MINUTE, False, Closing.CLOSED_IMPATIENT),
        (30 * MINUTE, True, Closing.OPEN_VERIFY_BEHIND),
        (timedelta(hours=24), True, Closing.CLOSED_IMPATIENT),
    ],
)
def test_patience_counts_from_when_the_watermark_passed(waited: timedelta, is_behind: bool, expected: Closing) -> None:
    """Thirty minutes, or a day while verify is behind; the age of the bucket itself does not matter."""
    bucket = Progress(END - timedelta(days=3), drawn=6, judged=3, passed_at=NOW - waited)
    assert expected is closing(bucket, NOW, NOW, is_verify_behind=is_behind)


def test_a_bucket_just_passed_has_all_its_patience() -> None:
    """Without a time of passing, the waiting begins now."""
    assert Closing.OPEN_VERDICTS is closing(Progress(END, drawn=1), NOW, NOW, is_verify_behind=False)


def test_buckets_close_in_order() -> None:
    """A complete bucket waits for an incomplete one before it."""
    first, second = Progress(END, drawn=1), Progress(END + 5 * MINUTE)
    assert [] == closed_prefix([second, first], NOW, NOW, is_verify_behind=False)
    done = Progress(END, drawn=1, judged=1)
    assert [done, second] == closed_prefix([second, done], NOW, NOW, is_verify_behind=False)


def test_a_silent_partition_holds_the_watermark() -> None:
    """The lowest mark counts, and a partition that has said nothing yet holds everything."""
    assert END == lowest_watermark([NOW, END])
    assert lowest_watermark([NOW, None]) is None
    assert lowest_watermark([]) is None
