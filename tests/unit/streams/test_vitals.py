"""What an agent's vitals say of it."""

import pytest

from schemas.errors import BrokerUnavailable, ConfigError, PolicyIncomplete, Retryable, SchemaTooNew, StoreUnavailable
from streams.agents.vitals import BATCH_SECONDS, AllVitals, Vitals, WaitReason, wait_reason


class Hand:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        """The time."""
        return self.at


def test_batch_in_hand_is_busy_until_it_is_done() -> None:
    """Begin sets the time, done counts the batch, its messages and its seconds in the right part of the histogram."""
    hand = Hand()
    vitals = Vitals(hand)
    vitals.begin()
    assert vitals.busy_since == 100.0
    hand.at = 102.0
    vitals.done(7)
    assert (0.0, 102.0, 1, 7, 2.0) == (
        vitals.busy_since,
        vitals.last_done_at,
        vitals.batches,
        vitals.messages,
        vitals.busy_seconds,
    )
    assert 1 == vitals.histogram[BATCH_SECONDS.index(2.5)]


def test_step_without_messages_is_no_sign_of_reading() -> None:
    """What an agent does between two batches must not hide that it takes none."""
    hand = Hand()
    vitals = Vitals(hand)
    vitals.begin()
    hand.at = 105.0
    vitals.done(0)
    assert (0.0, 0.0, 0) == (vitals.busy_since, vitals.last_done_at, vitals.batches)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (StoreUnavailable("x"), WaitReason.STORE),
        (BrokerUnavailable("x"), WaitReason.BROKER),
        (PolicyIncomplete("x"), WaitReason.POLICY),
        (SchemaTooNew("x"), WaitReason.UPGRADE),
        (Retryable("x"), WaitReason.OTHER),
        (ConfigError("x"), WaitReason.OTHER),
        (None, WaitReason.OTHER),
    ],
)
def test_reason_of_a_wait_is_one_of_a_closed_set(error: BaseException | None, reason: WaitReason) -> None:
    """No text of an error becomes a label."""
    assert reason is wait_reason(error)


def test_wait_is_counted_and_over_when_the_batch_is_done() -> None:
    """The reason stands while the batch waits, its count for ever."""
    vitals = Vitals(Hand())
    vitals.begin()
    vitals.wait(StoreUnavailable("x"))
    assert (WaitReason.STORE, 100.0) == (vitals.waits_for, vitals.waited_at)
    vitals.done(1)
    assert (None, 1) == (vitals.waits_for, vitals.waits[WaitReason.STORE])


def test_step_that_gave_up_is_not_in_hand_but_still_waits() -> None:
    """A timer's step that comes again must not look like one that hangs."""
    vitals = Vitals(Hand())
    vitals.begin()
    vitals.give_up(BrokerUnavailable("x"))
    assert (0.0, WaitReason.BROKER) == (vitals.busy_since, vitals.waits_for)


def test_topic_made_anew_has_lower_positions() -> None:
    """What was handled last says where reading is, also when offsets began again."""
    vitals = Vitals(Hand())
    vitals.read([("t", 0, 900)])
    vitals.read([("t", 0, 3), ("t", 1, 8)])
    assert {("t", 0): 4, ("t", 1): 9} == vitals.handled
    vitals.forget([("t", 0), ("t", 5)])
    assert {("t", 1): 9} == vitals.handled


def test_agents_and_timers_are_kept_apart() -> None:
    """A timer of an agent's name is another thing."""
    every = AllVitals()
    every.of("alert").begin()
    assert every.of_timer("alert", 5.0).busy_since == 0.0
    assert every.of("alert") is every.of("alert")
