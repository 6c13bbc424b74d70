"""The spans of time that the overview offers, each with the step of its trend."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
STEPS = tuple(timedelta(minutes=minutes) for minutes in (5, 15, 30, 60, 180, 360, 720, 1440))


@dataclass(frozen=True, slots=True)
class Period:
    """The last ``span`` up to now, in steps of ``step``; ``key`` is its name in links and on the page."""

    key: str
    span: timedelta
    step: timedelta

    def start(self, now: datetime) -> datetime:
        """The first step's start: steps are aligned as the store aligns them, so the first one is whole."""
        return floor(now - self.span, self.step)


DAY = Period("24h", timedelta(hours=24), timedelta(hours=2))
WEEK = Period("7d", timedelta(days=7), timedelta(hours=12))
USUAL = Period("21d", timedelta(days=21), timedelta(days=1))
PERIODS = {period.key: period for period in (DAY, WEEK, USUAL)}
USUAL_SUMS = Period("21d", timedelta(days=21), timedelta(days=3))
"""The longest period where its trend is not shown: fewer rows to read."""

REVIEWED = Period("28d", timedelta(days=28), timedelta(days=1))
"""The days whose labels correct a rate."""


def floor(moment: datetime, step: timedelta) -> datetime:
    """The start of the step that holds ``moment``; steps are counted from 1970-01-01 UTC."""
    return moment - (moment - EPOCH) % step


def step_for(span: timedelta, *, points: int = 48) -> timedelta:
    """The finest step with which ``span`` has at most ``points`` points; a day when none has."""
    return next((step for step in STEPS if span <= points * step), STEPS[-1])
