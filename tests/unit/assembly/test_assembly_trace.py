"""From the spans of one trace to a Trace: the extraction contract."""

from datetime import timedelta
from typing import Any

import pytest

from schemas.labels import RiskTier
from schemas.span import ChatMessage, Feedback, MappedValue, Span, SpanKind
from schemas.trace import Passage, ToolCall, Trace, Versions
from streams.assembly import AssemblyRules, PromptLayout, assemble
from tests.builders import NOW
from tests.spans import ANSWER, PASSAGE, QUESTION, TRACE_ID, call, request, retriever, root, span

RULES = AssemblyRules()


def assembled(*spans: Span, rules: AssemblyRules = RULES) -> Trace:
    """The trace of these spans, which must be one."""
    trace = assemble(spans, rules, NOW)
    assert trace is not None
    return trace


def test_a_plain_request_gives_question_answer_passages_and_times() -> None:
    """Root, retriever and model call each give their part."""
    trace = assembled(*request())
    assert (TRACE_ID, QUESTION, ANSWER) == (trace.trace_id, trace.question, trace.answer)
    assert (PASSAGE,) == trace.passages
    assert NOW + timedelta(milliseconds=900) == trace.ts
    assert (40.0, 800.0, 900.0) == (trace.timings.retrieval_ms, trace.timings.generation_ms, trace.timings.total_ms)
    assert ((), (), 1) == (trace.flags, trace.hops, trace.revision)


def test_the_rerankers_choice_replaces_what_the_retriever_found() -> None:
    """The model saw what the reranker let through."""
    other = Passage(doc_id="faq-2", text="Cameras are fragile.")
    found = retriever("retriever", PASSAGE, other)
    chosen = span("reranker", SpanKind.RERANKER, begin=52, lasts=5, documents=(other,))
    assert (other,) == assembled(found, chosen, call(), root()).passages


def test_a_reranker_of_a_later_hop_leaves_an_earlier_retriever_alone() -> None:
    """A model call between them makes them two hops."""
    other = Passage(doc_id="faq-2", text="Cameras are fragile.")
    first_call = call("plan", begin=60, lasts=20, completions=("Search for fragile goods.",))
    second = retriever("second", other, begin=100)
    chosen = span("reranker", SpanKind.RERANKER, begin=150, lasts=5, documents=(other,))
    trace = assembled(retriever(), first_call, second, chosen, call(begin=200), root())
    assert (PASSAGE, other.model_copy(update={"rank": 1})) == trace.passages


def test_several_retrievers_give_their_union_in_order_and_each_passage_once() -> None:
    """Rank is the place in the union."""
    other = Passage(doc_id="faq-2", text="Cameras are fragile.")
    trace = assembled(retriever("b", other, PASSAGE, begin=20), retriever("a", PASSAGE, begin=10), call(), root())
    assert (PASSAGE, other.model_copy(update={"rank": 1})) == trace.passages


def test_a_retriever_inside_another_one_is_not_counted_beside_it() -> None:
    """An ensemble's parts are its own business."""
    inner = retriever("inner", Passage(doc_id="x", text="Left out by the outer one."), parent_id="outer", begin=12)
    assert (PASSAGE,) == assembled(inner, retriever("outer"), call(), root()).passages


def test_retrieval_that_gave_nothing_is_not_retrieval_that_did_not_run() -> None:
    """Empty and None are told apart."""
    assert () == assembled(retriever(documents=()), call(messages=()), root()).passages
    assert assembled(call(messages=()), root()).passages is None


def test_documents_without_an_id_get_one_from_their_content() -> None:
    """The same text always has the same id."""
    bare = Passage(text="Standard parcel insurance covers goods.")
    first = assembled(retriever("r", bare), call(), root()).passages
    second = assembled(retriever("s", bare), call(), root()).passages
    assert first == second
    assert first
    assert first[0].doc_id.startswith("content:")


def test_contexts_are_read_from_the_prompt_where_no_span_holds_documents() -> None:
    """By delimiters; the trace says where its passages come from."""
    trace = assembled(call(), root())
    assert (PASSAGE.text,) == tuple(passage.text for passage in trace.passages or ())
    assert ("passages_from_prompt",) == trace.flags


