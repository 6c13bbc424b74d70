"""A circuit breaker: an endpoint that failed too often in a row is left alone for a while, then tried with one call.

So is one that asks for it, for as long as it says.

The state and its changes are pure; ``Breaker`` holds one for several threads. Time is in seconds of any clock that
never goes back.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock

LONGEST_PAUSE_SECONDS = 600.0
"""However long an endpoint asks to be left alone: one that errs in its header must not switch a layer off for a day."""


@dataclass(frozen=True, slots=True)
class BreakerRule:
    """After ``failures`` in a row nothing is sent for ``pause_seconds``."""

    failures: int = 5
    pause_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class BreakerState:
    """Closed while ``open_until`` is None; from ``open_until`` on, half open: one call at a time finds out."""

    failures: int = 0
    open_until: float | None = None
    is_probing: bool = False


def admit(state: BreakerState, now: float) -> tuple[BreakerState, bool]:
    """Whether a call may be made; every call that is admitted must end as ``after`` or ``withdrawn``."""
    if state.open_until is None:
        return state, True
    if now < state.open_until or state.is_probing:
        return state, False
    return replace(state, is_probing=True), True


def after(state: BreakerState, now: float, rule: BreakerRule, *, was_answered: bool) -> BreakerState:
    """A call ended. An answer closes it; a failure opens it when it is the last one allowed, or that of the probe."""
    if was_answered:
        return BreakerState()
    failures = state.failures + 1
    if state.open_until is not None and now < state.open_until:
        return replace(state, failures=failures)  # one that was under way when it opened
    if failures < rule.failures:
        return BreakerState(failures)
    return BreakerState(failures, now + rule.pause_seconds)


def paused(state: BreakerState, now: float, seconds: float) -> BreakerState:
    """A call ended with the endpoint's word that it serves nobody for ``seconds``."""
    until = now + min(seconds, LONGEST_PAUSE_SECONDS)
    return BreakerState(state.failures + 1, until if state.open_until is None else max(until, state.open_until))


def withdrawn(state: BreakerState) -> BreakerState:
    """A call that was admitted was not made after all, or says nothing of the endpoint."""
    return replace(state, is_probing=False)


class Breaker:
    """One state for all threads of a process."""

    def __init__(self, rule: BreakerRule, clock: Callable[[], float]) -> None:
        self._rule, self._clock = rule, clock
        self._state = BreakerState()
        self._lock = Lock()

    @property
    def is_open(self) -> bool:
        """Whether calls are held back, as of the last one."""
        return self._state.open_until is not None

    def admit(self) -> bool:
        """Whether a call may be made now; see ``admit``."""
        with self._lock:
            self._state, may_call = admit(self._state, self._clock())
            return may_call

    def ended(self, *, was_answered: bool) -> None:
        """A call that was admitted ended."""
        with self._lock:
            self._state = after(self._state, self._clock(), self._rule, was_answered=was_answered)

    def pause(self, seconds: float) -> None:
        """A call that was admitted ended with the endpoint's word that it serves nobody for ``seconds``."""
        with self._lock:
            self._state = paused(self._state, self._clock(), seconds)

    def withdraw(self) -> None:
        """A call that was admitted was not made, or says nothing of the endpoint."""
        with self._lock:
            self._state = withdrawn(self._state)
