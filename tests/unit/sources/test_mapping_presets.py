"""The presets: what each format does that a plain path would get wrong."""

from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.span import SpanKind
from streams.sources.mapping import PRESETS, preset
from tests.source_messages import RECORDED_AT, assembled, decode, decoder, document, trace_of

ROOT = "0196cda1-4a00-7000-8000-000000000010"
CHILD = "0196cda1-4a00-7000-8000-000000000013"
ORDER = f"20260514T080000000000Z{ROOT}"
FOUND = {"documents": [{"page_content": "Parcels over 31 kg are refused.", "metadata": {"source": "weights.md"}}]}


def run(**fields: Any) -> dict[str, Any]:
    """A LangSmith run below the root of the fixture."""
    return {"id": CHILD, "trace_id": ROOT, "dotted_order": f"{ORDER}.20260514T080000020000Z{CHILD}", **fields}


def event(kind: str, at: str = "2026-05-14T08:00:01Z", **body: Any) -> dict[str, Any]:
    """An ingestion event of Langfuse."""
    return {"id": f"e-{kind}-{at}", "type": kind, "timestamp": at, "body": {"id": "o1", "traceId": "t1", **body}}


def chain_event(name: str, **fields: Any) -> dict[str, Any]:
    """An event of LangChain."""
    return {"event": name, "name": "x", "run_id": "r2", "parent_ids": ["r1"], "data": {}, **fields}


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_named_as_their_format(name: str) -> None:
    """The name is what a trace shows as its decoder."""
    assert name == preset(name).name


def test_a_run_without_a_parent_id_hangs_where_its_dotted_order_says() -> None:
    """Patches often carry no parent."""
    (span,) = decode(run(run_type="tool", name="search")).spans
    assert (ROOT, datetime(2026, 5, 14, 8, 0, 0, 20_000, UTC)) == (span.parent_id, span.start)


@pytest.mark.parametrize("parent", ["p" * 300, ["p"], {"id": "p"}, 7])
def test_a_parent_that_is_no_id_makes_no_root(parent: Any) -> None:
    """A root that ends would close the trace."""
    (span,) = decode(run(run_type="tool", parent_run_id=parent)).spans
    assert 0 < len(span.parent_id) <= 256


def test_a_run_whose_trace_nobody_names_is_refused_with_the_fix() -> None:
    """The neighbours in its batch go on."""
    batch = {"post": [run(run_type="tool"), {"id": CHILD, "run_type": "llm"}]}
    found = decode(batch)
    assert 1 == len(found.spans)
    assert ["missing_field"] == [problem.reason for problem in found.problems]
    assert "send one of them with every post and patch" in found.problems[0].detail


@pytest.mark.parametrize(
    ("kind", "start", "end", "field", "expected"),
    [
        ("retriever", {"query": "heavy parcels"}, FOUND, "documents", "Parcels over 31 kg are refused."),
        ("tool", {"input": "31"}, {"output": "refused"}, "tool", "refused"),
        ("llm", {"messages": [{"role": "user", "content": "?"}]}, {"output": "No."}, "completions", "No."),
        ("chain", {"question": "?"}, {"output": "No."}, "output", "No."),
    ],
)
def test_a_patch_that_does_not_say_its_kind_completes_any_run(
    kind: str, start: dict[str, Any], end: dict[str, Any], field: str, expected: str
) -> None:
    """Only the post says whether documents, an answer, or a tool's output came."""
    post = run(run_type=kind, name="x", inputs=start, start_time="2026-05-14T08:00:00.020000")
    patch = run(outputs=end, end_time="2026-05-14T08:00:00.030000")
    whole = trace_of({"post": [post, *document("langsmith_batch.json")["post"]]}, {"patch": [patch]})
    copies = [span for span in decode({"post": [post], "patch": [patch]}).spans if span.kind is SpanKind.OTHER]
    assert expected in str(getattr(copies[0], field))
    if kind == "retriever":
        assert expected in [passage.text for passage in whole.passages or ()]
    if kind == "tool":
        assert [("x", "31", "refused")] == [(call.name, call.arguments, call.output) for call in whole.tool_calls]


