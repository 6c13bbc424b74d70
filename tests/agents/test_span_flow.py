"""Incomplete and wrongly assembled traces, from bytes of a source topic to verdicts: each kind of fault once."""

from datetime import timedelta
from typing import Any

import pytest

from schemas.labels import Outcome
from streams.broker.topics import DRAWN
from tests.agents.span_flow import AT, GRACE, QUIET, SpanFlow
from tests.openinference import ANSWER, QUESTION, TEXT, call, message, request, retriever, root, span


async def test_an_agent_is_not_judged_while_it_runs() -> None:
    """Its first spans are hours old, but new ones keep coming; only the end of its root closes it."""
    run = SpanFlow()
    began = AT - timedelta(hours=5)
    for step in range(4):
        await run.send([retriever("agent", began + timedelta(hours=step), f"{TEXT} {step}", name=f"s{step}")])
        await run.after(50)
        assert run.stored("agent") is None
    await run.send([call("agent", AT), root("agent", began)])
    await run.after(GRACE)
    trace = run.trace("agent")
    assert ("root_end", 0, 4) == (trace.close_reason, trace.late_spans, len(trace.passages or ()))
    assert 1 == len(run.flow.publisher.messages(DRAWN))


async def test_the_contexts_of_five_retrievers_are_united_in_order() -> None:
    """Not the last one's alone, and each passage once."""
    run = SpanFlow()
    spans = [retriever("five", AT + timedelta(milliseconds=n), TEXT, f"Rule {n}.", name=f"r{n}") for n in range(5)]
    await run.send([spans[3]], [spans[0], spans[4]], [spans[2], root("five", AT)], [spans[1]])
    await run.after(GRACE)
    texts = [passage.text for passage in run.trace("five").passages or ()]
    assert [TEXT, *(f"Rule {n}." for n in range(5))] == texts


async def test_a_rerankers_choice_is_what_the_model_saw() -> None:
    """The candidates that it left out are no context."""
    run = SpanFlow()
    candidates = retriever("chosen", AT, "Another page.", TEXT)
    chosen = retriever("chosen", AT + timedelta(milliseconds=5), TEXT, name="rank", kind="RERANKER")
    await run.send([candidates, chosen, root("chosen", AT)])
    await run.after(GRACE)
    assert [TEXT] == [passage.text for passage in run.trace("chosen").passages or ()]


async def test_an_orphan_judged_as_the_root_is_judged_again_when_the_root_comes() -> None:
    """One trace, one verdict of the newer revision, counted once."""
    run = SpanFlow()
    await run.send([retriever("orphan", AT), call("orphan", AT, "You can return a lamp within 90 days.")])
    await run.after(QUIET)
    first = run.trace("orphan")
    assert (True, [(2, Outcome.HALLUCINATED)]) == ("no_root" in first.flags, await run.outcomes("orphan"))
    await run.send([root("orphan", AT)])
    await run.after(QUIET)
    second = run.trace("orphan")
    assert (ANSWER, 3, 1) == (second.answer, second.revision, second.late_spans)
    assert [(3, Outcome.GROUNDED)] == await run.outcomes("orphan")
    counts = run.flow.store.counts()
    assert (1, 1, 1) == (counts.traces, counts.drawn, counts.verdicts)


@pytest.mark.parametrize("scope", ["", "my.own.tracer", "langfuse-sdk", "\ud83d"])
async def test_content_is_found_by_its_keys_whatever_the_scope(scope: str) -> None:
    """Producers rename scopes; keys are what counts."""
    run = SpanFlow()
    await run.send(message(request("scope", AT), scope))
    await run.after(GRACE)
    trace = run.trace("scope")
    assert (QUESTION, ANSWER, 1) == (trace.question, trace.answer, len(trace.passages or ()))


async def test_an_answer_under_another_key_is_found() -> None:
    """A root without input and output, and a call with the keys of another convention."""
    run = SpanFlow()
    bare = span("bare", "root", AT, lasts_ms=900)
    other: dict[str, Any] = {
        "gen_ai__prompt__0__content": QUESTION,
        "gen_ai__prompt__0__role": "user",
        "llm__request__type": "chat",
    }
    other |= {"gen_ai__completion__0__content": ANSWER}
    await run.send([span("bare", "model", AT, **other), retriever("bare", AT), bare])
    await run.after(GRACE)
    assert (QUESTION, ANSWER) == (run.trace("bare").question, run.trace("bare").answer)


async def test_json_that_a_limit_cut_is_flagged_and_not_judged() -> None:
    """Documents in a cut attribute are fewer than the model saw."""
    run = SpanFlow()
    documents = '[{"document.content": "' + TEXT + '"}, {"document.content": "Half a docum'
    kind: dict[str, Any] = {"openinference__span__kind": "RETRIEVER", "retrieval__documents": documents}
    await run.send([span("cut", "find", AT, **kind), call("cut", AT), root("cut", AT)])
    await run.after(GRACE)
    assert "truncated" in run.trace("cut").flags
    assert [(3, Outcome.UNRESOLVED_TRUNCATED)] == await run.outcomes("cut")


async def test_documents_without_id_and_score_get_an_id_from_their_content() -> None:
    """The same text has the same id everywhere; a score is not invented."""
    run = SpanFlow()
    await run.send(request("one", AT), request("two", AT))
    await run.after(GRACE)
    (one,), (two,) = run.trace("one").passages or (), run.trace("two").passages or ()
    assert (True, one.doc_id, None) == (one.doc_id.startswith("content:"), two.doc_id, one.score)


async def test_drawn_is_always_judged_and_errors_and_unresolved() -> None:
    """Whatever a trace lacks, it has an outcome."""
    run = SpanFlow()
    await run.send(
        request("good", AT),
        [root("no answer", AT, output__value="")],
        [root("no context", AT)],
        [retriever("redacted", AT), root("redacted", AT, output__value="__REDACTED__")],
        [call("lone", AT)],
        [retriever("only docs", AT)],
    )
    await run.after(QUIET)
    await run.flow.verify_and_sink()
    counts = run.flow.store.counts()
    assert (6, 6, 6, 6) == (counts.traces, counts.drawn, counts.verdicts, sum(counts.outcomes.values()))
    assert {
        Outcome.GROUNDED,
        Outcome.UNRESOLVED_NO_ANSWER,
        Outcome.UNRESOLVED_NO_CONTEXT,
        Outcome.UNRESOLVED_REDACTED,
    } == {outcome for outcome, number in counts.outcomes.items() if number}
