"""Several conventions on one span; whose spans are never judged; what every convention leaves to the envelope."""

from typing import Any

import pytest

from schemas.span import SpanKind
from streams.sources.conventions import to_span
from streams.sources.conventions.reading import Given, Reading
from tests.unit.sources.raw_spans import raw, span, texts


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
    silent = span({"mlflow.spanType": '"LLM"', "llm.prompt_template.version": "p1"})
    assert "p1" == silent.versions.prompt


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
