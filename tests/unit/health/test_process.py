"""What a process knows of itself, and the watchdog's thread that judges it."""

from pathlib import Path

import pytest

from streams.agents.batches import Lifeline
from streams.agents.vitals import Follower, Vitals
from streams.health.lag import GroupLag, Place
from streams.health.process import STORE, Process, Service
from streams.health.pulse import SUSPENDED_SECONDS, Pulse, remember, remembered
from streams.health.watchdog import Limits, Stall, StallReason
from tests.unit.health.hands import Hand, member_of

LIMITS = Limits(idle=100.0, batch=1000.0, rebalance=300.0, loop=60.0)


@pytest.fixture
def hand() -> Hand:
    """The clock of the process."""
    return Hand()


@pytest.fixture
def process(hand: Hand) -> Process:
    """A process with one role, everything well for an hour."""
    found = Process(Lifeline(), LIMITS, old_batch_seconds=60.0, clock=hand)
    found.services = {STORE: Service(), "internal": Service()}
    vitals = found.lifeline.vitals.agents["verify"] = Vitals(hand)
    found.members["verify"] = member_of("verify", vitals, hand)
    for service in found.services.values():
        service.answered(hand())
    hand.at += 3600.0
    return found


def confirmed(process: Process, hand: Hand) -> None:
    """The broker has told again what it told before."""
    process.take_lag("verify", lagging(hand))


def lagging(hand: Hand) -> GroupLag:
    """Four messages that nobody has handled."""
    return GroupLag(hand(), {("gw.drawn", 0): Place(0, 10, 6).of_ours(6)})


def pulse_of(process: Process, hand: Hand, *, cpu_share: float = 0.0) -> tuple[Pulse, list[Stall]]:
    """A watchdog that notes what it would have ended the process for."""
    ended: list[Stall] = []
    pulse = Pulse(process, ended.append, cpu_seconds=lambda: hand() * cpu_share)
    return pulse, ended


def run(  # noqa: PLR0913  who does what in these seconds
    process: Process, pulse: Pulse, hand: Hand, seconds: int, *, looks: bool = True, asks: bool = True
) -> None:
    """Second after second: the broker is asked, the loop looks, the thread turns."""
    for _ in range(seconds):
        hand.at += 1.0
        if asks and process.lags.get("verify", GroupLag(0.0)).unread:
            confirmed(process, hand)
        if looks:
            process.look_again()
        pulse.turn()


def slept(process: Process, hand: Hand) -> tuple[Pulse, list[Stall]]:
    """Half of what an agent may idle beside unread messages, then a quarter of an hour of SIGSTOP; as ``pulse_of``."""
    process.look_again()
    pulse, ended = pulse_of(process, hand)
    process.take_lag("verify", lagging(hand))
    run(process, pulse, hand, 50)
    hand.at += 900.0
    return pulse, ended


def test_agent_that_leaves_messages_alone_ends_the_process(process: Process, hand: Hand) -> None:
    """After the limit, not before; the messages must have waited as long."""
    process.look_again()
    pulse, ended = pulse_of(process, hand)
    process.take_lag("verify", lagging(hand))
    run(process, pulse, hand, 100)
    assert [] == ended
    run(process, pulse, hand, 2)
    assert (StallReason.AGENT_IDLE, "verify", 4) == (ended[0].reason, ended[0].part, ended[0].unread)


def test_lag_that_the_broker_no_longer_confirms_says_nothing(process: Process, hand: Hand) -> None:
    """It may be silent before anybody has noticed."""
    process.look_again()
    pulse, ended = pulse_of(process, hand)
    confirmed(process, hand)
    run(process, pulse, hand, 50)
    run(process, pulse, hand, 5000, asks=False)
    assert [] == ended


def test_follower_that_stands_still_before_the_end_is_behind() -> None:
    """One that moves, or is at the end, is not."""
    follower = Follower("gw.policy", lambda: position)
    position = 5
    follower.compare(9, 10.0)
    assert 0.0 == follower.behind_since, "it may be on its way"
    follower.compare(9, 20.0)
    follower.compare(12, 30.0)
    assert (20.0, 7) == (follower.behind_since, follower.unread)
    position = 6
    follower.compare(12, 40.0)
    assert 0.0 == follower.behind_since
    position = 12
    follower.compare(12, 50.0)
    follower.compare(12, 60.0)
    assert (0.0, 0) == (follower.behind_since, follower.unread)


