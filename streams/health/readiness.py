"""Whether a process may be counted on now, and if not, what it waits for. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from streams.health.signs import Membership, Signs
from streams.health.watchdog import Limits, stall_of


class NotReady(StrEnum):
    """What a part of a process waits for; a closed set."""

    STARTING = "starting"
    STOPPING = "stopping"
    CRASHED = "crashed"
    REBALANCING = "rebalancing"
    NO_PARTITIONS = "no_partitions"
    BATCH_OLD = "batch_old"
    STALLED = "stalled"
    STORE_AWAY = "store_away"
    BROKER_AWAY = "broker_away"
    WAITS_FOR_STORE = "waits_for_store"
    WAITS_FOR_BROKER = "waits_for_broker"
    WAITS_FOR_POLICY = "waits_for_policy"
    WAITS_FOR_REGISTRY = "waits_for_registry"
    WAITS_FOR_RECEIVER = "waits_for_receiver"
    WAITS_FOR_UPGRADE = "waits_for_upgrade"
    WAITS_FOR_OTHER = "waits_for_other"


@dataclass(frozen=True, slots=True)
class Waiting:
    """One reason not to be ready: a role, agent or service, and what it waits for."""

    part: str
    why: NotReady


def waiting_of(signs: Signs, limits: Limits, old_batch_seconds: float) -> list[Waiting]:
    """Everything that keeps the process from being ready; empty when it is."""
    found = dict.fromkeys(_waiting(signs, old_batch_seconds))
    stall = stall_of(signs, limits)
    if stall is not None:
        found[Waiting(stall.part, NotReady.STALLED)] = None
    return list(found)


def since(waiting: Iterable[Waiting], before: Mapping[Waiting, float], now: float) -> dict[Waiting, float]:
    """By reason when it began: what was there before keeps its time."""
    return {one: before.get(one, now) for one in waiting}


def _waiting(signs: Signs, old_batch_seconds: float) -> Iterator[Waiting]:
    if signs.is_starting:
        yield Waiting("process", NotReady.STARTING)
    if signs.is_stopping:
        yield Waiting("process", NotReady.STOPPING)
    if signs.is_store_away:
        yield Waiting("store", NotReady.STORE_AWAY)
    if signs.is_broker_away:
        yield Waiting("broker", NotReady.BROKER_AWAY)
    for member in signs.members:
        why = _of_member(member)
        if why is not None:
            yield Waiting(member.role, why)
    for agent in signs.agents:
        if agent.waits_for is not None:
            yield Waiting(agent.name, NotReady(f"waits_for_{agent.waits_for}"))
        elif agent.busy_seconds > old_batch_seconds:
            yield Waiting(agent.name, NotReady.BATCH_OLD)


def _of_member(member: Membership) -> NotReady | None:
    if member.has_crashed:
        return NotReady.CRASHED
    if not member.has_joined:
        return NotReady.STARTING
    if member.is_rebalancing:
        return NotReady.REBALANCING
    if member.partitions or member.is_standby:
        return None
    return NotReady.NO_PARTITIONS
