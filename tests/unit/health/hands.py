"""A clock moved by hand, and a member of a group without a broker."""

from types import SimpleNamespace
from typing import Any, cast

import faust
from faust.types import TP

from streams.agents.vitals import Vitals
from streams.health.members import Member


class Hand:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.at = 1_000.0

    def __call__(self) -> float:
        """The time."""
        return self.at


class Signal:
    """What an app tells its listeners."""

    def __init__(self) -> None:
        self.listeners: list[Any] = []

    def connect(self, listener: Any, *, weak: bool) -> None:
        """Take a listener."""
        assert not weak
        self.listeners.append(listener)

    async def send(self, app: Any, partitions: set[TP]) -> None:
        """Tell all."""
        for listener in self.listeners:
            await listener(app, partitions, signal=self)


def app_of(role: str, *, is_timer: bool = False) -> Any:
    """An app that has started and reads one partition."""
    partitions = {TP("gw.drawn", 0)}
    return SimpleNamespace(
        conf=SimpleNamespace(id=f"groundwatch.{role}", topic_disable_leader=not is_timer),
        started=True,
        rebalancing=False,
        crashed=False,
        consumer=SimpleNamespace(assignment=lambda: partitions, highwater=lambda _: 10),
        on_partitions_assigned=Signal(),
        on_partitions_revoked=Signal(),
        is_leader=lambda: True,
    )


def member_of(role: str, vitals: Vitals, hand: Hand, **fields: Any) -> Member:
    """A member that was given its partitions when it was made."""
    member = Member(role, cast("faust.App", app_of(role, **fields)), "internal", vitals, clock=hand)
    member._has_joined = True
    return member
