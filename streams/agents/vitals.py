"""What each agent and timer of a process is doing now, for health checks, metrics and the watchdog.

Written by the one loop with a monotonic clock; other threads may read it, since every field is replaced whole.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from time import monotonic

from schemas.errors import (
    BrokerUnavailable,
    NotifierUnavailable,
    PolicyIncomplete,
    RegistryUnavailable,
    SchemaTooNew,
    StoreUnavailable,
)

BATCH_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Upper bounds of the histogram of batch times; one more bucket takes what is longer."""
Partition = tuple[str, int]


class WaitReason(StrEnum):
    """What a batch waits for: a closed set, fit for a metric's label."""

    STORE = "store"
    BROKER = "broker"
    POLICY = "policy"
    REGISTRY = "registry"
    RECEIVER = "receiver"
    UPGRADE = "upgrade"
    """A newer worker wrote it."""
    OTHER = "other"


_REASONS: tuple[tuple[type[Exception], WaitReason], ...] = (
    (StoreUnavailable, WaitReason.STORE),
    (BrokerUnavailable, WaitReason.BROKER),
    (PolicyIncomplete, WaitReason.POLICY),
    (RegistryUnavailable, WaitReason.REGISTRY),
    (NotifierUnavailable, WaitReason.RECEIVER),
    (SchemaTooNew, WaitReason.UPGRADE),
)


def wait_reason(error: BaseException | None) -> WaitReason:
    """The reason that an error stands for."""
    return next((reason for kind, reason in _REASONS if isinstance(error, kind)), WaitReason.OTHER)


@dataclass(slots=True)
class Vitals:
    """Signs of life of one agent or timer; times are seconds of ``clock``, 0.0 for never.

    ``busy_since`` is set while a batch (or a step between two batches) is in hand; ``waits_for`` says what it is
    waiting for and since when it was last told so; both are empty while it makes progress. ``handled`` is, by
    partition, where reading goes on behind what was handled, acknowledged or not.
    """

    clock: Callable[[], float] = monotonic
    every_seconds: float = 0.0
    """How often a timer ticks; 0 for an agent."""
    started_at: float = 0.0
    busy_since: float = 0.0
    last_done_at: float = 0.0
    waits_for: WaitReason | None = None
    waited_at: float = 0.0
    batches: int = 0
    messages: int = 0
    busy_seconds: float = 0.0
    waits: Counter[WaitReason] = field(default_factory=Counter)
    histogram: list[int] = field(default_factory=lambda: [0] * (len(BATCH_SECONDS) + 1))
    handled: dict[Partition, int] = field(default_factory=dict)
    newest_recorded_at: datetime | None = None

    def __post_init__(self) -> None:
        self.started_at = self.clock()

    def begin(self) -> None:
        """A batch is in hand."""
        self.busy_since = self.clock()

    def wait(self, error: BaseException | None) -> None:
        """The batch in hand cannot go on yet, because of that error."""
        self.waits_for, self.waited_at = wait_reason(error), self.clock()
        self.waits[self.waits_for] += 1

    def give_up(self, error: BaseException) -> None:
        """The step is over without success and comes again."""
        self.wait(error)
        self.busy_since = 0.0

    def done(self, messages: int) -> None:
        """The batch in hand is safe; a step between two batches has no messages and is no sign of reading."""
        now = self.clock()
        took = now - self.busy_since if self.busy_since else 0.0
        self.busy_since, self.waits_for = 0.0, None
        if messages:
            self.last_done_at = now
            self.busy_seconds += took
            self.batches += 1
            self.messages += messages
            self.histogram[bisect_left(BATCH_SECONDS, took)] += 1

    def read(self, positions: Iterable[tuple[str, int, int]], newest: datetime | None = None) -> None:
        """Messages at these positions were handled, in this order; ``newest`` is the last record time among them."""
        for topic, partition, offset in positions:
            self.handled[topic, partition] = offset + 1
        self.newest_recorded_at = newest or self.newest_recorded_at

    def forget(self, partitions: Iterable[Partition]) -> None:
        """These partitions are another's now: what was handled here says nothing about them any longer."""
        for partition in partitions:
            self.handled.pop(partition, None)


@dataclass(slots=True)
class Follower:
    """Who follows a topic of one partition without a group: ``position`` says how far it is."""

    topic: str
    position: Callable[[], int]
    unread: int = 0
    seen_at: int = -1
    """Where it was when the broker was last asked."""
    behind_since: float = 0.0
    asked_at: float = 0.0

    def compare(self, end: int, now: float) -> None:
        """The topic ends there: not at the end, and no further than at the last look, is behind."""
        position = self.position()
        is_stuck = position < end and position == self.seen_at
        self.unread = max(0, end - position)
        self.behind_since = (self.behind_since or now) if is_stuck else 0.0
        self.seen_at, self.asked_at = position, now


@dataclass(slots=True)
class AllVitals:
    """The agents and timers of a process by name."""

    agents: dict[str, Vitals] = field(default_factory=dict)
    timers: dict[str, Vitals] = field(default_factory=dict)
    """Steps that run again and again, and followers of a topic: to be idle for long is a fault."""
    followers: dict[str, Follower] = field(default_factory=dict)
    """Timers that follow a topic."""

    def of(self, name: str) -> Vitals:
        """The vitals of an agent, made at the first call."""
        return self.agents.setdefault(name, Vitals())

    def of_timer(self, name: str, every_seconds: float) -> Vitals:
        """The vitals of a timer, made at the first call."""
        return self.timers.setdefault(name, Vitals(every_seconds=every_seconds))

    def in_hand(self) -> dict[str, str]:
        """Agents that have a batch in hand, each with what it waits for (``work`` where it waits for nothing)."""
        return {name: one.waits_for or "work" for name, one in list(self.agents.items()) if one.busy_since}
