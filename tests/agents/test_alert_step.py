"""The alert step over a memory store: what it folds, when, and what it does while something is away."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

import pytest

from alerts.config import JumpConfig
from alerts.folder import Folder
from alerts.rules import jump_rule, unmapped_rule
from alerts.unmapped import UnmappedConfig
from schemas.errors import BrokerUnavailable, NotifierRejected, NotifierUnavailable
from schemas.labels import AlertState
from schemas.slice import Slice
from streams.agents.alert import AlertStep
from streams.agents.notified import Notified
from streams.agents.policies import PolicyPublisher
from streams.agents.telling import Teller
from streams.broker.publisher import Publisher
from streams.broker.topics import NOTIFIED, POLICY
from streams.store import ALL_TENANTS, Store, Watermark
from tests.agents.flow import FakePublisher, Flow, native
from tests.builders import NOW, alert
from tests.fakes_notifiers import CollectingNotifier

TS = NOW - timedelta(minutes=10)
HOUR = timedelta(hours=1)
FIRING = alert(state=AlertState.FIRING, fired_at=NOW, updated_at=NOW)


@dataclass
class Clock:
    """A clock that tests set."""

    moment: datetime = NOW

    def __call__(self) -> datetime:
        """The moment."""
        return self.moment


def teller(receiver: CollectingNotifier, publisher: FakePublisher) -> Teller:
    """A teller with one receiver."""
    return Teller([receiver], Notified(), cast("Publisher", publisher))


def step_on(flow: Flow, clock: Clock) -> AlertStep:
    """An alert step on the flow's store."""
    store, publisher = cast("Store", flow.store), cast("Publisher", flow.publisher)
    return AlertStep(
        store=store,
        policies=PolicyPublisher(flow.known, publisher, store),
        folder=Folder(jump_rule(JumpConfig())),
        unmapped=Folder(unmapped_rule(UnmappedConfig())),
        teller=teller(CollectingNotifier(), flow.publisher),
        now=clock,
    )


def mark(flow: Flow, event_time: datetime) -> None:
    """Ingest has read so far."""
    flow.store.insert_watermarks([Watermark(topic="traces", partition=0, event_time=event_time, at=NOW)])


async def test_each_tick_says_up_to_when_the_policy_log_is_complete() -> None:
    """Without the heartbeat ingest would wait."""
    flow = Flow()
    await step_on(flow, Clock(NOW + timedelta(minutes=7))).tick()
    assert 1 == len(flow.publisher.sent[POLICY])


async def test_nothing_is_folded_without_a_watermark() -> None:
    """Nobody knows yet what is still to come."""
    flow = Flow()
    step = step_on(flow, Clock())
    await flow.ingest.handle([flow.message(native("t-1"))])
    await step.tick()
    assert step.folder.state.until is None


async def test_a_bucket_with_a_missing_verdict_waits() -> None:
    """A bucket closed early would hold only the easy verdicts."""
    flow = Flow()
    step = step_on(flow, Clock())
    await flow.ingest.handle([flow.message(native("t-1", ts=TS.isoformat()))])
    mark(flow, NOW - timedelta(minutes=1))
    await step.tick()
    assert step.folder.state.until is None
    await flow.verify_and_sink()
    await step.tick()
    assert NOW - timedelta(minutes=5) == step.folder.state.until


async def test_a_missing_verdict_is_waited_for_no_longer_than_a_day() -> None:
    """While verify is behind, patience is 24 hours after the watermark passed."""
    flow = Flow()
    clock = Clock()
    step = step_on(flow, clock)
    await flow.ingest.handle([flow.message(native("t-1", ts=TS.isoformat()))])
    mark(flow, NOW)
    await step.tick()
    clock.moment = NOW + timedelta(hours=25)
    await step.tick()
    assert NOW == step.folder.state.until


