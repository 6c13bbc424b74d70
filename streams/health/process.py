"""What one process knows of itself, looked at every second by its event loop; probes, metrics and watchdog read it.

The loop writes, the watchdog's thread reads: a look is one immutable value, and the time of the last one tells whether
the loop still answers.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from time import monotonic

from streams.agents.batches import Lifeline
from streams.agents.vitals import Vitals
from streams.health.lag import GroupLag
from streams.health.members import Member
from streams.health.readiness import Waiting, since, waiting_of
from streams.health.signs import AgentSigns, Membership, Signs
from streams.health.watchdog import Limits

NEVER = 0.0
STORE = "store"


@dataclass(slots=True)
class Service:
    """Whether something that the process needs answers; ``ok_since`` is the first answer without a failure since."""

    ok_since: float = NEVER
    away_since: float = NEVER
    failures: int = 0

    def answered(self, now: float) -> None:
        """It did."""
        self.ok_since = self.ok_since or now
        self.away_since = NEVER

    def failed(self, now: float) -> None:
        """It did not."""
        self.ok_since = NEVER
        self.away_since = self.away_since or now
        self.failures += 1

    @property
    def is_away(self) -> bool:
        """True when the last question got no answer; unknown before the first."""
        return self.away_since != NEVER


@dataclass(slots=True)
class Look:
    """One look at the process at ``at``."""

    at: float
    signs: Signs = field(default_factory=Signs)
    waiting: Mapping[Waiting, float] = field(default_factory=dict)
    """What keeps it from being ready, and since when."""


@dataclass(slots=True)
class Process:
    """The state behind the probes of a process; ``clock`` is monotonic."""

    lifeline: Lifeline
    limits: Limits
    old_batch_seconds: float
    clock: Callable[[], float] = monotonic
    members: dict[str, Member] = field(default_factory=dict)
    lags: dict[str, GroupLag] = field(default_factory=dict)
    """By role; the last that the broker told."""
    services: dict[str, Service] = field(default_factory=dict)
    """``store``, and the Kafka clusters by what they are to us: ``source``, ``internal``."""
    is_starting: bool = False
    """Roles are still being made: models are loaded, say."""
    layers: Sequence[str] = ()
    """The layers of detection that are loaded; empty where no role of the process needs any above L1."""
    without: Sequence[str] = ()
    """Those that were asked for and are not there; the log says why."""
    awake_since: float = NEVER
    """When the process began, or was woken after its machine had stopped it."""
    suspensions: int = 0
    look: Look = field(default_factory=lambda: Look(NEVER))
    exits: Counter[str] = field(default_factory=Counter)
    """How often a watchdog ended a process on this data folder, by reason."""
    last_exit_at: datetime | None = None
    _unread_since: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.awake_since = self.clock()
        self.look = Look(self.awake_since)

    def woke_up(self, now: float) -> None:
        """The machine had stopped the process: nothing that happened before counts as waiting."""
        self.awake_since = now
        self.suspensions += 1

    def take_lag(self, role: str, lag: GroupLag) -> None:
        """The broker's answer for a role."""
        self.lags[role] = lag
        if lag.unread:
            self._unread_since.setdefault(role, lag.at)
        else:
            self._unread_since.pop(role, None)

    def look_again(self) -> Look:
        """Look at everything; called by the event loop, which thereby shows that it answers."""
        now = self.clock()
        signs = self._signs(now)
        waiting = since(waiting_of(signs, self.limits, self.old_batch_seconds), self.look.waiting, now)
        self.look = Look(now, signs, waiting)
        return self.look

    def _signs(self, now: float) -> Signs:
        answering = [service.ok_since for service in self.services.values()]
        members = {role: member.look() for role, member in self.members.items()}
        vitals = self.lifeline.vitals
        agents = [self._agent(name, one, members.get(name), now) for name, one in list(vitals.agents.items())]
        timers = [self._timer(name, one, now) for name, one in list(vitals.timers.items())]
        return Signs(
            is_starting=self.is_starting,
            is_stopping=self.lifeline.stopping.is_set(),
            awake_seconds=now - self.awake_since,
            healthy_seconds=now - max(answering) if answering and all(answering) else 0.0,
            is_store_away=any(one.is_away for name, one in self.services.items() if name == STORE),
            is_broker_away=any(one.is_away for name, one in self.services.items() if name != STORE),
            members=tuple(members.values()),
            agents=(*agents, *timers),
        )

    def _agent(self, name: str, vitals: Vitals, member: Membership | None, now: float) -> AgentSigns:
        signs = _signs_of(name, vitals, now, is_timer=False)
        if member is not None and member.is_leader:  # the next tick is always due
            return replace(signs, unread=1, unread_seconds=member.settled_seconds)
        lag, unread_since = self.lags.get(name), self._unread_since.get(name)
        if lag is None or unread_since is None:
            return signs
        return replace(signs, unread=lag.unread, unread_seconds=lag.at - unread_since)

    def _timer(self, name: str, vitals: Vitals, now: float) -> AgentSigns:
        signs, follower = _signs_of(name, vitals, now, is_timer=True), self.lifeline.vitals.followers.get(name)
        if follower is None or not follower.behind_since:
            return signs
        return replace(signs, unread=follower.unread, unread_seconds=follower.asked_at - follower.behind_since)


def _signs_of(name: str, vitals: Vitals, now: float, *, is_timer: bool) -> AgentSigns:
    return AgentSigns(
        name=name,
        is_timer=is_timer,
        busy_seconds=_age(vitals.busy_since, now),
        idle_seconds=now - max(vitals.last_done_at, vitals.started_at),
        waits_for=vitals.waits_for,
        waited_seconds=_age(vitals.waited_at, now),
        every_seconds=vitals.every_seconds,
    )


def _age(moment: float, now: float) -> float:
    return max(now - moment, 1e-9) if moment else 0.0