def test_documents_without_text_borrow_it_from_a_prompt_that_has_as_many() -> None:
    """Ids and scores of the retriever, texts of the prompt."""
    bare = retriever("r", Passage(doc_id="tariff-8", text="", score=0.8))
    (passage,) = assembled(bare, call(), root()).passages or ()
    assert ("tariff-8", 0.8, PASSAGE.text) == (passage.doc_id, passage.score, passage.text)


def test_documents_without_text_and_prompt_show_no_context_rather_than_an_empty_one() -> None:
    """Blank passages would look like empty retrieval, and every answer like an assertion out of nothing."""
    trace = assembled(retriever("r", Passage(doc_id="tariff-8", text="")), call(messages=()), root())
    assert (None, ("no_document_text",)) == (trace.passages, trace.flags)


def test_delimiters_of_the_prompt_are_configuration() -> None:
    """Literal texts, whatever the product uses."""
    prompt = f"<docs>{PASSAGE.text}###Second text.</docs>{QUESTION}"
    rules = AssemblyRules(layouts=(PromptLayout("<docs>", "</docs>", "###"),))
    trace = assembled(call(messages=(ChatMessage(role="user", content=prompt),)), rules=rules)
    assert [PASSAGE.text, "Second text."] == [passage.text for passage in trace.passages or ()]
    assert QUESTION == trace.question


QUESTIONS: list[tuple[list[Span], str]] = [
    ([retriever(), call()], QUESTION),
    ([call()], QUESTION),
    ([call(messages=(ChatMessage(role="human", content=QUESTION),))], QUESTION),
    ([retriever(), call(messages=())], QUESTION),
    ([root(input=None), retriever(), call()], QUESTION),
    ([call(messages=())], ""),
]


@pytest.mark.parametrize(("spans", "expected"), QUESTIONS)
def test_the_question_is_found_without_the_roots_input(spans: list[Span], expected: str) -> None:
    """From the user's message without the packed contexts, else from what was searched for."""
    assert expected == assembled(*spans).question


def test_the_answer_is_the_last_calls_when_the_root_does_not_say() -> None:
    """An earlier call is not the answer."""
    plan = call("plan", begin=20, lasts=10, completions=("I should search.",))
    assert ANSWER == assembled(plan, retriever(), call(), root(output=None)).answer
    assert ANSWER == assembled(plan, retriever(), call()).answer


def test_other_choices_are_alternatives() -> None:
    """They are kept for the consistency check."""
    assert ("No.",) == assembled(call(completions=(ANSWER, "No.")), root()).alternatives


def test_an_agents_hops_point_at_their_own_sources() -> None:
    """Each step has its passages and tool outputs; the last one made the answer."""
    other = Passage(doc_id="faq-2", text="Cameras are fragile.")
    tool = span("stock", SpanKind.TOOL, begin=140, lasts=5, tool=ToolCall(name="stock", output="3 left"))
    spans = [
        retriever(begin=10),
        call("first", begin=60, lasts=20, completions=("Covered up to 500 euros.",)),
        retriever("more", other, begin=100),
        tool,
        call("last", begin=160),
        root(),
    ]
    trace = assembled(*spans)
    assert [("first", (0,), ()), ("last", (1,), (0,))] == [(hop.name, hop.passages, hop.tools) for hop in trace.hops]
    assert "Covered up to 500 euros." == trace.hops[0].output
    assert (ToolCall(name="stock", output="3 left"),) == trace.tool_calls


def test_what_another_agent_answers_belongs_to_the_hop_that_reads_it() -> None:
    """A tool that makes model calls begins before them and gives its output after them."""
    agent = span("agent", SpanKind.TOOL, begin=5, lasts=100, tool=ToolCall(name="agent", output="Up to 500 euros."))
    inner = span("step", SpanKind.CHAIN, begin=6, lasts=98, parent_id="agent")
    plain = span("stock", SpanKind.TOOL, begin=150, lasts=5, tool=ToolCall(name="stock", output="3 left"))
    spans = [
        agent,
        inner,
        retriever(begin=10, parent_id="step"),
        call("first", begin=60, lasts=20, parent_id="step", completions=("Up to 500 euros.",)),
        plain,
        call("last", begin=160),
        root(),
    ]
    assert [("first", (0,), ()), ("last", (), (0, 1))] == [
        (hop.name, hop.passages, hop.tools) for hop in assembled(*spans).hops
    ]


