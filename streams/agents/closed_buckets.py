"""From stored tallies to the buckets that may enter the alert tests. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from alerts.buckets import ClosedBucket, DeployMark
from alerts.closing import Progress, closed_prefix
from schemas.tally import BUCKET, Tally


def progress_of(
    tallies: Mapping[datetime, Sequence[Tally]],
    since: datetime,
    watermark: datetime,
    passed_at: Mapping[datetime, datetime],
) -> list[Progress]:
    """Where every bucket from ``since`` up to the watermark stands; one without traffic is there too, and complete."""
    found = []
    start = since
    while start + BUCKET <= watermark:
        rows = tallies.get(start, ())
        drawn = sum(row.drawn for row in rows)
        judged = drawn - sum(row.pending for row in rows)
        found.append(Progress(start + BUCKET, drawn=drawn, judged=judged, passed_at=passed_at.get(start)))
        start += BUCKET
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
    rows: dict[datetime, list[Tally]] = defaultdict(list)
    for tally in tallies:
        rows[tally.bucket].append(tally)
    newest_verdict = max((bucket for bucket, found in rows.items() if _has_verdicts(found)), default=since)
    progress = progress_of(rows, since, watermark, passed_at)
    is_behind = any(one.drawn > one.judged and one.end > newest_verdict for one in progress)
    closed = closed_prefix(progress, watermark, now, is_verify_behind=is_behind)
    marks: dict[datetime, list[DeployMark]] = defaultdict(list)
    for mark in deploys:
        marks[_floor(mark.at, since)].append(mark)
    starts = [one.end - BUCKET for one in closed]
    return [ClosedBucket(start, rows.get(start, []), marks.get(start, [])) for start in starts]


def _floor(moment: datetime, since: datetime) -> datetime:
    return since + ((moment - since) // BUCKET) * BUCKET if moment >= since else since - timedelta.resolution


def _has_verdicts(rows: Sequence[Tally]) -> bool:
    return any(row.fingerprint for row in rows)
