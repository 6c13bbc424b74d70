"""The clocks: the only place that reads them, so that everything else takes ``now`` as an argument.

A wall clock can be set, forward or back, rightly or wrongly, and nothing in the process can tell which. So what
time alone decides (a trace is too old, an idle partition has nothing more, an open trace is quiet) goes by a settled
time that runs on with a monotonic clock and follows a step forward only once it has lasted; no time of ours steps back.
"""

import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic

SMALL_STEP = timedelta(seconds=60)
"""Steps up to this, as time servers make them, are followed at once."""
LASTING_SECONDS = 900.0
"""A larger step forward is believed once it has lasted so long."""


@dataclass(frozen=True, slots=True)
class Settled:
    """``time`` was settled at ``at`` (monotonic seconds); ``since`` when the wall clock has been far ahead, or None."""

    time: datetime
    at: float
    since: float | None = None

    def at_moment(self, elapsed: float) -> datetime:
        """The settled time at a monotonic moment, if the wall clock said nothing new."""
        return self.time + timedelta(seconds=max(0.0, elapsed - self.at))


def settled(before: Settled, wall: datetime, elapsed: float) -> Settled:
    """What is settled after the wall clock showed ``wall`` at ``elapsed`` (monotonic seconds); never goes back."""
    expected = before.at_moment(elapsed)
    step = wall - expected
    if step < -SMALL_STEP:  # set back: time goes on
        return Settled(expected, elapsed)
    if step <= SMALL_STEP:  # mended by a little: after a step back, time stands until the wall clock comes up
        return Settled(max(wall, before.time), elapsed)
    since = elapsed if before.since is None else before.since
    if elapsed - since >= LASTING_SECONDS:
        return Settled(wall, elapsed)
    return Settled(expected, elapsed, since)


def wall_clock() -> datetime:
    """What the machine's clock shows."""
    return datetime.now(UTC)


def elapsed_seconds() -> float:
    """Seconds of a clock that nobody sets; only differences mean something."""
    return monotonic()


class _Clock:
    """The settled time of this process, shared by its threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._settled: Settled | None = None

    def now(self) -> tuple[datetime, datetime]:
        """The wall clock's time and the settled time."""
        with self._lock:
            # In this order: a pause between the two must not look like a clock that was set back.
            elapsed, wall = elapsed_seconds(), wall_clock()
            known = self._settled or Settled(wall, elapsed)
            self._settled = settled(known, wall, elapsed)
            return wall, self._settled.time


_CLOCK = _Clock()


def settled_now() -> datetime:
    """The time by which silence is judged: never back, and forward by a step only once it has lasted 15 minutes."""
    return _CLOCK.now()[1]


def utc_now() -> datetime:
    """The current time, aware, UTC: the wall clock's, or the settled one where the wall clock was set back."""
    return max(_CLOCK.now())


def clock_step() -> timedelta:
    """By how much the wall clock is off the settled time: negative after it was set back."""
    wall, known = _CLOCK.now()
    return wall - known
