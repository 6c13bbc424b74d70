"""OpenLLMetry, MLflow and Langfuse; several conventions on one span; whose spans are never judged."""

import json
from typing import Any

import pytest

from schemas.span import SpanKind
from schemas.trace import ToolCall
from streams.sources.conventions import to_span
from streams.sources.conventions.reading import Given, Reading
from tests.unit.sources.raw_spans import event, raw, said, span, texts

ASSOCIATION = "traceloop.association.properties"


@pytest.mark.parametrize(
    ("attributes", "kind"),
    [
        ({"traceloop.span.kind": "workflow"}, SpanKind.CHAIN),
        ({"traceloop.span.kind": "task"}, SpanKind.CHAIN),
        ({"traceloop.span.kind": "agent"}, SpanKind.AGENT),
        ({"traceloop.span.kind": "tool"}, SpanKind.TOOL),
        ({"traceloop.span.kind": "unknown"}, SpanKind.OTHER),
        ({"traceloop.span.kind": "task", "gen_ai.operation.name": "vector_db_retrieve"}, SpanKind.RETRIEVER),
        ({"traceloop.span.kind": "task", "llm.request.type": "chat"}, SpanKind.LLM),
        ({"llm.request.type": "rerank"}, SpanKind.RERANKER),
        ({"llm.request.type": "embedding"}, SpanKind.EMBEDDING),
        ({"gen_ai.prompt.0.content": "x"}, SpanKind.LLM),
    ],
)
def test_kinds_of_openllmetry(attributes: dict[str, Any], kind: SpanKind) -> None:
    """What a span says beside being a task tells more than that it is one."""
    assert kind == span(attributes).kind


def test_entities_are_unwrapped() -> None:
    """JSON of a function's arguments, a chain's inputs, or a text."""
    for given in (
        {"inputs": {"question": "Where?"}, "tags": [], "metadata": {}, "kwargs": {}},
        {"args": ["Where?"], "kwargs": {}},
        {"args": [], "kwargs": {"query": "Where?"}},
        {"inputs": {"input": "Where?", "chat_history": []}, "tags": []},
        {"inputs": {"messages": [{"type": "human", "content": "Where?"}]}},
        "Where?",
    ):
        found = span({"traceloop.span.kind": "workflow", "traceloop.entity.input": json.dumps(given)})
        assert (given, "Where?") == (given, found.input)
    assert (
        span({"traceloop.span.kind": "workflow", "traceloop.entity.input": '{"inputs": {}, "tags": []}'}).input is None
    )


def test_association_properties_name_conversation_and_user() -> None:
    """They stand on children too."""
    found = span({f"{ASSOCIATION}.thread_id": "t", f"{ASSOCIATION}.user_id": 7, "traceloop.span.kind": "task"})
    assert ("t", "7") == (found.conversation_id, found.user_id)


def test_results_of_a_vector_store_are_documents() -> None:
    """Each is an event; a store may keep the text in the metadata."""
    found = span(
        {"db.system": "pinecone"},
        events=(
            event("db.query.result", db__query__result__id="1", db__query__result__score=0.9,
                  db__query__result__metadata='{"text": "a", "source": "x.md"}'),
            event("db.query.embeddings", db__query__embeddings__vector="[1, 2]"),
            event("db.search.result", db__search__result__id="2", db__search__result__distance=0.25,
                  db__search__result__document="b"),
        ),
    )  # fmt: skip
    assert SpanKind.RETRIEVER == found.kind
    assert [("1", "a", 0.9), ("2", "b", 0.75)] == [(one.doc_id, one.text, one.score) for one in found.documents or ()]


def test_flattened_prompts_of_before_0_5() -> None:
    """Content may be JSON of parts; a call of a tool writes nothing."""
    found = span(
        {
            "llm.request.type": "chat",
            "gen_ai.prompt.0.role": "system",
            "gen_ai.prompt.0.content": "Be brief.",
            "gen_ai.prompt.10.role": "user",
            "gen_ai.prompt.10.content": '[{"type": "text", "text": "Hello"}, {"type": "image_url", "image_url": {}}]',
            "gen_ai.prompt.9.role": "tool",
            "gen_ai.prompt.9.content": '{"days": 2}',
            "gen_ai.completion.0.content": "Hi",
            "gen_ai.completion.0.finish_reason": "stop",
            "gen_ai.response.model": "m",
        }
    )
    assert [("system", "Be brief."), ("tool", '{"days": 2}'), ("user", "Hello")] == said(found)
    assert (("Hi",), "stop", "m") == (found.completions, found.finish_reason, found.versions.model)


