"""Spans that are too many, too large, sent too often or not the product's own: bounded, counted, no harm to others."""

from datetime import timedelta

from schemas.labels import Outcome
from schemas.trace import MAX_ITEMS, MAX_NAME_CHARS
from streams.agents.assemble import SPANS_LEFT_OUT, TOO_LATE
from streams.assembly import ClosingRules
from streams.broker.topics import DEADLETTER
from tests import spans
from tests.agents.flow import native
from tests.agents.span_flow import AT, GRACE, PARTITION, QUIET, SpanFlow
from tests.builders import NOW
from tests.openinference import ANSWER, call, hex_id, message, request, retriever, root, span


async def test_a_large_attribute_a_lone_surrogate_and_a_bad_span_cost_no_neighbour() -> None:
    """The message of the bad span is also a dead letter; everything readable is stored."""
    run = SpanFlow()
    large = root("large", AT, output__value="All is well here. " * 180_000)
    odd = root("odd", AT, output__value=f"{ANSWER} \ud83d")
    bad = {**root("bad", AT), "spanId": "not hex"}
    await run.send([large], [odd], [bad, *request("beside", AT)], request("next", AT))
    await run.after(GRACE)
    assert 3_240_000 == len(run.trace("large").answer or "")
    assert "repaired_text" in run.trace("odd").flags
    assert ANSWER == run.trace("beside").answer == run.trace("next").answer
    (letter,) = run.flow.publisher.messages(DEADLETTER)
    assert message([bad, *request("beside", AT)]) == letter.value


async def test_a_span_that_the_broker_does_not_take_goes_on_without_its_texts() -> None:
    """The trace says that it was cut, and is not judged."""
    run = SpanFlow()
    run.flow.publisher.max_value_bytes = 100_000
    await run.send([root("long", AT, output__value="All is well here. " * 10_000), retriever("long", AT)])
    await run.after(GRACE)
    assert "truncated" in run.trace("long").flags
    assert [(2, Outcome.UNRESOLVED_TRUNCATED)] == await run.outcomes("long")


async def test_three_thousand_spans_close_at_the_cap_and_stay_one_trace() -> None:
    """The reason stays, though the rest and the root come late."""
    run = SpanFlow()
    steps = [
        span("long", f"s{n}", AT + timedelta(milliseconds=n), openinference__span__kind="TOOL") for n in range(2999)
    ]
    for first in range(0, 2999, 500):
        await run.send(steps[first : first + 500])
    assert ("cap_spans", True) == (run.trace("long").close_reason, "no_root" in run.trace("long").flags)
    await run.send([root("long", AT)])
    await run.after(GRACE)
    trace = run.trace("long")
    assert (ANSWER, 3000, "cap_spans") == (trace.answer, trace.revision, trace.close_reason)
    assert 1 == run.flow.store.counts().traces


async def test_a_trace_that_never_ends_stops_growing() -> None:
    """Beyond several times the cap only its root is taken in, and it says so."""
    run = SpanFlow(rules=ClosingRules(spans=10))
    for first in range(0, 200, 10):
        await run.send([span("endless", f"s{first + n}", AT) for n in range(10)])
    assert ("cap_spans", 40) == (run.trace("endless").close_reason, run.trace("endless").revision)
    await run.send([span("endless", "more", AT), root("endless", AT)])
    await run.after(GRACE)
    trace = run.trace("endless")
    assert (ANSWER, 41, True) == (trace.answer, trace.revision, SPANS_LEFT_OUT in trace.flags)
    await run.send([root("endless", AT, tag="again")])
    await run.after(QUIET)
    assert (41, True) == (run.trace("endless").revision, SPANS_LEFT_OUT in run.trace("endless").flags)
    assert {} == run.assemble.held()


async def test_a_span_exported_29_times_counts_once() -> None:
    """Byte for byte the same: one copy, one revision, one passage."""
    run = SpanFlow()
    copies = request("again", AT)
    await run.send(*([one] for one in copies for _ in range(29)))
    await run.after(GRACE)
    await run.send(*([one] for one in copies for _ in range(3)))
    await run.after(QUIET)
    trace = run.trace("again")
    assert (3, 0, 1) == (trace.revision, trace.late_spans, len(trace.passages or ()))
    assert 1 == run.flow.store.counts().traces


async def test_judges_and_our_own_calls_are_left_out() -> None:
    """Traces of judges are not stored; what a judge does within a trace is no part of its answer."""
    run = SpanFlow()
    judge = span("loop", "judge", AT, openinference__span__kind="EVALUATOR", output__value="It is wrong.")
    below = call("loop", AT + timedelta(seconds=1), "The answer is wrong.", name="below")
    below["parentSpanId"] = hex_id("judge", 8)
    ours = [span("ours", "root", AT, groundwatch__layer="judge", output__value="unsupported")]
    theirs = [root("theirs", AT, openinference__span__kind="EVALUATOR")]
    await run.send([*request("loop", AT), judge, below], ours, theirs)
    await run.after(QUIET)
    assert (ANSWER, None, None) == (run.trace("loop").answer, run.stored("ours"), run.stored("theirs"))
    assert {"root_end": 1, "no part of an answer": 2} == dict(run.assemble.emitted)
    assert {} == run.assemble.held()


async def test_more_passages_than_a_trace_holds_are_cut_and_say_so() -> None:
    """An odd retriever must not stop the stream."""
    run = SpanFlow()
    pages = [retriever("wide", AT, *(f"Page {n} {m}" for m in range(900)), name=f"r{n}") for n in range(12)]
    await run.send(*([one] for one in pages), [root("wide", AT)])
    await run.after(GRACE)
    trace = run.trace("wide")
    assert (MAX_ITEMS, True) == (len(trace.passages or ()), "truncated" in trace.flags)


async def test_what_no_trace_can_hold_is_a_dead_letter_and_costs_no_neighbour() -> None:
    """Not an error that comes again for ever."""
    run = SpanFlow()
    await run.send(request("fine", AT))
    tenant = spans.root(trace_id="bad", tenant="t" * (MAX_NAME_CHARS + 1))
    run.assemble.open.add(PARTITION, 90, NOW, tenant, 1)
    await run.after(QUIET)
    letters = [(one.header("gw-reason"), one.key) for one in run.flow.publisher.messages(DEADLETTER)]
    assert ([(b"wrong_type", b"bad")], ANSWER) == (letters, run.trace("fine").answer)
    assert {} == run.assemble.held()


async def test_spans_after_the_stored_ones_are_dropped_change_nothing() -> None:
    """What is left would tear the trace; the same for spans of a trace that came whole."""
    run = SpanFlow()
    await run.send(request("old", AT), native(hex_id("whole", 16)))
    await run.after(GRACE)
    before = run.stored("old"), run.stored("whole")
    run.flow.store._spans.clear()
    more = [call(name, AT, "Another answer.", name=f"n{n}") for name in ("old", "whole") for n in range(5)]
    await run.send(more)
    await run.after(QUIET)
    assert before == (run.stored("old"), run.stored("whole"))
    assert (2, {}) == (run.assemble.emitted[TOO_LATE], run.assemble.held())
