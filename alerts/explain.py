"""Since when, and after which version change: a posterior over deploys and unknown times from the same e-factors.

The weight of a deploy is its lump times the mean factor of the bets since then; what the budget clock injected stands
for 'unknown time'. Coincidence in time, not proof of cause.
"""

import math
from collections.abc import Sequence
from datetime import datetime

from alerts.buckets import TotalsByStratum
from alerts.jump import log_sum
from alerts.series import Series, Trail
from schemas.alert import VersionChange

NAMED = 0.8
"""One deploy is named alone from this posterior on; below it, all that matter are listed."""
LISTED = 0.05
DATED = 0.5
"""From this posterior on a deploy's bucket is given as the onset."""


def ranked(series: Series) -> list[tuple[float, Trail]]:
    """The confirmed deploys by posterior, most likely first; what is missing to 1 is 'at an unknown time'."""
    total = log_sum(series.log_statistics)
    weighted = [
        (math.exp(min(_log_weight(trail, len(series.log_statistics)) - total, 0.0)), trail)
        for trail in series.trails
        if trail.event.is_confirmed
    ]
    return sorted(weighted, key=lambda pair: (-pair[0], pair[1].event.at, pair[1].event.tags))


def onset(series: Series) -> tuple[datetime, TotalsByStratum]:
    """Estimated begin of the rise, and the running totals then.

    The bucket of the deploy that most of the evidence goes back to, else the start of the run of the leading bet.
    """
    for posterior, trail in ranked(series)[:1]:
        if posterior >= DATED:
            return trail.event.at, trail.totals
    leading = max(range(len(series.runs)), key=lambda bet: series.log_statistics[bet])
    run = series.runs[leading]
    return run.start, run.totals


def changes(series: Series) -> tuple[VersionChange, ...]:
    """The version changes that may have caused the rise: one deploy if it is likely enough, else a ranked list."""
    candidates = [pair for pair in ranked(series) if pair[0] >= LISTED]
    if candidates and candidates[0][0] >= NAMED:
        candidates = candidates[:1]
    return tuple(change for posterior, trail in candidates for change in _version_changes(trail, posterior))


def _version_changes(trail: Trail, posterior: float) -> Sequence[VersionChange]:
    event = trail.event
    return [
        VersionChange(field=field, before=before, after=value, at=event.at, posterior=round(posterior, 4))
        for (field, value), before in zip(event.tags, event.before, strict=True)
    ]


def _log_weight(trail: Trail, bets: int) -> float:
    return math.log(trail.event.lump / bets) + log_sum(trail.log_factors)