def test_lag_that_was_worked_off_begins_anew(process: Process, hand: Hand) -> None:
    """A quiet topic on which a message has just come is no stall."""
    process.look_again()
    pulse, ended = pulse_of(process, hand)
    process.take_lag("verify", lagging(hand))
    run(process, pulse, hand, 60)
    process.take_lag("verify", GroupLag(hand()))
    process.take_lag("verify", lagging(hand))
    run(process, pulse, hand, 99)
    assert [] == ended


def test_stopped_and_continued_process_gets_its_time_again(process: Process, hand: Hand) -> None:
    """After a quarter of an hour of SIGSTOP neither the idle agent nor the silent loop counts at once."""
    pulse, ended = slept(process, hand)
    pulse.turn()
    assert (1, []) == (process.suspensions, ended)
    run(process, pulse, hand, 99)
    assert [] == ended
    run(process, pulse, hand, 3)
    assert StallReason.AGENT_IDLE is ended[0].reason


def test_loop_may_wake_before_the_thread_that_watches_it(process: Process, hand: Hand) -> None:
    """Its look then counts the time asleep; the thread, which knows, must not act on it."""
    pulse, ended = slept(process, hand)
    confirmed(process, hand)
    process.look_again()
    hand.at += 0.01
    pulse.turn()
    assert (1, []) == (process.suspensions, ended)


def test_process_that_computed_was_not_stopped(process: Process, hand: Hand) -> None:
    """A late turn with the processor used is a thread that was not let in."""
    process.look_again()
    pulse, _ = pulse_of(process, hand, cpu_share=0.9)
    hand.at += SUSPENDED_SECONDS + 30.0
    pulse.turn()
    assert 0 == process.suspensions


def test_loop_that_does_not_look_ends_the_process(process: Process, hand: Hand) -> None:
    """Also while the store is away."""
    process.services[STORE].failed(hand())
    process.look_again()
    pulse, ended = pulse_of(process, hand)
    run(process, pulse, hand, 60, looks=False)
    assert [] == ended
    run(process, pulse, hand, 1, looks=False)
    assert [StallReason.LOOP_BLOCKED] == [one.reason for one in ended]


def test_stopping_process_is_left_to_its_drain(process: Process, hand: Hand) -> None:
    """Which has a bound of its own, and during which nothing looks any more."""
    process.look_again()
    pulse, ended = pulse_of(process, hand)
    process.lifeline.stopping.set()
    run(process, pulse, hand, 300, looks=False)
    assert [] == ended


def test_time_without_store_or_broker_never_counts(process: Process, hand: Hand) -> None:
    """The limit begins when both answer again."""
    process.look_again()
    pulse, ended = pulse_of(process, hand)
    process.take_lag("verify", lagging(hand))
    process.services["internal"].failed(hand())
    run(process, pulse, hand, 5000)
    process.services["internal"].answered(hand())
    run(process, pulse, hand, 99)
    assert [] == ended
    run(process, pulse, hand, 3)
    assert [] != ended


def test_service_that_was_never_asked_is_unknown(hand: Hand) -> None:
    """Neither away nor a reason to judge anybody."""
    process = Process(Lifeline(), LIMITS, old_batch_seconds=60.0, clock=hand)
    process.services = {STORE: Service()}
    hand.at += 1e6
    signs = process.look_again().signs
    assert (0.0, False) == (signs.healthy_seconds, signs.is_store_away)


def test_stalls_are_remembered_over_restarts(tmp_path: Path) -> None:
    """Counted by reason, for metrics; what is not of our making counts as nothing."""
    stall = Stall(StallReason.AGENT_IDLE, "verify", 301.0)
    remember(tmp_path, stall)
    remember(tmp_path, stall)
    counts, at = remembered(tmp_path)
    assert ({"agent_idle": 2}, True) == (dict(counts), at is not None)
    (tmp_path / "stalls.json").write_text('["x"]')
    assert ({}, None) == (dict(remembered(tmp_path)[0]), remembered(tmp_path)[1])
