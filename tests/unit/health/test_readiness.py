"""What keeps a process from being ready, and since when."""

from dataclasses import replace

import pytest

from streams.agents.vitals import WaitReason
from streams.health.readiness import NotReady, Waiting, since, waiting_of
from streams.health.signs import AgentSigns, Membership, Signs
from streams.health.watchdog import Limits

MEMBER = Membership(
    "verify", "groundwatch.verify", has_joined=True, partitions=2, topic_partitions=2, settled_seconds=9.0
)
AGENT = AgentSigns("verify", idle_seconds=9.0)
WELL = Signs(awake_seconds=9.0, healthy_seconds=9.0, members=(MEMBER,), agents=(AGENT,))


def waiting(found: Signs) -> list[tuple[str, NotReady]]:
    """Parts and reasons."""
    return [(one.part, one.why) for one in waiting_of(found, Limits(), old_batch_seconds=60.0)]


def test_process_that_lacks_nothing_is_ready() -> None:
    """Its roles have partitions, its services answer."""
    assert [] == waiting(WELL)


@pytest.mark.parametrize(
    ("member", "why"),
    [
        (replace(MEMBER, has_crashed=True), NotReady.CRASHED),
        (replace(MEMBER, has_joined=False), NotReady.STARTING),
        (replace(MEMBER, is_rebalancing=True), NotReady.REBALANCING),
        (replace(MEMBER, partitions=0, topic_partitions=0), NotReady.NO_PARTITIONS),
        (replace(MEMBER, partitions=0, topic_partitions=None), NotReady.NO_PARTITIONS),
    ],
)
def test_role_without_its_partitions_is_waited_for(member: Membership, why: NotReady) -> None:
    """Each for its own reason."""
    assert [("verify", why)] == waiting(replace(WELL, members=(member,)))


def test_standby_is_ready() -> None:
    """More workers than partitions: one that has none will take over at once."""
    standby = replace(MEMBER, partitions=0, topic_partitions=8)
    assert standby.is_standby
    assert [] == waiting(replace(WELL, members=(standby,)))


@pytest.mark.parametrize(
    ("agent", "why"),
    [
        (replace(AGENT, busy_seconds=61.0), NotReady.BATCH_OLD),
        (replace(AGENT, busy_seconds=5.0, waits_for=WaitReason.STORE), NotReady.WAITS_FOR_STORE),
    ],
)
def test_agent_that_makes_no_progress_is_waited_for(agent: AgentSigns, why: NotReady) -> None:
    """A batch in hand for too long, or one that waits."""
    assert [("verify", why)] == waiting(replace(WELL, agents=(agent,)))


def test_services_stopping_and_stalls_are_told() -> None:
    """The whole process waits for these."""
    assert [("process", NotReady.STARTING)] == waiting(Signs(is_starting=True))  # roles without a member yet
    assert [("store", NotReady.STORE_AWAY), ("broker", NotReady.BROKER_AWAY)] == waiting(
        replace(WELL, is_store_away=True, is_broker_away=True)
    )
    assert [("process", NotReady.STOPPING)] == waiting(replace(WELL, is_stopping=True))
    stalled = AgentSigns("timer", is_timer=True, idle_seconds=9999.0)
    found = replace(WELL, awake_seconds=9999.0, healthy_seconds=9999.0, agents=(stalled,))
    assert [("timer", NotReady.STALLED)] == waiting(found)


def test_every_wait_has_its_word() -> None:
    """A reason that is added to the one list is missing from no other."""
    for reason in WaitReason:
        assert [("verify", f"waits_for_{reason}")] == waiting(replace(WELL, agents=(replace(AGENT, waits_for=reason),)))


def test_reason_keeps_its_time_while_it_stands() -> None:
    """And begins anew when it comes back."""
    one, other = Waiting("verify", NotReady.STARTING), Waiting("store", NotReady.STORE_AWAY)
    first = since([one], {}, 10.0)
    second = since([one, other], first, 20.0)
    assert {one: 10.0, other: 20.0} == second
    assert {one: 40.0} == since([one], since([], second, 30.0), 40.0)
