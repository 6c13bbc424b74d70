"""A role's place in its consumer group, as its Faust app tells: what it reads, and whether it is in a rebalance."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import faust
from faust.exceptions import ConsumerNotStarted

from streams.agents.vitals import Partition, Vitals
from streams.health.signs import Membership


@dataclass(slots=True)
class Member:
    """One app of this process; ``vitals`` are those of its agent."""

    role: str
    app: faust.App
    cluster: str
    """``source`` or ``internal``."""
    vitals: Vitals
    topics: Sequence[str] = ()
    """The topics that its agent was given; a pattern stands for none, and what it matches is known once assigned."""
    topic_partitions: int | None = None
    clock: Callable[[], float] = monotonic
    _has_joined: bool = False
    _changed_at: float = field(default=0.0)
    _rebalances: int = 0
    _was_rebalancing: bool = False

    def __post_init__(self) -> None:
        self._changed_at = self.clock()
        self.app.on_partitions_assigned.connect(self._assigned, weak=False)
        self.app.on_partitions_revoked.connect(self._revoked, weak=False)

    @property
    def group(self) -> str:
        """The consumer group."""
        return str(self.app.conf.id)

    @property
    def partitions(self) -> tuple[Partition, ...]:
        """What it reads now; empty during a rebalance."""
        return tuple(sorted((tp.topic, tp.partition) for tp in self._assignment()))

    def look(self) -> Membership:
        """What is so now."""
        now = self.clock()
        is_rebalancing = bool(self.app.rebalancing)
        if is_rebalancing != self._was_rebalancing:
            self._was_rebalancing, self._changed_at = is_rebalancing, now
        is_settled = self._has_joined and not is_rebalancing
        seconds = max(now - self._changed_at, 1e-9)
        return Membership(
            role=self.role,
            group=self.group,
            has_joined=self._has_joined,
            is_rebalancing=is_rebalancing,
            has_crashed=bool(self.app.crashed),
            is_leader=self._is_leader(),
            partitions=len(self.partitions),
            topic_partitions=self.topic_partitions,
            settled_seconds=seconds if is_settled else 0.0,
            unsettled_seconds=0.0 if is_settled else seconds,
            rebalances=self._rebalances,
        )

    def highs(self) -> dict[Partition, int | None]:
        """Ends of what it reads as of the last fetch; None while unknown, and old where nothing is fetched."""
        return {(tp.topic, tp.partition): self.app.consumer.highwater(tp) for tp in self._assignment()}

    def _assignment(self) -> Collection[Any]:
        if not self.app.started or self.app.rebalancing:
            return ()
        try:
            return list(self.app.consumer.assignment())
        except ConsumerNotStarted:  # the app says that it has started a moment before its consumer has
            return ()

    def _is_leader(self) -> bool:
        if self.app.conf.topic_disable_leader or not self._has_joined:
            return False
        try:
            return bool(self.app.is_leader())
        except ConsumerNotStarted:
            return False

    async def _assigned(self, _app: Any, /, *_partitions: Any, signal: Any, **_: Any) -> None:
        del signal
        self._has_joined, self._changed_at = True, self.clock()
        self._rebalances += 1

    async def _revoked(self, _app: Any, /, *revoked: Any, signal: Any, **_: Any) -> None:
        del signal
        self.vitals.forget((tp.topic, tp.partition) for tps in revoked for tp in tps)
