"""A role's place in its group, from what its app tells."""

from typing import Any

from faust.exceptions import ConsumerNotStarted
from faust.types import TP

from streams.agents.vitals import Vitals
from tests.unit.health.hands import Hand, member_of


def test_settled_time_begins_with_the_assignment() -> None:
    """And a rebalance ends it."""
    hand = Hand()
    member = member_of("verify", Vitals(hand), hand)
    hand.at += 50.0
    assert (50.0, 0.0, 1) == (
        member.look().settled_seconds,
        member.look().unsettled_seconds,
        member.look().partitions,
    )
    member.app.rebalancing = True
    member.look()
    hand.at += 7.0
    found = member.look()
    assert (0.0, 7.0, True, 0) == (
        found.settled_seconds,
        found.unsettled_seconds,
        found.is_rebalancing,
        found.partitions,
    )


async def test_assignment_counts_and_revocation_forgets_what_was_handled() -> None:
    """What others handle from now on is unknown here."""
    hand = Hand()
    vitals = Vitals(hand)
    member = member_of("verify", vitals, hand)
    member._has_joined = False
    assert not member.look().has_joined
    await member.app.on_partitions_assigned.send(member.app, {TP("gw.drawn", 0)})
    vitals.read([("gw.drawn", 0, 4)])
    assert (True, 1) == (member.look().has_joined, member.look().rebalances)
    await member.app.on_partitions_revoked.send(member.app, {TP("gw.drawn", 0)})
    assert {} == vitals.handled


def test_app_without_a_consumer_reads_nothing() -> None:
    """It says that it has started a moment before its consumer has."""
    hand = Hand()
    member = member_of("verify", Vitals(hand), hand)

    def nothing_yet() -> None:
        raise ConsumerNotStarted

    consumer: Any = member.app.consumer
    consumer.assignment = nothing_yet
    assert ((), {}) == (member.partitions, member.highs())


def test_only_a_timer_can_lead() -> None:
    """Other apps hold no election."""
    hand = Hand()
    assert not member_of("verify", Vitals(hand), hand).look().is_leader
    assert member_of("alert", Vitals(hand), hand, is_timer=True).look().is_leader
