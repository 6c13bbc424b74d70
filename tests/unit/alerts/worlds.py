"""Makers of bucket streams for the alert tests: stationary traffic with or without a jump, from a seed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from alerts.buckets import ClosedBucket
from alerts.config import JumpConfig
from alerts.fold import FoldState, fold
from schemas.alert import Alert
from schemas.labels import AlertState, RiskTier
from schemas.tally import BUCKET, Tally
from schemas.trace import Versions

START = datetime(2026, 1, 5, tzinfo=UTC)
OLD = Versions(model="m-1", prompt="p-1")
NEW = Versions(model="m-2", prompt="p-1")
FINGERPRINT = "evidence-test"
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
CONFIG = JumpConfig(minimum_slices=100)


def rows(  # noqa: PLR0913 - a builder, all but the counts by name
    start: datetime,
    judged: int,
    hallucinated: float,
    *,
    intent: str = "refunds",
    versions: Versions = OLD,
    fingerprint: str = FINGERPRINT,
) -> list[Tally]:
    """The traffic row and the verdict row of one cell in one bucket, everything drawn with π = 1."""
    traffic = Tally(bucket=start, intent=intent, tier=RiskTier.MEDIUM, versions=versions, traffic=judged, drawn=judged)
    verdicts = Tally(
        bucket=start,
        intent=intent,
        tier=RiskTier.MEDIUM,
        versions=versions,
        fingerprint=fingerprint,
        judged=judged,
        hallucinated=hallucinated,
        sum_w=judged,
        sum_wk=hallucinated,
        sum_w2=judged,
        nested_judged=judged,
        nested_hallucinated=hallucinated,
    )
    return [traffic, verdicts]


@dataclass(frozen=True)
class World:
    """Poisson traffic in some slices; at ``jump_at`` the rate is multiplied by ``ratio`` in the first of them."""

    per_day: float = 300.0
    rate: float = 0.05
    ratio: float = 1.0
    jump_at: datetime | None = None
    fixed_at: datetime | None = None
    is_deploy: bool = True
    slices: int = 1
    day_cv: float = 0.05

    def buckets(
        self, rng: np.random.Generator, until: datetime, *, since: datetime = START, length: timedelta = BUCKET
    ) -> Iterator[ClosedBucket]:
        """The buckets from ``since`` on that end by ``until``."""
        start, effect = since, np.ones(self.slices)
        while start + length <= until:
            if start.hour == 0 and start.minute == 0:
                effect = rng.gamma(self.day_cv**-2, self.day_cv**2, self.slices)
            yield ClosedBucket(start, self._tallies(rng, start, length, effect), length=length)
            start += length

    def _tallies(self, rng: np.random.Generator, start: datetime, length: timedelta, effect: np.ndarray) -> list[Tally]:
        has_jumped = self.jump_at is not None and start >= self.jump_at
        is_bad = has_jumped and not (self.fixed_at is not None and start >= self.fixed_at)
        tallies: list[Tally] = []
        for number in range(self.slices):
            judged = int(rng.poisson(self.per_day * (length / DAY)))
            rate = min(self.rate * effect[number] * (self.ratio if is_bad and number == 0 else 1.0), 0.99)
            hallucinated = int(rng.binomial(judged, rate))
            if judged:
                versions = NEW if has_jumped and self.is_deploy and number == 0 else OLD
                tallies += rows(start, judged, hallucinated, intent=f"intent-{number}", versions=versions)
        return tallies


def folded(
    buckets: Iterable[ClosedBucket], config: JumpConfig = CONFIG, state: FoldState | None = None
) -> tuple[FoldState, list[Alert]]:
    """The state and all alerts after folding the buckets in order."""
    state = state or FoldState()
    alerts: list[Alert] = []
    for bucket in buckets:
        state, changed = fold(state, bucket, config)
        alerts += changed
    return state, alerts


def in_state(alerts: Sequence[Alert], state: AlertState) -> list[Alert]:
    """Those of the alerts that are in ``state``."""
    return [alert for alert in alerts if alert.state is state]


def baseline(rng: np.random.Generator, world: World, days: int = 21) -> FoldState:
    """The state after ``days`` of hourly buckets of the world."""
    return folded(world.buckets(rng, START + days * DAY, length=HOUR))[0]
