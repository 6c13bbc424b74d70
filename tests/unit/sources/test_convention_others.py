"""OpenLLMetry, MLflow and Langfuse, as their libraries write them."""

import json
from typing import Any

import pytest

from schemas.span import SpanKind
from schemas.trace import ToolCall
from tests.unit.sources.raw_spans import event, said, span, texts

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


def test_a_retriever_of_langfuse_holds_documents_of_any_shape() -> None:
    """Its documents have no schema."""
    found = span({"langfuse.observation.type": "retriever", "langfuse.observation.output": '[{"content": "a"}, "b"]'})
    assert ["a", "b"] == texts(found)