def test_an_answer_is_no_evidence_for_itself() -> None:
    """A tool that wraps the whole request gives the answer after it was written."""
    wrapper = span("ask", SpanKind.TOOL, begin=1, lasts=890, tool=ToolCall(name="ask", output=f"{ANSWER}\n"))
    direct = span("look", SpanKind.TOOL, begin=5, lasts=5, tool=ToolCall(name="look", output=ANSWER))
    trace = assembled(wrapper, direct, call(parent_id="ask"), root())
    assert [("ask", None), ("look", ANSWER)] == [(one.name, one.output) for one in trace.tool_calls]


def test_a_judges_spans_are_no_part_of_the_answer() -> None:
    """Neither the evaluator nor the model call below it; a trace of nothing else is no trace."""
    judge = span("judge", SpanKind.EVALUATOR, begin=1000)
    its_call = call("its-call", begin=1010, parent_id="judge", completions=("Score: 2",))
    trace = assembled(*request(), judge, its_call)
    assert (ANSWER, NOW + timedelta(milliseconds=900)) == (trace.answer, trace.ts)
    assert assemble([judge, its_call], RULES, NOW) is None


def test_a_missing_root_is_said_and_replaced_by_the_topmost_span() -> None:
    """The event time is then the last end."""
    trace = assembled(retriever(), call())
    assert ("no_root",) == trace.flags
    assert NOW + timedelta(milliseconds=860) == trace.ts


def test_without_any_time_the_record_time_holds() -> None:
    """Some events carry no time at all."""
    assert NOW == assembled(root(start=None, end=None)).ts


def test_mapped_values_win_by_rule_then_by_nearness_to_the_root() -> None:
    """The tier may depend on the intent."""
    seen: list[tuple[str, str]] = []

    def tier_of(intent: str, traced: str) -> RiskTier:
        seen.append((intent, traced))
        return RiskTier.HIGH

    spans = [
        retriever(mapped=(MappedValue(field="intent", rank=0, value="shipping"),)),
        call(mapped=(MappedValue(field="model", rank=0, value="m-2"),), versions=Versions(model="m-1", prompt="p-1")),
        root(mapped=(MappedValue(field="intent", rank=1, value="other"), MappedValue(field="tier", rank=0, value="x"))),
    ]
    trace = assembled(*spans, rules=AssemblyRules(tier_of=tier_of))
    assert [("shipping", "x")] == seen
    assert ("shipping", RiskTier.HIGH) == (trace.intent, trace.tier)
    assert ("m-2", "p-1") == (trace.versions.model, trace.versions.prompt)


def test_feedback_of_users_is_kept_as_text() -> None:
    """A lead for the review queue."""
    said = span("f", SpanKind.FEEDBACK, feedback=(Feedback(name="thumb", value="down", comment="wrong sum"),))
    assert "thumb=down (wrong sum)" == assembled(*request(), said).feedback


FLAGS: list[tuple[dict[str, Any], dict[str, Any], tuple[str, ...]]] = [
    ({"flags": ("truncated",)}, {}, ("truncated",)),
    ({}, {"flags": ("truncated",)}, ("span_truncated",)),
    ({"output": None}, {"flags": ("no_content",), "completions": (), "messages": ()}, ("no_content",)),
    ({}, {"flags": ("no_content",), "completions": ()}, ("span_no_content",)),
]


@pytest.mark.parametrize(("of_root", "of_call", "expected"), FLAGS)
def test_flags_decide_only_where_they_concern_the_answer(
    of_root: dict[str, Any], of_call: dict[str, Any], expected: tuple[str, ...]
) -> None:
    """A cut output of another span does not make the answer unreadable."""
    assert expected == assembled(retriever(), call(**of_call), root(**of_root)).flags
