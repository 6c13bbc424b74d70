"""What the steps guarantee: everything is accounted for, once, whatever fails in between."""

import asyncio
import gc
import weakref
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

import pytest

from schemas.codec import decode
from schemas.draw import DrawnTrace
from schemas.errors import BrokerUnavailable, PolicyIncomplete, StoreUnavailable
from schemas.labels import Outcome
from schemas.policy import PolicyDocument, Sampling
from schemas.trace import Trace
from streams.agents.batches import CeilingReached
from streams.agents.deadletter import Ceiling
from streams.broker.topics import DEADLETTER, DRAWN
from streams.messages import Message
from streams.sources.raw import Decoded
from streams.store import ALL_TENANTS, MessageFate, TraceHead
from tests.agents import flow as steps
from tests.agents.flow import Flow, native, policies
from tests.builders import NOW


async def test_a_trace_gets_a_verdict() -> None:
    """From a message to a stored verdict."""
    flow = Flow()
    await flow.ingest.handle([flow.message(native("t-1"))])
    await flow.verify_and_sink()
    found = flow.store.trace("t-1", tenants=ALL_TENANTS)
    assert found is not None
    assert [Outcome.GROUNDED] == [verdict.outcome for verdict in found.verdicts]


async def test_a_wrong_figure_is_hallucinated() -> None:
    """The detector's word reaches the outcome."""
    flow = Flow()
    await flow.ingest.handle([flow.message(native("t-1", answer="You can return a lamp within 90 days [returns]."))])
    await flow.verify_and_sink()
    assert 1 == len(flow.store.flagged(tenants=ALL_TENANTS))


async def test_verify_reuses_what_ingest_judged() -> None:
    """At an equal fingerprint a claim is judged once."""
    flow = Flow()
    await flow.ingest.handle([flow.message(native("t-1"))])
    judged = flow.detector.judged  # type: ignore[attr-defined]
    await flow.verify_and_sink()
    assert judged == flow.detector.judged  # type: ignore[attr-defined]


async def test_a_batch_that_comes_again_changes_nothing() -> None:
    """At least once delivery, counted once."""
    flow = Flow()
    batch = [flow.message(native(f"t-{n}")) for n in range(5)]
    for _ in range(3):
        await flow.ingest.handle(batch)
        await flow.verify_and_sink()
    counts = flow.store.counts()
    assert (5, 5, 5) == (counts.traces, counts.drawn, counts.verdicts)


async def test_a_broker_outage_loses_nothing() -> None:
    """The batch fails as a whole and comes again as a whole."""
    flow = Flow()
    flow.publisher.failures = 1
    batch = [flow.message(native("t-1")), flow.message(b"junk")]
    with pytest.raises(BrokerUnavailable):
        await flow.ingest.handle(batch)
    await flow.ingest.handle(batch)
    assert (1, 1) == (len(flow.publisher.sent[DRAWN]), len(flow.publisher.sent[DEADLETTER]))


async def test_a_failed_batch_ends_when_all_of_its_steps_have_ended() -> None:
    """It comes again at once, and a step of the first try must not meet itself at the store."""
    flow = Flow()
    flow.publisher.failures = 1
    recorded: list[str] = []

    async def record(fates: Sequence[MessageFate]) -> None:
        recorded.append("begun")
        await asyncio.sleep(0.05)
        recorded.append(f"ended {len(fates)}")

    ingest = flow.ingest
    ingest.record = record
    with pytest.raises(BrokerUnavailable):
        await ingest.handle([flow.message(native("t-1"))])
    assert ["begun", "ended 1"] == recorded


def test_a_failed_batch_leaves_nothing_to_the_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    """An outage is hundreds of attempts, and the collector comes rarely: what each of them read goes with its error."""
    flow = Flow()
    read: list[weakref.ref[Trace]] = []

    def away(_rows: Sequence[TraceHead]) -> None:
        raise StoreUnavailable("the fake store is away")

    async def watched(message: Message) -> Decoded:
        found = await steps.decode(message)
        read.extend(map(weakref.ref, found.traces))
        return found

    async def attempt() -> None:
        step = flow.ingest
        step.decode = watched
        with suppress(StoreUnavailable):  # pytest.raises would keep the error, and with it the batch
            await step.handle([flow.message(native("t-1"))])

    monkeypatch.setattr(flow.store, "insert_heads", away)
    gc.disable()
    try:
        asyncio.run(attempt())
        assert [None] == [trace() for trace in read]
    finally:
        gc.enable()


async def test_a_redelivery_after_a_change_of_detector_keeps_the_draw() -> None:
    """Stratum and π are fixed at first emission."""
    flow = Flow()
    await flow.ingest.handle([flow.message(native("t-1"))])
    first = decode(DrawnTrace, flow.publisher.sent[DRAWN][0].value).draw
    flow.known = policies(PolicyDocument(name="less", sampling=Sampling(default_probability=0.5)))
    await flow.ingest.handle([flow.message(native("t-1"))])
    again = decode(DrawnTrace, flow.publisher.sent[DRAWN][1].value).draw
    assert (first.inclusion_probability, first.stratum, first.policy_id) == (
        again.inclusion_probability,
        again.stratum,
        again.policy_id,
    )


async def test_no_trace_is_drawn_beyond_the_policy_log() -> None:
    """A policy that may still come must not be overtaken."""
    flow = Flow(known=policies(now=NOW - timedelta(hours=1)))
    with pytest.raises(PolicyIncomplete):
        await flow.ingest.handle([flow.message(native("t-1"))])
    assert 0 == flow.store.counts().traces


async def test_an_old_trace_is_counted_as_expired() -> None:
    """A clock gone wrong leaves a count, not a row that the store drops."""
    flow = Flow()
    await flow.ingest.handle([flow.message(native("t-1", ts="1970-01-01T00:00:00Z"))])
    assert (0, 1) == (flow.store.counts().traces, sum(flow.store.expired().values()))


async def test_the_ceiling_keeps_the_batch_unacknowledged() -> None:
    """Reached in the middle of a batch, nothing of that batch is put aside."""
    flow = Flow()
    step = flow.ingest
    step.ceiling = Ceiling(run_length=3)
    with pytest.raises(CeilingReached):
        await step.handle([flow.message(b"junk") for _ in range(3)])
    assert [] == flow.publisher.sent[DEADLETTER]


async def test_drawn_is_what_the_policy_says() -> None:
    """Half of the traces at π = 0.5, and exactly those with u below it."""
    flow = Flow(known=policies(PolicyDocument(name="half", sampling=Sampling(default_probability=0.5))))
    await flow.ingest.handle([flow.message(native(f"t-{n}")) for n in range(400)])
    counts = flow.store.counts()
    assert 400 == counts.traces
    assert 150 < counts.drawn < 250
    draws = [decode(DrawnTrace, outgoing.value).draw for outgoing in flow.publisher.sent[DRAWN]]
    assert all(draw.u < 0.5 and draw.drawn for draw in draws)


async def test_a_trace_too_old_to_be_stored_takes_no_id_from_another() -> None:
    """Of two messages with one id, in one batch, the recent one is stored and the old one counted."""
    flow = Flow()
    old = native("t", ts="2020-01-01T00:00:00Z", answer="Something else.")
    await flow.ingest.handle([flow.message(old), flow.message(native("t"))])
    assert [] == flow.publisher.messages(DEADLETTER)
    assert (1, 1) == (flow.store.counts().traces, sum(flow.store.expired().values()))
