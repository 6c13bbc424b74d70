"""When a process only looks alive, and everything that excuses one that waits."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.agents.vitals import WaitReason
from streams.health.signs import AgentSigns, Membership, Signs
from streams.health.watchdog import Limits, Stall, StallReason, loop_stall, stall_of

LIMITS = Limits(idle=100.0, batch=1000.0, rebalance=300.0, loop=60.0)
MEMBER = Membership(
    "ingest", "groundwatch.ingest", has_joined=True, partitions=2, topic_partitions=2, settled_seconds=5000.0
)
IDLE = AgentSigns("ingest", idle_seconds=101.0, unread=7, unread_seconds=200.0)
WELL = Signs(awake_seconds=9000.0, healthy_seconds=9000.0, members=(MEMBER,))


def signs(*agents: AgentSigns, member: Membership = MEMBER, **fields: object) -> Signs:
    """A process that lacks nothing, with these agents."""
    return replace(WELL, agents=agents, members=(member,), **fields)  # type: ignore[arg-type]


def test_idle_agent_with_messages_waiting_is_a_stall() -> None:
    """Nothing keeps it from working, and it does not work."""
    assert Stall(StallReason.AGENT_IDLE, "ingest", 101.0, unread=7) == stall_of(signs(IDLE), LIMITS)


@pytest.mark.parametrize(
    "found",
    [
        signs(replace(IDLE, idle_seconds=99.0)),
        signs(replace(IDLE, unread=0)),
        signs(replace(IDLE, unread_seconds=99.0)),
        signs(replace(IDLE, waits_for=WaitReason.STORE, waited_seconds=5.0)),
        signs(replace(IDLE, busy_seconds=500.0)),
        signs(IDLE, is_stopping=True),
        signs(IDLE, is_store_away=True),
        signs(IDLE, is_broker_away=True),
        signs(IDLE, healthy_seconds=99.0),
        signs(IDLE, awake_seconds=99.0),
        signs(IDLE, member=replace(MEMBER, settled_seconds=99.0)),
        signs(IDLE, member=replace(MEMBER, settled_seconds=0.0, unsettled_seconds=299.0, is_rebalancing=True)),
        signs(IDLE, member=replace(MEMBER, settled_seconds=0.0, unsettled_seconds=299.0, has_joined=False)),
    ],
    ids=[
        "a batch was finished lately", "nothing to read", "messages came just now", "waits for the store",
        "a batch is in hand", "is stopping", "store away", "broker away", "store or broker back a moment ago",
        "woken a moment ago", "partitions came a moment ago", "in a rebalance", "is starting",
    ],
)  # fmt: skip
def test_waiting_that_has_a_reason_is_no_stall(found: Signs) -> None:
    """Each of these alone excuses an agent that does nothing."""
    assert None is stall_of(found, LIMITS)


def test_batch_has_a_larger_limit_of_its_own() -> None:
    """A long batch is legitimate, one that never ends is not."""
    assert None is stall_of(signs(replace(IDLE, busy_seconds=999.0)), LIMITS)
    assert StallReason.BATCH_STUCK is _reason(signs(replace(IDLE, busy_seconds=1001.0)))


def test_wait_that_is_never_repeated_is_no_excuse_for_ever() -> None:
    """An attempt that hangs says nothing more, although the store answers others."""
    hanging = replace(IDLE, busy_seconds=5000.0, waits_for=WaitReason.STORE, waited_seconds=1001.0)
    assert StallReason.BATCH_STUCK is _reason(signs(hanging))


def test_joining_for_ever_is_a_stall_unless_a_batch_is_in_hand() -> None:
    """A rebalance waits for batches, and these have limits of their own."""
    lost = replace(MEMBER, settled_seconds=0.0, unsettled_seconds=301.0, is_rebalancing=True)
    assert StallReason.REBALANCE_STUCK is _reason(signs(replace(IDLE, unread=0), member=lost))
    assert None is stall_of(signs(replace(IDLE, busy_seconds=10.0), member=lost), LIMITS)


def test_timer_must_tick() -> None:
    """Late by the limit, or by twenty of its turns when these are longer."""
    timer = AgentSigns("watermarks", is_timer=True, idle_seconds=101.0, every_seconds=2.0)
    assert StallReason.TIMER_STUCK is _reason(signs(timer))
    assert None is stall_of(signs(replace(timer, every_seconds=60.0)), LIMITS)
    assert StallReason.TIMER_STUCK is _reason(signs(replace(timer, every_seconds=60.0, idle_seconds=1201.0)))
    assert None is stall_of(signs(replace(timer, waits_for=WaitReason.STORE, waited_seconds=9.0)), LIMITS)
    assert StallReason.TIMER_STUCK is _reason(signs(replace(timer, idle_seconds=0.0, busy_seconds=1001.0)))


def test_follower_must_come_further() -> None:
    """It is asked and answers, but what the topic holds does not arrive."""
    follower = AgentSigns("follower of gw.policy", is_timer=True, every_seconds=0.25, unread=3, unread_seconds=101.0)
    assert Stall(StallReason.FOLLOWER_STUCK, follower.name, 101.0, unread=3) == stall_of(signs(follower), LIMITS)
    assert None is stall_of(signs(replace(follower, unread_seconds=99.0)), LIMITS)
    assert None is stall_of(signs(follower, is_broker_away=True), LIMITS)


def test_tick_of_a_leader_must_come() -> None:
    """Its next tick always waits; one that is no leader has nothing to do."""
    member = replace(MEMBER, role="alert", is_leader=True)
    tick = AgentSigns("alert", idle_seconds=101.0, unread=1, unread_seconds=5000.0, every_seconds=3.0)
    assert StallReason.AGENT_IDLE is _reason(signs(tick, member=member))
    assert None is stall_of(signs(replace(tick, every_seconds=20.0), member=member), LIMITS)
    assert None is stall_of(signs(replace(tick, unread=0), member=replace(member, is_leader=False)), LIMITS)


def test_loop_must_answer_whatever_is_away() -> None:
    """But not more than since the process was woken."""
    assert Stall(StallReason.LOOP_BLOCKED, "event loop", 61.0) == loop_stall(61.0, 9000.0, LIMITS)
    assert None is loop_stall(61.0, 59.0, LIMITS)
    assert None is loop_stall(59.0, 9000.0, LIMITS)


@given(
    st.builds(
        AgentSigns,
        st.sampled_from(["ingest", "verify"]),
        st.booleans(),
        *[st.floats(0, 10_000)] * 2,
        st.integers(0, 9),
        st.floats(0, 10_000),
        st.sampled_from([None, *WaitReason]),
        *[st.floats(0, 10_000)] * 2,
    ),
    st.floats(0, 10_000),
    st.floats(0, 10_000),
)
def test_nothing_is_stuck_for_longer_than_it_could_have_worked(
    agent: AgentSigns, awake_seconds: float, healthy_seconds: float
) -> None:
    """Time in which the process stood still, or store or broker were away, never counts."""
    stall = stall_of(signs(agent, awake_seconds=awake_seconds, healthy_seconds=healthy_seconds), LIMITS)
    assert stall is None or LIMITS.idle < stall.seconds <= min(awake_seconds, healthy_seconds)


def _reason(found: Signs) -> StallReason | None:
    stall = stall_of(found, LIMITS)
    return None if stall is None else stall.reason
