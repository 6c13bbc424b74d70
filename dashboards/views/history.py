"""What is known of a slice's past: whether it is silent, and whether its reference is still young."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from dashboards.periods import DAY, USUAL
from schemas.tally import Tally

QUIET_AFTER = timedelta(hours=1)
"""A slice without traffic for this long may be stale …"""
QUIET_TRACES = 20
"""… and is, when it would have had this many traces in that time at its usual pace."""
YOUNG_AGE = timedelta(days=7)
YOUNG_POSITIVES = 50
"""Until this age and this many hallucinated answers the jump test uses its most cautious reference: learning."""


@dataclass(frozen=True, slots=True)
class History:
    """What is known: ``last_traffic`` within the last 24 h, and ``positives``, the hallucinated answers of all time."""

    age: timedelta
    last_traffic: datetime | None
    traces_per_second: float
    positives: float

    def is_silent(self, now: datetime) -> bool:
        """True when traffic that should be there is not."""
        quiet = DAY.span if self.last_traffic is None else now - self.last_traffic
        is_missed = self.traces_per_second * quiet.total_seconds() >= QUIET_TRACES
        return quiet >= QUIET_AFTER and (is_missed or not self.traces_per_second)

    @property
    def is_young(self) -> bool:
        """True while the slice's reference rate is a cautious one."""
        return self.age < YOUNG_AGE or self.positives < YOUNG_POSITIVES


def history_of(
    day: Sequence[Tally], usual: Sequence[Tally], older: Sequence[Tally], usual_step: timedelta, now: datetime
) -> History:
    """The history of one slice: the last 24 h, the last 21 days in steps of ``usual_step``, and the time before.

    Times are known to a step: traffic is taken to last to a step's end, a slice to begin at its first step's end.
    """
    steps = [tally.bucket for tally in usual if tally.traffic]
    hours = [tally.bucket for tally in day if tally.traffic]
    span = now - min(steps, default=now)
    is_older = any(tally.traffic for tally in older)
    return History(
        age=USUAL.span if is_older else span - usual_step,
        last_traffic=min(max(hours) + DAY.step, now) if hours else None,
        traces_per_second=sum(tally.traffic for tally in usual) / max(span, QUIET_AFTER).total_seconds(),
        positives=sum(tally.hallucinated for tally in [*older, *usual]),
    )
