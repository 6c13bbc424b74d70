"""One series of the jump test: its e-detector statistic, where a rise may have begun, and its daily counts.

Frozen values throughout: a checkpoint of the fold is nothing but a reference to them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import add
from typing import NamedTuple

from alerts.buckets import TotalsByStratum, minus, nested, plus
from alerts.deploys import DeployEvent
from alerts.jump import MINUS_INFINITY, exposure_per_answer, inject, log_add, log_factor_in_day, log_sum
from alerts.recovery import Recovery, fed, reviewed
from alerts.reference import Beta, Block, Counts
from schemas.alert import RateEstimate, VersionChange
from schemas.labels import AlertState


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the series is measured against: the posterior, the quantile of it that the test uses, and its counts."""

    belief: Beta
    level: float
    rate: float
    counts: Counts
    shape: float
    exposures: tuple[float, ...]

    @property
    def is_mature(self) -> bool:
        """True once the cautious quantiles of the cold start are over."""
        return self.level == 0.7  # noqa: PLR2004 - the last step of reference.cautious_level

    def estimate(self) -> RateEstimate:
        """Posterior mean with its central 95 % interval."""
        return RateEstimate(
            rate=self.belief.mean,
            low=self.belief.quantile(0.025),
            high=self.belief.quantile(0.975),
            n=round(self.counts.judged),
        )


class Run(NamedTuple):
    """For one bet, the start since which the data speak most for it, and the log evidence since (Page's CUSUM)."""

    log_evidence: float
    start: datetime
    totals: TotalsByStratum


class Trail(NamedTuple):
    """The log factors of all bets since one deploy, for giving the deploy its weight among the possible causes."""

    event: DeployEvent
    log_factors: tuple[float, ...]
    totals: TotalsByStratum


class Seen(NamedTuple):
    """What one bucket brings to a series: its start, the number of its local day, and its totals.

    ``mass`` is the reading of the budget clock, ``events`` the deploys of the slice so far.
    """

    at: datetime
    day: int
    added: TotalsByStratum
    mass: float
    events: Sequence[DeployEvent] = ()


@dataclass(frozen=True, slots=True)
class Episode:
    """What an alert says: fixed at firing, but for the rate, which is read from ``since_totals`` when it is told."""

    alert_id: str
    state: AlertState
    pending_at: datetime
    since: datetime
    since_totals: TotalsByStratum
    reference: RateEstimate
    fired_at: datetime | None = None
    evidence: float = 0.0
    samples: int = 0
    changes: tuple[VersionChange, ...] = ()
    recovery: Recovery | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """State of one series.

    ``mass_at`` is the reading of the fold's budget clock up to which it has been injected; deploys from ``tested_from``
    on count, that is since the first bucket or the last resolved alert.
    """

    first_at: datetime
    seen_at: datetime
    tested_from: datetime
    mass_at: float
    baseline: Baseline
    log_statistics: tuple[float, ...]
    runs: tuple[Run, ...]
    day: int = 0
    day_hallucinated: float = 0.0
    day_exposures: tuple[float, ...] = ()
    trails: tuple[Trail, ...] = ()
    totals: TotalsByStratum = field(default_factory=dict)
    history: tuple[Block, ...] = ()
    block: Block | None = None
    episode: Episode | None = None
    is_stale: bool = False

    @property
    def statistic(self) -> float:
        """M, the sum over the bets; an alert fires at 1."""
        return math.exp(min(log_sum(self.log_statistics), 700.0))

    @property
    def is_firing(self) -> bool:
        """True between firing and resolved."""
        return self.episode is not None and self.episode.state is AlertState.FIRING


def born(at: datetime, mass: float, baseline: Baseline) -> Series:
    """A series at its first bucket."""
    bets = len(baseline.exposures)
    return Series(
        first_at=at,
        seen_at=at,
        tested_from=at,
        mass_at=mass,
        baseline=baseline,
        log_statistics=(MINUS_INFINITY,) * bets,
        runs=(Run(0.0, at, {}),) * bets,
        day_exposures=(0.0,) * bets,
    )


