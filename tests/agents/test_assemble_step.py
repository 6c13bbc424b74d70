"""The assemble step over fakes: spans in, traces in the store, and what is held until then."""

from datetime import datetime, timedelta

import pytest

from schemas.codec import schema_header
from schemas.draw import DrawnTrace
from schemas.errors import BrokerUnavailable
from schemas.span import Span, SpanKind
from streams.agents.assemble import Assemble
from streams.broker.topics import DEADLETTER, DRAWN, SPANS
from streams.messages import Message
from streams.store import ALL_TENANTS
from tests.agents.flow import Flow
from tests.builders import NOW
from tests.spans import ANSWER, TRACE_ID, call, request, retriever, root, span

BEGAN = NOW - timedelta(minutes=10)
PARTITION = (SPANS, 0)


def messages(*spans: Span, first_offset: int = 0, at: datetime = BEGAN) -> list[Message]:
    """These spans as messages of one partition, all recorded at one moment."""
    headers = (schema_header(Span),)
    return [
        Message(SPANS, 0, first_offset + number, one.trace_id.encode(), one.model_dump_json().encode(), headers, at)
        for number, one in enumerate(spans)
    ]


def stored(flow: Flow) -> DrawnTrace:
    """The one trace of the store."""
    found = flow.store.trace(TRACE_ID, tenants=ALL_TENANTS)
    assert found is not None
    return found.drawn


async def close(step: Assemble, seconds: float) -> None:
    """The partition is idle so long after its messages."""
    await step.tick([PARTITION], BEGAN + timedelta(seconds=seconds))


async def test_a_trace_is_stored_and_sent_on_when_it_closes_and_held_until_then() -> None:
    """Its messages are let go only afterwards."""
    flow = Flow()
    step = flow.assemble
    await step.handle(messages(*request()))
    assert ({PARTITION: 0}, []) == (step.held(), flow.publisher.messages(DRAWN))
    await close(step, 5)
    trace = stored(flow).trace
    assert (ANSWER, "root_end", 3, 0) == (trace.answer, trace.close_reason, trace.revision, trace.late_spans)
    assert ({}, 1) == (step.held(), len(flow.publisher.messages(DRAWN)))


async def test_a_late_span_makes_a_revision_with_the_time_and_draw_of_the_first() -> None:
    """Not a second trace; late spans are counted."""
    flow = Flow()
    step = flow.assemble
    await step.handle(messages(retriever(), root(output=None)))
    await close(step, 5)
    first = stored(flow)
    await step.handle(messages(call(), first_offset=2, at=BEGAN + timedelta(seconds=30)))
    await close(step, 100)
    second = stored(flow)
    assert (2, 3, 1) == (first.trace.revision, second.trace.revision, second.trace.late_spans)
    assert (ANSWER, "quiet") == (second.trace.answer, second.trace.close_reason)
    fixed = ("stratum", "inclusion_probability", "policy_id", "u")
    assert [getattr(first.draw, name) for name in fixed] == [getattr(second.draw, name) for name in fixed]
    assert first.trace.ts == second.trace.ts


async def test_a_redelivered_tail_is_merged_with_what_is_stored() -> None:
    """After a kill the last messages come again, without the first: the trace stays whole and at its revision."""
    flow = Flow()
    step = flow.assemble
    whole = messages(*request())
    await step.handle(whole)
    await close(step, 5)
    first = stored(flow)
    again = flow.assemble
    await again.handle(whole[2:])
    await close(again, 5)
    assert (first.trace, first.draw) == (stored(flow).trace, stored(flow).draw)


async def test_nothing_is_lost_when_the_broker_is_away_while_a_trace_closes() -> None:
    """The trace stays open and held, and is sent on at the next try."""
    flow = Flow()
    step = flow.assemble
    await step.handle(messages(*request()))
    flow.publisher.failures = 1
    with pytest.raises(BrokerUnavailable):
        await close(step, 5)
    assert {PARTITION: 0} == step.held()
    await close(step, 5)
    assert ({}, 1) == (step.held(), len(flow.publisher.messages(DRAWN)))


async def test_a_message_that_is_no_span_is_a_dead_letter_and_costs_no_neighbour() -> None:
    """Another writer on our own topic."""
    flow = Flow()
    step = flow.assemble
    bad = Message(SPANS, 0, 0, None, b"{", (), BEGAN)
    await step.handle([bad, *messages(*request(), first_offset=1)])
    await close(step, 5)
    assert ANSWER == stored(flow).trace.answer
    assert [b"{"] == [message.value for message in flow.publisher.messages(DEADLETTER)]


async def test_a_judges_own_trace_is_counted_and_let_go() -> None:
    """It is no answer of the product: nothing is stored and nothing is held."""
    flow = Flow()
    step = flow.assemble
    await step.handle(messages(span("judge", SpanKind.EVALUATOR, parent_id="")))
    await close(step, 5)
    assert flow.store.trace(TRACE_ID, tenants=ALL_TENANTS) is None
    assert ({}, {"no part of an answer": 1}) == (step.held(), dict(step.emitted))


async def test_a_lost_partition_is_forgotten() -> None:
    """Its next reader gets the same messages again."""
    flow = Flow()
    step = flow.assemble
    await step.handle(messages(*request()))
    step.lose([PARTITION])
    await close(step, 5)
    assert ({}, []) == (step.held(), flow.publisher.messages(DRAWN))