def test_content_that_langsmith_put_elsewhere_is_flagged() -> None:
    """An answer that was too large for the batch is not an empty answer."""
    root = document("langsmith_runs.json")["runs"][0]
    moved = {**root, "outputs": {}, "outputs_s3_urls": {"outputs": {"presigned_url": "https://x"}}}
    assert "no_content" in trace_of(moved).flags


def test_runs_of_evaluators_are_left_out_and_counted() -> None:
    """A judge that is judged never ends."""
    found = decode(run(run_type="llm", session_name="evaluators"))
    assert (1, SpanKind.EVALUATOR) == (found.evaluators, found.spans[0].kind)


def test_an_update_never_looks_like_a_root() -> None:
    """It names its parent only if that changed."""
    (update,) = decode(event("generation-update", endTime="2026-05-14T08:00:02Z", output="No.")).spans
    assert (True, "", SpanKind.LLM) == (update.is_update, update.parent_id, update.kind)
    (create,) = decode(event("generation-create")).spans
    assert (False, "t1") == (create.is_update, create.parent_id)


def test_null_means_not_sent_and_the_later_event_wins() -> None:
    """Upserts are merged field by field, by their own time."""
    first = event("trace-create", "2026-05-14T08:00:01Z", id="t1", input="?", output="Perhaps.", name="rag")
    last = event("trace-create", "2026-05-14T08:00:03Z", id="t1", input=None, output="No.")
    spans = decode(last, first).spans
    assert ("?", "No.") == (assembled(spans).question, assembled(spans).answer)


def test_plain_spans_that_give_documents_are_retrievers() -> None:
    """Older clients know no kind of observation but span."""
    named = event("span-create", name="My Retriever", output=["Parcels over 31 kg are refused."])
    shaped = event("span-create", name="step 2", output=FOUND["documents"])
    plain = event("span-create", name="step 2", output={"text": "x"})
    kinds = [span.kind for span in decode(named, shaped, plain).spans]
    assert [SpanKind.RETRIEVER, SpanKind.RETRIEVER, SpanKind.OTHER] == kinds


def test_langfuses_own_judge_is_left_out() -> None:
    """Whether its trace comes in events or as an export."""
    export = {**document("langfuse_export.json"), "environment": "langfuse-llm-judge"}
    found = decode(export, event("trace-create", id="t1", environment="langfuse-llm-judge"))
    assert ((), 2) == (found.traces, found.evaluators)


def test_scores_are_feedback_and_tell_people_from_judges() -> None:
    """A lead for review, never a label."""
    by_user = event("score-create", name="thumbs", value=0, comment="wrong")
    by_judge = {**event("score-create", name="faithful", value=0.2), "body": {
        "id": "s", "traceId": "t1", "name": "faithful", "value": 0.2, "source": "EVAL"}}  # fmt: skip
    spans = decode(by_user, by_judge).spans
    assert [SpanKind.FEEDBACK] * 2 == [span.kind for span in spans]
    assert [("thumbs", "0", True), ("faithful", "0.2", False)] == [
        (said.name, said.value, said.is_from_user) for span in spans for said in span.feedback
    ]


def test_what_langfuse_says_of_itself_is_passed_over() -> None:
    """Logs of the SDK, and scores of sessions."""
    session = {**event("score-create"), "body": {"id": "s", "sessionId": "c", "name": "x", "value": 1}}
    found = decode({"batch": [event("sdk-log"), session]})
    assert ((), (), 2) == (found.spans, found.problems, found.ignored)


def test_an_empty_batch_is_no_problem() -> None:
    """Clients flush with nothing to say."""
    assert () == decode({"batch": []}, using=decoder(format="langfuse")).problems


def test_chunks_prompts_and_custom_events_are_passed_over() -> None:
    """They repeat what the end of the run says."""
    names = ("on_chat_model_stream", "on_chain_stream", "on_prompt_end", "on_parser_end", "on_custom_event")
    found = decode(*(chain_event(name) for name in names))
    assert ((), (), 5) == (found.spans, found.problems, found.ignored)


def test_events_of_the_first_version_are_refused_with_the_fix() -> None:
    """They do not say which trace they belong to."""
    (problem,) = decode({"event": "on_chain_end", "run_id": "r1", "data": {}}).problems
    assert 'version "v2"' in problem.detail