def exposures(rate: float, odds_ratios: Sequence[float]) -> tuple[float, ...]:
    """Exposure of one answer under each bet."""
    return tuple(exposure_per_answer(rate, ratio) for ratio in odds_ratios)


def injected(series: Series, seen: Seen) -> tuple[tuple[float, ...], tuple[Trail, ...]]:
    """The statistics with the clock's mass since last time and the lumps of deploys, and a trail for each deploy.

    A deploy confirmed after its first bucket brings its lump times what the data have shown since that bucket.
    """
    statistics = inject(series.log_statistics, seen.mass - series.mass_at)
    if not seen.events:
        return statistics, ()
    known = {(trail.event.at, trail.event.tags): trail for trail in series.trails}
    trails = []
    for event in seen.events:
        if event.at < series.tested_from:
            continue
        trail = known.get((event.at, event.tags))
        factors = (0.0,) * len(statistics) if trail is None else trail.log_factors
        if event.is_confirmed and (trail is None or not trail.event.is_confirmed):
            share = math.log(event.lump / len(statistics))
            statistics = tuple(log_add(one, share + factor) for one, factor in zip(statistics, factors, strict=True))
        trails.append(Trail(event, factors, series.totals if trail is None else trail.totals))
    return statistics, tuple(trails)


def with_counts(series: Series, seen: Seen, odds_ratios: Sequence[float], block: Block) -> Series:
    """The series after one bucket: budget injected, then statistic, trails and runs multiplied by the nested counts."""
    judged, hallucinated = nested(seen.added)
    is_new_day = seen.day != series.day
    so_far = 0.0 if is_new_day else series.day_hallucinated
    before = (0.0,) * len(odds_ratios) if is_new_day else series.day_exposures
    added = [judged * exposure for exposure in series.baseline.exposures]
    shape = series.baseline.shape
    logs = [
        log_factor_in_day(hallucinated, exposure, ratio, shape, (so_far, earlier))
        for exposure, ratio, earlier in zip(added, odds_ratios, before, strict=True)
    ]
    statistics, trails = injected(series, seen)
    return replace(
        series,
        seen_at=seen.at,
        is_stale=False,
        mass_at=seen.mass,
        day=seen.day,
        day_hallucinated=so_far + hallucinated,
        day_exposures=tuple(map(add, before, added)),
        log_statistics=tuple(map(add, statistics, logs)),
        runs=tuple(_run(run, log, seen.at, series.totals) for run, log in zip(series.runs, logs, strict=True)),
        trails=tuple(trail._replace(log_factors=tuple(map(add, trail.log_factors, logs))) for trail in trails),
        totals=plus(series.totals, seen.added),
        block=block,
    )


def _run(run: Run, log: float, at: datetime, totals: TotalsByStratum) -> Run:
    if run.log_evidence <= 0.0:
        return Run(log, at, totals)
    return Run(run.log_evidence + log, run.start, run.totals)


def with_recovery(series: Series, seen: Seen) -> Series:
    """A firing series after one bucket: the nested counts feed the reverse test, the jump test rests meanwhile."""
    episode = series.episode
    if episode is None or episode.recovery is None:
        message = "only a firing series recovers"
        raise ValueError(message)
    recovery, so_far = episode.recovery, series.day_hallucinated
    if seen.day != series.day:
        since = nested(minus(series.totals, episode.since_totals))
        recovery, so_far = reviewed(recovery, series.baseline.rate, *since), 0.0
    judged, hallucinated = nested(seen.added)
    recovery = fed(recovery, judged, hallucinated, series.baseline.shape, so_far)
    return replace(
        series,
        seen_at=seen.at,
        is_stale=False,
        mass_at=seen.mass,
        day=seen.day,
        day_hallucinated=so_far + hallucinated,
        totals=plus(series.totals, seen.added),
        episode=replace(episode, recovery=recovery),
    )