def test_prompts_of_traceloop_have_key_and_version() -> None:
    """Both together name what was running."""
    assert "ask@4" == span({"traceloop.prompt.key": "ask", "traceloop.prompt.version": 4}).versions.prompt


def test_every_value_of_mlflow_is_json() -> None:
    """Texts have quotes around them."""
    found = span(
        {
            "mlflow.spanType": '"AGENT"',
            "mlflow.spanInputs": '{"query": "Where?"}',
            "mlflow.spanOutputs": '"In Lyon."',
            "mlflow.trace.session": '"chat-1"',
            "mlflow.trace.user": "u-1",
            "mlflow.linkedPrompts": '"[{\\"name\\": \\"ask\\", \\"version\\": \\"4\\"}]"',
        }
    )
    assert (SpanKind.AGENT, "Where?", "In Lyon.") == (found.kind, found.input, found.output)
    assert ("chat-1", "u-1", "ask@4") == (found.conversation_id, found.user_id, found.versions.prompt)


def test_a_cut_text_of_mlflow_says_so() -> None:
    """The closing quote is gone."""
    found = span({"mlflow.spanType": '"CHAIN"', "mlflow.spanOutputs": '"In Ly'})
    assert ("In Ly", ("truncated",)) == (found.output, found.flags)


@pytest.mark.parametrize(
    ("stated", "kind"),
    [
        ("CHAT_MODEL", SpanKind.LLM), ("LLM", SpanKind.LLM), ("RETRIEVER", SpanKind.RETRIEVER), ("TOOL", SpanKind.TOOL),
        ("RERANKER", SpanKind.RERANKER), ("EMBEDDING", SpanKind.EMBEDDING), ("PARSER", SpanKind.OTHER),
        ("UNKNOWN", SpanKind.OTHER), ("MEMORY", SpanKind.OTHER),
    ],
)  # fmt: skip
def test_kinds_of_mlflow(stated: str, kind: SpanKind) -> None:
    """Encoded or, from other writers, plain."""
    assert [kind, kind] == [span({"mlflow.spanType": text}).kind for text in (json.dumps(stated), stated)]


@pytest.mark.parametrize(
    ("stated", "kind"),
    [
        ("generation", SpanKind.LLM), ("retriever", SpanKind.RETRIEVER), ("chain", SpanKind.CHAIN),
        ("agent", SpanKind.AGENT), ("tool", SpanKind.TOOL), ("embedding", SpanKind.EMBEDDING),
        ("guardrail", SpanKind.GUARDRAIL), ("evaluator", SpanKind.EVALUATOR), ("span", SpanKind.OTHER),
        ("event", SpanKind.OTHER),
    ],
)  # fmt: skip
def test_kinds_of_langfuse(stated: str, kind: SpanKind) -> None:
    """As its SDK writes them."""
    assert kind == span({"langfuse.observation.type": stated}).kind


def test_the_traces_input_and_output_are_the_roots() -> None:
    """Set within a child they say nothing about that child."""
    attributes = {
        "langfuse.observation.type": "span",
        "langfuse.trace.input": '{"question": "Where?"}',
        "langfuse.trace.output": "In Lyon.",
        "langfuse.observation.output": "an inner step",
    }
    root, child = span(attributes), span(attributes, parent_id="b1f0c3d2e4b59687")
    assert ("Where?", "In Lyon.") == (root.input, root.output)
    assert (None, "an inner step") == (child.input, child.output)


def test_prompt_release_and_tool_of_langfuse() -> None:
    """The release of the application comes before the service's version."""
    found = span(
        {
            "langfuse.observation.type": "tool",
            "langfuse.observation.prompt.name": "ask",
            "langfuse.observation.prompt.version": 4,
            "langfuse.release": "r9",
            "langfuse.observation.input": '{"id": 4}',
            "langfuse.observation.output": "12 kg",
        },
        name="weigh",
        resource={"service.version": "4.2"},
    )
    assert ("ask@4", "r9") == (found.versions.prompt, found.versions.app)
    assert ToolCall(name="weigh", arguments='{"id": 4}', output="12 kg") == found.tool


