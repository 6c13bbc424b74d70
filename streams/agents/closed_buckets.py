"""From stored tallies to the buckets that may enter the alert tests. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from alerts.buckets import ClosedBucket, DeployMark
from alerts.closing import Progress, closed_prefix
from schemas.tally import BUCKET, Tally, bucket_start


def progress_of(
    tallies: Mapping[datetime, Sequence[Tally]],
    since: datetime,
    watermark: datetime,
    passed_at: Mapping[datetime, datetime],
) -> list[Progress]:
    """Where every bucket from ``since`` up to the watermark stands; one without traffic is there too, and complete."""
    found = []
    for start in bucket_starts(since, watermark):
        rows = tallies.get(start, ())
        drawn = sum(row.drawn for row in rows)
        judged = drawn - sum(row.pending for row in rows)
        found.append(Progress(start + BUCKET, drawn=drawn, judged=judged, passed_at=passed_at.get(start)))
    return found


def closed_buckets(  # noqa: PLR0913, PLR0917  a decision over these facts
    tallies: Iterable[Tally],
    deploys: Iterable[DeployMark],
    since: datetime,
    watermark: datetime,
    passed_at: Mapping[datetime, datetime],
    now: datetime,
) -> list[ClosedBucket]:
    """The leading buckets from ``since`` on that may be folded, in order."""
    rows = _by_bucket(tallies)
    newest_verdict = max((bucket for bucket, found in rows.items() if _has_verdicts(found)), default=since)
    progress = progress_of(rows, since, watermark, passed_at)
    is_behind = any(one.drawn > one.judged and one.end > newest_verdict for one in progress)
    closed = closed_prefix(progress, watermark, now, is_verify_behind=is_behind)
    return _buckets([one.end - BUCKET for one in closed], rows, deploys)


def whole_buckets(
    starts: Iterable[datetime], tallies: Iterable[Tally], deploys: Iterable[DeployMark]
) -> list[ClosedBucket]:
    """The buckets at ``starts`` with all their rows and marks, in order."""
    return _buckets(sorted(starts), _by_bucket(tallies), deploys)


def bucket_starts(since: datetime, until: datetime) -> Iterator[datetime]:
    """Starts of the buckets from ``since``, itself one, that end by ``until``."""
    while since + BUCKET <= until:
        yield since
        since += BUCKET


def _by_bucket(tallies: Iterable[Tally]) -> dict[datetime, list[Tally]]:
    rows: dict[datetime, list[Tally]] = defaultdict(list)
    for tally in tallies:
        rows[tally.bucket].append(tally)
    return rows


def _buckets(
    starts: Iterable[datetime], rows: Mapping[datetime, Sequence[Tally]], deploys: Iterable[DeployMark]
) -> list[ClosedBucket]:
    marks: dict[datetime, list[DeployMark]] = defaultdict(list)
    for mark in deploys:
        marks[bucket_start(mark.at)].append(mark)
    return [ClosedBucket(start, rows.get(start, ()), marks.get(start, ())) for start in starts]


def _has_verdicts(rows: Sequence[Tally]) -> bool:
    return any(row.fingerprint for row in rows)
