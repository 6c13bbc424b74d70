"""What is known of a process at one moment, as plain values: probes, metrics and the watchdog judge by these alone."""

from dataclasses import dataclass

from streams.agents.vitals import WaitReason


@dataclass(frozen=True, slots=True)
class Membership:
    """A role's place in its consumer group.

    ``has_joined``: it was given partitions, or none, at least once. ``settled_seconds`` since it last got partitions,
    ``unsettled_seconds`` since it began to wait for them; one of the two is 0. ``topic_partitions`` are all that its
    topics have, None while nobody knows.
    """

    role: str
    group: str
    has_joined: bool = False
    is_rebalancing: bool = False
    has_crashed: bool = False
    is_leader: bool = False
    partitions: int = 0
    topic_partitions: int | None = None
    settled_seconds: float = 0.0
    unsettled_seconds: float = 0.0
    rebalances: int = 0

    @property
    def is_standby(self) -> bool:
        """True for a member that has no partitions because the group has more members than partitions."""
        is_settled = self.has_joined and not self.is_rebalancing
        return is_settled and not self.partitions and bool(self.topic_partitions)


@dataclass(frozen=True, slots=True)
class AgentSigns:
    """What one agent or timer is doing; seconds, 0 for not at all.

    ``unread_seconds``: for how long there have been messages for it that it has not handled, as far as the broker has
    confirmed that; of a follower of a topic, that it has come no further. A timer, and the alert tick of a leader,
    always have something to do. ``waited_seconds``: since it last said what it waits for.
    """

    name: str
    is_timer: bool = False
    busy_seconds: float = 0.0
    idle_seconds: float = 0.0
    unread: int = 0
    unread_seconds: float = 0.0
    waits_for: WaitReason | None = None
    waited_seconds: float = 0.0
    every_seconds: float = 0.0
    """How often it ticks; 0 for an agent that takes messages."""


@dataclass(frozen=True, slots=True)
class Signs:
    """One moment of a process.

    ``healthy_seconds``: for how long store and broker have answered without a break; 0 while one is away. Seconds are
    those of a monotonic clock and begin anew after the process was stopped by its machine (``awake_seconds``).
    ``is_starting``: not all roles are made yet, so ``members`` lacks some.
    """

    is_starting: bool = False
    is_stopping: bool = False
    awake_seconds: float = 0.0
    healthy_seconds: float = 0.0
    is_store_away: bool = False
    is_broker_away: bool = False
    members: tuple[Membership, ...] = ()
    agents: tuple[AgentSigns, ...] = ()