def test_precedence_is_that_of_the_keys_field_by_field() -> None:
    """What the first convention leaves open the next one says."""
    found = span(
        {
            "openinference.span.kind": "CHAIN",
            "input.value": "from openinference",
            "output.value": "from openinference",
            "traceloop.entity.output": '"from traceloop"',
            "langfuse.observation.input": "from langfuse",
            "gen_ai.conversation.id": "c",
            "session.id": "s",
        }
    )
    assert ("from langfuse", "from traceloop", "c") == (found.input, found.output, found.conversation_id)
    assert (SpanKind.CHAIN, "langfuse") == (found.kind, found.decoder)


def test_what_a_mapping_found_comes_before_the_keys() -> None:
    """The user knows better than any convention."""
    mapped = Reading(convention="own", kind=SpanKind.RETRIEVER, output=Given(["a"]), names={"user_id": "u"})
    found = to_span(raw({"output.value": "b", "user.id": "v"}), (mapped,))
    assert (SpanKind.RETRIEVER, ["a"], "u", "own") == (found.kind, texts(found), found.user_id, found.decoder)


def test_the_most_telling_kind_wins() -> None:
    """A generic step of one convention is a search in another one."""
    assert (
        SpanKind.RETRIEVER == span({"langfuse.observation.type": "span", "openinference.span.kind": "RETRIEVER"}).kind
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"attributes": {"groundwatch.layer": "judge", "gen_ai.operation.name": "chat"}},
        {"attributes": {"gen_ai.operation.name": "chat"}, "resource": {"service.name": "groundwatch"}},
        {"attributes": {"langfuse.observation.type": "generation", "langfuse.environment": "langfuse-llm-judge"}},
        {
            "attributes": {"langfuse.observation.type": "generation"},
            "resource": {"deployment.environment": "langfuse-llm-judge"},
        },
        {"attributes": {"langfuse.observation.type": "generation", "openinference.span.kind": "EVALUATOR"}},
        {"attributes": {"mlflow.spanType": '"LLM"', "mlflow.trace.sourceScorer": '"safety"'}},
    ],
)
def test_judges_and_our_own_calls_are_evaluators(fields: dict[str, Any]) -> None:
    """Judging a judge's answers would never end; what they read and write is not kept."""
    found = span({**fields["attributes"], "input.value": "q", "output.value": "a"}, resource=fields.get("resource", {}))
    assert (SpanKind.EVALUATOR, None, None, ()) == (found.kind, found.input, found.output, found.messages)


def test_times_status_and_repairs_come_from_the_envelope() -> None:
    """Conventions say nothing about them."""
    found = span({"input": "Where?", "output": "In Lyon."}, is_error=True, flags=("bad_time",))
    assert (True, ("bad_time",), "Where?", "In Lyon.") == (found.is_error, found.flags, found.input, found.output)
    assert (True, "step") == (found.start is not None and found.end is not None, found.name)


def test_wrong_shapes_are_left_out_and_flagged() -> None:
    """A list where a name should be costs the name alone."""
    found = span({"openinference.span.kind": ["LLM"], "session.id": {"a": 1}, "output.value": "x"})
    assert ("", "x", ("wrong_shape",)) == (found.conversation_id, found.output, found.flags)


def test_versions_that_no_page_could_show_are_dropped() -> None:
    """Control characters and thousands of them."""
    found = span({"gen_ai.request.model": "m\u202eodel", "langfuse.release": "r" * 300})
    assert ("", "", ("name_dropped", "no_content")) == (found.versions.model, found.versions.app, found.flags)


def test_embeddings_keep_nothing() -> None:
    """Vectors are large and of no use."""
    found = span({"openinference.span.kind": "EMBEDDING", "output.value": "[0.1, 0.2]", "input.value": "text"})
    assert (None, None) == (found.input, found.output)


def test_a_retriever_of_langfuse_holds_documents_of_any_shape() -> None:
    """Its documents have no schema."""
    found = span({"langfuse.observation.type": "retriever", "langfuse.observation.output": '[{"content": "a"}, "b"]'})
    assert ["a", "b"] == texts(found)