async def test_a_tick_that_fails_is_made_up_by_the_next() -> None:
    """The broker away at the heartbeat: the round fails, the next one folds."""
    flow = Flow()
    step = step_on(flow, Clock())
    mark(flow, NOW)
    await flow.ingest.handle([flow.message(native("t-1", ts=TS.isoformat()))])
    await flow.verify_and_sink()
    flow.publisher.failures = 1
    with pytest.raises(BrokerUnavailable):
        await step.tick()
    await step.tick()
    assert NOW == step.folder.state.until


async def test_an_alert_is_sent_once() -> None:
    """The same state again is not news, also for another teller that has read the topic."""
    publisher, receiver = FakePublisher(), CollectingNotifier()
    first = teller(receiver, publisher)
    await first.tell(FIRING)
    await first.tell(FIRING)
    notified = Notified()
    for message in publisher.messages(NOTIFIED):
        notified.on_record(message.key, message.value)
    await Teller([receiver], notified, cast("Publisher", publisher)).tell(FIRING)
    assert [FIRING] == receiver.received


async def test_the_examples_of_a_page_outlive_retention() -> None:
    """Whoever looks into an incident months later still sees what it was about."""
    flow, clock = Flow(), Clock()
    await flow.ingest.handle([flow.message(native("bad", answer="You can return a lamp within 90 days [returns]."))])
    await flow.verify_and_sink()
    stored = flow.store.trace("bad", tenants=ALL_TENANTS)
    assert stored is not None
    trace = stored.drawn.trace
    of_slice = Slice(intent=trace.intent, tier=trace.tier)
    await step_on(flow, clock)._tell(FIRING.model_copy(update={"slice": of_slice, "since": trace.ts}))
    assert [(trace.ts, "bad")] == list(flow.store.reviews.kept)


async def test_a_receiver_that_was_away_is_told_later() -> None:
    """Its alert stays with the teller until it is delivered."""
    receiver = CollectingNotifier(NotifierUnavailable("away"))
    told = teller(receiver, FakePublisher())
    await told.tell(FIRING)
    assert [] == receiver.received
    receiver.failure = None
    await told.retry()
    await told.retry()
    assert [FIRING] == receiver.received


async def test_a_receiver_that_refuses_is_not_asked_again() -> None:
    """The alert stays on the page; the log says what the receiver answered."""
    receiver = CollectingNotifier(NotifierRejected("no"))
    told = teller(receiver, FakePublisher())
    await told.tell(FIRING)
    receiver.failure = None
    await told.retry()
    assert [] == receiver.received


def test_foreign_messages_in_the_topic_are_passed_over() -> None:
    """Anyone may write into a topic."""
    notified = Notified()
    for key in (None, b"", b"a", b"a\x1fb\x1fc", b"\xff\x1ffiring"):
        notified.on_record(key, b"1")
    assert set() == notified.sent


def test_alerts_of_the_store_count_as_sent_after_an_embedded_restart() -> None:
    """The embedded broker forgets what was sent; paging it all again would be worse."""
    notified = Notified()
    notified.assume([FIRING], ["receiver"])
    assert {(FIRING.alert_id, AlertState.FIRING, "receiver")} == notified.sent


async def test_a_deploy_seen_in_the_traces_is_recorded_once() -> None:
    """Pages list what changed, and what was seen must not come back to the fold as a mark."""
    flow = Flow()
    step = step_on(flow, Clock())
    for minute in range(60, 0, -1):
        versions = {"prompt": "p-1" if minute > 30 else "p-2"}
        ts = (NOW - timedelta(minutes=minute)).isoformat()
        await flow.ingest.handle([flow.message(native(f"t-{minute}", ts=ts, versions=versions))])
    await flow.verify_and_sink()
    mark(flow, NOW)
    for _ in range(2):
        await step.tick()
    found = [(deploy.intent, deploy.field, deploy.value, deploy.source) for deploy in flow.store.deploys(TS - HOUR)]
    assert found == [("returns", "prompt", "p-2", "detected")]
