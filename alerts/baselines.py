"""The references of all series, renewed together at local midnight (hourly for slices in their first two days).

Together, because the prior of a tier is made from all its cells; a firing series keeps the reference that it fired on.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from alerts.buckets import SeriesKey, nested
from alerts.config import JumpConfig
from alerts.reference import (
    CV_GUESS,
    KEPT,
    Beta,
    Block,
    Counts,
    cautious_level,
    day_shape,
    pooled_day_cv,
    posterior,
    tier_prior,
    usable,
)
from alerts.series import Baseline, Seen, Series, exposures
from schemas.labels import RiskTier

YOUNG = timedelta(days=2)
"""Until this age a slice's counts are kept by the hour, so that it has a reference within its first day."""
HOUR = timedelta(hours=1)
DROPPED = timedelta(days=60)
"""A series without data for so long is forgotten; memory stays bounded whatever intents and detectors come and go."""
LARGEST_RATE = 0.9

Family = tuple[RiskTier, str]
"""Cells that share a prior: one tier, one detector."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What the series learn from each other: the prior of each family and the day-to-day spread."""

    priors: Mapping[Family, Beta] = field(default_factory=dict)
    day_cv: float = CV_GUESS


@dataclass(frozen=True, slots=True)
class LocalDay:
    """The local calendar day of a bucket; 23 or 25 hours long where clocks are changed."""

    number: int
    start: datetime
    end: datetime


def local_day(moment: datetime, zone: ZoneInfo) -> LocalDay:
    """The day that holds ``moment`` (aware) in ``zone``, with its bounds as aware moments."""
    local = moment.astimezone(zone)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    following = (midnight.replace(tzinfo=None) + timedelta(days=1)).replace(tzinfo=zone)
    return LocalDay(local.toordinal(), midnight.astimezone(moment.tzinfo), following.astimezone(moment.tzinfo))


def first_baseline(shared: Shared, key: SeriesKey, config: JumpConfig) -> Baseline:
    """The reference of a series that has no counts of its own: its family's prior, else the tier's expected rate."""
    belief = _prior(shared, key, config)
    return _baseline(belief, Counts(0.0, 0.0), 0.95, day_shape(shared.day_cv, 0.0), config)


def counted(series: Series, seen: Seen, day: LocalDay) -> Block:
    """The open block of the series with the counts of one more bucket."""
    judged, hallucinated = nested(seen.added)
    block = series.block
    if block is None:
        if seen.at - series.first_at < YOUNG:
            start = seen.at.replace(minute=0, second=0, microsecond=0)
            block = Block(start, start + HOUR, 0.0, 0.0)
        else:
            block = Block(day.start, day.end, 0.0, 0.0)
    return block._replace(judged=block.judged + judged, hallucinated=block.hallucinated + hallucinated)


def renewed(
    all_series: Mapping[SeriesKey, Series], shared: Shared, at: datetime, config: JumpConfig, *, is_new_day: bool
) -> tuple[dict[SeriesKey, Series], Shared]:
    """All series with their references as of ``at``; between midnights only the young ones change."""
    closed = {key: _closed(series, at) for key, series in all_series.items() if at - series.seen_at <= DROPPED}
    due = {
        key for key, series in closed.items() if not series.is_firing and (is_new_day or at - series.first_at < YOUNG)
    }
    counts = {
        key: usable(series.history, at, at - series.first_at) if key in due else series.baseline.counts
        for key, series in closed.items()
    }
    after = Shared(
        priors=_priors(counts, config),
        day_cv=pooled_day_cv([series.history for series in closed.values()]) if is_new_day else shared.day_cv,
    )
    for key in due:
        series = closed[key]
        age = at - series.first_at
        level = cautious_level(age, math.fsum(block.hallucinated for block in series.history))
        per_day = math.fsum(block.judged for block in series.history) / max(age / timedelta(days=1), 1.0)
        belief = posterior(_prior(after, key, config), counts[key])
        baseline = _baseline(belief, counts[key], level, day_shape(after.day_cv, per_day), config)
        closed[key] = replace(series, baseline=baseline)
    return closed, after


def next_renewal(all_series: Mapping[SeriesKey, Series], at: datetime, day: LocalDay) -> datetime:
    """When references change next: at midnight, or at the full hour while a series is young."""
    if any(at - series.first_at < YOUNG for series in all_series.values()):
        return min(day.end, at.replace(minute=0, second=0, microsecond=0) + HOUR)
    return day.end


def _closed(series: Series, at: datetime) -> Series:
    """The series with its block moved to the history once over, and counts dropped that no window reaches."""
    if series.block is None or series.block.end > at:
        return series
    kept = tuple(block for block in series.history if block.end > at - KEPT)
    return replace(series, history=(*kept, series.block), block=None)


def _priors(counts: Mapping[SeriesKey, Counts], config: JumpConfig) -> Mapping[Family, Beta]:
    families: dict[Family, list[Counts]] = {}
    for key in sorted(counts):
        families.setdefault((key.tier, key.fingerprint), []).append(counts[key])
    return {family: tier_prior(cells, _expected(family[0], config)) for family, cells in families.items()}


def _prior(shared: Shared, key: SeriesKey, config: JumpConfig) -> Beta:
    known = shared.priors.get((key.tier, key.fingerprint))
    return known or tier_prior([], _expected(key.tier, config))


def _expected(tier: RiskTier, config: JumpConfig) -> float:
    return config.expected_rate.get(tier, max(config.expected_rate.values(), default=0.05))


def _baseline(belief: Beta, counts: Counts, level: float, shape: float, config: JumpConfig) -> Baseline:
    rate = min(belief.quantile(level), LARGEST_RATE)
    return Baseline(
        belief=belief,
        level=level,
        rate=rate,
        counts=counts,
        shape=shape,
        exposures=exposures(rate, config.odds_ratios),
    )
