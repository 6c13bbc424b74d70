"""Whether a process only looks alive: there is work, nothing keeps it from working, and it does not work.

Ending such a process is right because its messages come again elsewhere; ending one that waits for a store, a broker or
a long batch would only add restarts to an outage. So everything that excuses waiting is looked at first.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from streams.health.signs import AgentSigns, Membership, Signs


class StallReason(StrEnum):
    """Why a process was ended; a closed set, fit for a metric's label (docs/operations.md says what to do)."""

    LOOP_BLOCKED = "loop_blocked"
    AGENT_IDLE = "agent_idle"
    BATCH_STUCK = "batch_stuck"
    REBALANCE_STUCK = "rebalance_stuck"
    TIMER_STUCK = "timer_stuck"
    FOLLOWER_STUCK = "follower_stuck"


@dataclass(frozen=True, slots=True)
class Limits:
    """From when on something counts as stuck, in seconds.

    ``idle``: work is there and no batch was finished. ``batch``: one batch in hand, all its attempts that say nothing.
    ``rebalance``: joining the group. ``loop``: the event loop does not answer. What ticks may be late by ``idle``, and
    by 20 of its own turns.
    """

    idle: float = 300.0
    batch: float = 1800.0
    rebalance: float = 900.0
    loop: float = 60.0


@dataclass(frozen=True, slots=True)
class Stall:
    """What is stuck: ``part`` is an agent's, timer's or role's name, ``seconds`` for how long at least."""

    reason: StallReason
    part: str
    seconds: float
    unread: int = 0


_TURNS = 20


def stall_of(signs: Signs, limits: Limits) -> Stall | None:
    """The first thing that is stuck, None when all is well or waiting is excused."""
    if signs.is_stopping or signs.is_store_away or signs.is_broker_away:
        return None
    patience = min(signs.awake_seconds, signs.healthy_seconds)
    return next(_stalls(signs, limits, patience), None)


def loop_stall(blocked_seconds: float, awake_seconds: float, limits: Limits) -> Stall | None:
    """The stall of an event loop that has not answered for so long; whatever is away, it must answer."""
    seconds = min(blocked_seconds, awake_seconds)
    return Stall(StallReason.LOOP_BLOCKED, "event loop", seconds) if seconds > limits.loop else None


def _stalls(signs: Signs, limits: Limits, patience: float) -> Iterator[Stall]:
    for agent in signs.agents:
        if agent.waits_for is not None and agent.waited_seconds <= limits.batch:
            continue
        stall = _of_timer(agent, limits, patience) if agent.is_timer else _of_agent(agent, signs, limits, patience)
        if stall is not None:
            yield stall
    has_work_in_hand = any(agent.busy_seconds or agent.waits_for for agent in signs.agents if not agent.is_timer)
    for member in signs.members:  # a rebalance waits for batches in hand, which have limits of their own
        seconds = min(member.unsettled_seconds, patience)
        if seconds > limits.rebalance and not has_work_in_hand:
            yield Stall(StallReason.REBALANCE_STUCK, member.role, seconds)


def _of_agent(agent: AgentSigns, signs: Signs, limits: Limits, patience: float) -> Stall | None:
    if agent.busy_seconds:
        seconds = min(agent.busy_seconds, patience)
        return Stall(StallReason.BATCH_STUCK, agent.name, seconds) if seconds > limits.batch else None
    member = _member(agent.name, signs)
    if member is None or not member.settled_seconds or not agent.unread:
        return None
    seconds = min(agent.idle_seconds, agent.unread_seconds, member.settled_seconds, patience)
    limit = _idle_limit(agent, limits)
    return Stall(StallReason.AGENT_IDLE, agent.name, seconds, agent.unread) if seconds > limit else None


def _of_timer(agent: AgentSigns, limits: Limits, patience: float) -> Stall | None:
    behind = min(agent.unread_seconds, patience)
    if behind > limits.idle:
        return Stall(StallReason.FOLLOWER_STUCK, agent.name, behind, agent.unread)
    if agent.busy_seconds:
        seconds, limit = min(agent.busy_seconds, patience), limits.batch
    else:
        seconds, limit = min(agent.idle_seconds, patience), _idle_limit(agent, limits)
    return Stall(StallReason.TIMER_STUCK, agent.name, seconds) if seconds > limit else None


def _idle_limit(agent: AgentSigns, limits: Limits) -> float:
    return max(limits.idle, _TURNS * agent.every_seconds)


def _member(name: str, signs: Signs) -> Membership | None:
    return next((member for member in signs.members if member.role == name), None)
