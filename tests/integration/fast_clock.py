"""``groundwatch`` under a clock that runs faster, since a policy takes effect ten minutes after it is published.

``python -m tests.integration.fast_clock run`` is ``groundwatch run``: the product reads the time in one place, and that
place is given the time of ``GROUNDWATCH_TEST_CLOCK``. Its rules of time stay as they are.
"""

import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

VARIABLE = "GROUNDWATCH_TEST_CLOCK"


@dataclass(frozen=True)
class FastClock:
    """``speed`` seconds pass in each real one; both origins are seconds since 1970."""

    real_origin: float
    origin: float
    speed: float

    def now(self) -> datetime:
        """The time under this clock."""
        return datetime.fromtimestamp(self.origin + (time.time() - self.real_origin) * self.speed, UTC)

    def real_seconds_until(self, moment: datetime) -> float:
        """How long to sleep until ``moment``; negative when it has passed."""
        return (moment - self.now()) / timedelta(seconds=1) / self.speed

    @property
    def environment(self) -> dict[str, str]:
        """What makes a process run under this clock."""
        return {VARIABLE: f"{self.real_origin}:{self.origin}:{self.speed}"}


def clock_of(text: str) -> FastClock:
    """The clock in the variable's text."""
    return FastClock(*(float(part) for part in text.split(":")))


if __name__ == "__main__":
    import streams.clock

    clock = clock_of(os.environ[VARIABLE])
    streams.clock.wall_clock = clock.now
    streams.clock.elapsed_seconds = lambda: time.monotonic() * clock.speed
    from streams.cli import main

    main()
