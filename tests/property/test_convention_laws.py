"""Laws of the conventions: whatever attributes hold, there is a span, and it does not depend on their order."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.span import Span
from schemas.trace import MAX_ITEMS
from streams.sources.conventions import flat_values, to_span
from streams.sources.conventions.documents import documents_of
from streams.sources.conventions.texts import INPUT, OUTPUT, completions_of, prompt_of, unwrap
from streams.sources.raw import Json, RawEvent, RawSpan

KEYS = (
    "openinference.span.kind", "input.value", "input.mime_type", "output.value", "retrieval.documents",
    "retrieval.documents.0.document.content", "retrieval.documents.0.document.metadata", "reranker.query",
    "retrieval.documents.1.document.score", "reranker.output_documents.2.document.id", "llm.input_messages",
    "llm.input_messages.0.message.role", "llm.input_messages.0.message.contents.0.message_content.text",
    "llm.output_messages.0.message.content", "llm.prompts.0.prompt.text", "llm.choices.0.completion.text",
    "annotations.0.annotation.label", "tool.name", "metadata", "tag.tags", "session.id", "user.id",
    "gen_ai.operation.name", "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions",
    "gen_ai.retrieval.documents", "gen_ai.retrieval.query.text", "gen_ai.tool.call.result", "gen_ai.request.model",
    "gen_ai.response.finish_reasons", "gen_ai.prompt", "gen_ai.prompt.0.content", "gen_ai.completion.0.content",
    "traceloop.span.kind", "traceloop.entity.input", "traceloop.entity.output", "traceloop.prompt.version",
    "traceloop.association.properties.user_id", "llm.request.type", "mlflow.spanType", "mlflow.spanInputs",
    "mlflow.spanOutputs", "mlflow.linkedPrompts", "mlflow.trace.session", "langfuse.observation.type",
    "langfuse.observation.input", "langfuse.observation.output", "langfuse.trace.input", "langfuse.trace.metadata",
    "langfuse.trace.tags", "groundwatch.layer", "input", "output",
)  # fmt: skip
WORDS = (
    "LLM", "RETRIEVER", "RERANKER", "TOOL", "CHAIN", "chat", "retrieval", "execute_tool", "generation", "retriever",
    '"RETRIEVER"', "application/json", "__REDACTED__", "role", "content", "user", "text", "{'a': '\\ud800'}", "[1] yes",
    '{"a": "\\ud800"}', "page_content='a", "[Document(page_content='a', metadata={'b': 'c'})]", "2026-03-14", "[", '"',
)  # fmt: skip
NAMES = (
    "role", "content", "parts", "type", "text", "message", "messages", "choices", "documents", "page_content", "data",
    "metadata", "id", "score", "node", "document", "kwargs", "lc", "inputs", "outputs", "output", "args", "logprobs",
    "ids", "token_logprobs", "finish_reason", "updated_at", "allowed_roles", "entity", "generations", "candidates",
    "prompts", "_node_content",
)  # fmt: skip
EVENTS = (
    "gen_ai.user.message", "gen_ai.choice", "gen_ai.content.prompt", "gen_ai.content.completion", "db.query.result",
    "gen_ai.client.inference.operation.details", "gen_ai.evaluation.result", "exception",
)  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=20)
PLAIN = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=15,
)
VALUES = PLAIN | PLAIN.map(json.dumps) | PLAIN.map(repr) | PLAIN.map(lambda value: json.dumps(value)[:-2])
ATTRIBUTES = st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=10), VALUES, max_size=12)


@st.composite
def raw_spans(draw: Callable[[st.SearchStrategy[Any]], Any]) -> RawSpan:
    """A span or a log record with anything in it."""
    is_log = draw(st.booleans())
    return RawSpan(
        trace_id="3c7f2a90d4e14b6f8a51c09e77b2d613",
        span_id="a1f0c3d2e4b59687",
        name=draw(st.sampled_from(EVENTS)) if is_log else draw(st.text(max_size=10)),
        attributes=draw(ATTRIBUTES),
        events=tuple(
            RawEvent(
                draw(st.sampled_from(EVENTS)), None, draw(ATTRIBUTES | st.dictionaries(st.sampled_from(NAMES), VALUES))
            )
            for _ in range(draw(st.integers(0, 2)))
        ),
        resource=draw(st.dictionaries(st.sampled_from(["service.name", "service.version"]), VALUES)),
        is_log=is_log,
        dropped=draw(st.integers(0, 2)),
        body=draw(VALUES) if is_log else None,
    )


@given(raw_spans())
@settings(max_examples=400, deadline=None)
def test_any_attributes_give_a_span_that_travels(raw: RawSpan) -> None:
    """Nothing raises, and what comes out can be written and read."""
    span = to_span(raw)
    assert span == Span.model_validate_json(span.model_dump_json())
    assert (raw.trace_id, raw.span_id, raw.is_log) == (span.trace_id, span.span_id, span.is_update)
    flat_values(raw)


@given(raw_spans(), st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_the_order_of_attributes_does_not_matter(raw: RawSpan, random: Any) -> None:
    """Exporters and collectors reorder them."""
    pairs = list(raw.attributes.items())
    random.shuffle(pairs)
    assert to_span(raw) == to_span(replace(raw, attributes=dict(pairs)))


@given(VALUES)
@settings(max_examples=400, deadline=None)
def test_the_shared_readers_take_anything(value: Json) -> None:
    """They serve mapped formats too."""
    flags: set[str] = set()
    for is_json in (False, True):
        documents_of(value, flags, is_json=is_json)
        prompt_of(value, flags, is_json=is_json)
        completions_of(value, flags, is_json=is_json)
        for side in (INPUT, OUTPUT):
            assert unwrap(value, side, flags, is_json=is_json) != ""


def large(kind: str) -> dict[str, Json]:
    """Five megabytes of attributes of one kind."""
    size = 5_000_000
    openinference = {"openinference.span.kind": "RETRIEVER"}
    if kind == "flattened":
        return openinference | {f"retrieval.documents.{n}.document.content": "x" * 500 for n in range(MAX_ITEMS)}
    text = {
        "json": json.dumps([{"page_content": "x" * 480, "metadata": {"source": "a"}}] * MAX_ITEMS),
        "cut": json.dumps([{"page_content": "x" * 480}] * MAX_ITEMS)[:-3],
        "brackets": "[" * size,
        "braces": '{"a":' * (size // 5),
        "quotes": "page_content='" + "a\\'" * (size // 3),
        "maps": "page_content='a' " + "metadata={" * (size // 10),
        "print": "[" + "Document(page_content='abc', metadata={'a': 'b'}), " * (size // 50),
        "literal": "[" + "'a', " * (size // 5),
    }[kind]
    return openinference | {"output.value": text, "output.mime_type": "application/json", "input.value": text}


@pytest.mark.parametrize(
    "kind", ["flattened", "json", "cut", "brackets", "braces", "quotes", "maps", "print", "literal"]
)
def test_large_spans_take_linear_time(kind: str) -> None:
    """Five megabytes of anything; the limit on the test is the check."""
    raw = RawSpan(trace_id="1", span_id="2", attributes=large(kind))
    span = to_span(raw)
    flat_values(raw)
    assert len(span.documents or ()) <= MAX_ITEMS
