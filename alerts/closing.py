"""When a 5-minute bucket may enter the tests: by event time and completeness, never by the clock alone.

A bucket closed by the clock would hold only the easy verdicts, because the judge is slowest on the hard ones.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import takewhile

PATIENCE = timedelta(minutes=30)
"""How long a bucket waits for missing verdicts after the watermark passed its end."""
PATIENCE_BEHIND = timedelta(hours=24)
"""The same while verify itself is behind."""


class Closing(StrEnum):
    """Whether a bucket may be folded, and why."""

    OPEN_WATERMARK = "open_watermark"
    """Some partition may still bring traces of this bucket."""
    OPEN_VERDICTS = "open_verdicts"
    """Verdicts are missing and there is patience left."""
    OPEN_VERIFY_BEHIND = "open_verify_behind"
    """Verdicts are missing because verify has not come so far."""
    CLOSED_COMPLETE = "closed_complete"
    """Every drawn trace has a verdict, an error or a reason."""
    CLOSED_IMPATIENT = "closed_impatient"
    """Patience is over; what is missing counts as pending inside the bounds."""

    @property
    def is_closed(self) -> bool:
        """True when the bucket may be folded."""
        return self.value.startswith("closed_")


@dataclass(frozen=True, slots=True)
class Progress:
    """Where one bucket stands: ``end`` in event time, ``passed_at`` when the watermark was first seen beyond it.

    ``judged`` counts every verdict that says something about the answer (abstained and the like too), ``errors`` and
    ``unresolved`` the outcomes of those names.
    """

    end: datetime
    drawn: int = 0
    judged: int = 0
    errors: int = 0
    unresolved: int = 0
    passed_at: datetime | None = None


def lowest_watermark(event_times: Iterable[datetime | None]) -> datetime | None:
    """The event time up to which all partitions have been read; None when one of them, or all, say nothing yet."""
    times = list(event_times)
    if not times or any(time is None for time in times):
        return None
    return min(time for time in times if time is not None)


def closing(bucket: Progress, watermark: datetime | None, now: datetime, *, is_verify_behind: bool) -> Closing:
    """The decision on one bucket; ``watermark`` is the lowest over the partitions, ``now`` the wall clock."""
    if watermark is None or watermark < bucket.end:
        return Closing.OPEN_WATERMARK
    if bucket.judged + bucket.errors + bucket.unresolved >= bucket.drawn:
        return Closing.CLOSED_COMPLETE
    waited = now - (bucket.passed_at or now)
    if waited >= (PATIENCE_BEHIND if is_verify_behind else PATIENCE):
        return Closing.CLOSED_IMPATIENT
    return Closing.OPEN_VERIFY_BEHIND if is_verify_behind else Closing.OPEN_VERDICTS


def closed_prefix(
    buckets: Sequence[Progress], watermark: datetime | None, now: datetime, *, is_verify_behind: bool
) -> Sequence[Progress]:
    """The leading buckets that may be folded: a bucket waits for all before it, since the fold goes in order."""
    ordered = sorted(buckets, key=lambda bucket: bucket.end)
    return list(
        takewhile(lambda bucket: closing(bucket, watermark, now, is_verify_behind=is_verify_behind).is_closed, ordered)
    )