@pytest.mark.parametrize(
    "output",
    [
        "[Document(metadata={'source': 'weights.md'}, page_content='Parcels over 31 kg are refused.')]",
        FOUND["documents"],
        FOUND,
        [{"lc": 1, "type": "constructor", "id": ["langchain", "Document"], "kwargs": FOUND["documents"][0]}],
    ],
)
def test_documents_are_read_however_they_were_serialised(output: Any) -> None:
    """The events hold Python objects: what lands on Kafka is the producer's choice."""
    (span,) = decode(chain_event("on_retriever_end", data={"output": output})).spans
    assert span.documents is not None
    assert ["Parcels over 31 kg are refused."] == [passage.text for passage in span.documents]


def test_events_without_a_time_have_that_of_their_record() -> None:
    """A start has no end, and an end no start."""
    start, end = decode(chain_event("on_tool_start"), chain_event("on_tool_end")).spans
    assert (RECORDED_AT, None) == (start.start.replace(microsecond=0) if start.start else None, start.end)
    assert end.start is None
    assert end.end is not None


def test_llamaindex_without_a_tag_is_refused_with_the_fix() -> None:
    """Its events carry no trace id at all."""
    (problem,) = decode({"class_name": "RetrievalEndEvent", "span_id": "a", "id_": "b", "tags": {}}).problems
    assert "instrument_tags" in problem.detail


def test_local_times_without_a_zone_are_not_believed() -> None:
    """Unless the settings say which zone they are in."""
    ended = {"timestamp": "2026-05-14T10:00:00.5", "id_": "b", "span_id": "a", "tags": {"trace_id": "t"}}
    ended |= {"class_name": "QueryEndEvent", "response": "No."}
    (recorded,) = decode(ended).spans
    (zoned,) = decode(ended, using=decoder(naive_time="Europe/Berlin")).spans
    assert recorded.end is not None
    assert RECORDED_AT == recorded.end.replace(microsecond=0)
    assert datetime(2026, 5, 14, 8, 0, 0, 500_000, UTC) == zoned.end


def test_mlflow_previews_are_never_taken_for_content() -> None:
    """They are cut."""
    trace = document("mlflow_trace_v3.json")
    trace["data"]["spans"] = trace["data"]["spans"][1:2]
    assert (None, "chat-31") == (trace_of(trace).answer, trace_of(trace).conversation_id)


def test_a_whole_trace_has_a_cap_on_its_spans() -> None:
    """As one that is assembled; why it ends there is stored."""
    trace = document("mlflow_trace_v3.json")
    tools = [trace["data"]["spans"][0] | {"span_id": f"{n:016x}", "parent_span_id": "a1"} for n in range(1, 2_500)]
    trace["data"]["spans"] += tools
    found = trace_of(trace)
    assert ("cap_spans", "chat-31") == (found.close_reason, found.conversation_id)


def test_mlflow_assessments_by_people_are_feedback() -> None:
    """Once for the trace, not once a span."""
    trace = document("mlflow_trace_v3.json")
    trace["info"]["assessments"] = [
        {"assessment_name": "correct", "feedback": {"value": False}, "source": {"source_type": "HUMAN"}}
    ]
    assert "correct=false" == trace_of(trace).feedback


def test_home_made_json_is_a_starter_for_own_mappings() -> None:
    """Passages as texts, and what is missing is simply missing."""
    answer = {"id": 7, "time": 1778745600, "query": "?", "response": "No.", "contexts": ["a", "b"], "latency_ms": 250}
    answer |= {"metadata": {"intent": "weights"}, "user": {"id": 9}}
    trace = trace_of(answer, using=decoder(format="rag_json"))
    assert ("7", "?", "No.", "weights", "9") == (
        trace.trace_id, trace.question, trace.answer, trace.intent, trace.user_id,
    )  # fmt: skip
    assert (["a", "b"], 250) == ([passage.text for passage in trace.passages or ()], trace.timings.total_ms)
    assert datetime(2026, 5, 14, 8, tzinfo=UTC) == trace.ts
