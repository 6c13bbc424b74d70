"""OpenInference, as its specification and its instrumentors write it."""

import json
from typing import Any

import pytest

from schemas.span import Feedback, SpanKind
from schemas.trace import ToolCall
from tests.unit.sources.raw_spans import said, span, texts

KIND = "openinference.span.kind"


@pytest.mark.parametrize(
    ("stated", "kind"),
    [
        ("LLM", SpanKind.LLM), ("CHAIN", SpanKind.CHAIN), ("AGENT", SpanKind.AGENT), ("TOOL", SpanKind.TOOL),
        ("RETRIEVER", SpanKind.RETRIEVER), ("RERANKER", SpanKind.RERANKER), ("EMBEDDING", SpanKind.EMBEDDING),
        ("GUARDRAIL", SpanKind.GUARDRAIL), ("EVALUATOR", SpanKind.EVALUATOR), ("retriever", SpanKind.RETRIEVER),
        ("PROMPT", SpanKind.OTHER), ("DECISION", SpanKind.OTHER), ("SOMETHING_NEW", SpanKind.OTHER),
    ],
)  # fmt: skip
def test_kinds_are_known_and_new_ones_are_other(stated: str, kind: SpanKind) -> None:
    """A kind that comes next year is a step like any other."""
    assert kind == span({KIND: stated}).kind


@pytest.mark.parametrize(
    ("attributes", "kind"),
    [
        ({"retrieval.documents.0.document.content": "a"}, SpanKind.RETRIEVER),
        ({"reranker.query": "q"}, SpanKind.RERANKER),
        ({"llm.input_messages.0.message.content": "a"}, SpanKind.LLM),
        ({"input.value": "a"}, SpanKind.OTHER),
    ],
)
def test_a_span_without_its_kind_is_told_by_its_keys(attributes: dict[str, Any], kind: SpanKind) -> None:
    """Hand-made spans leave the kind out."""
    assert kind == span(attributes).kind


def test_indexes_with_holes_are_sorted_as_numbers() -> None:
    """10 comes after 9, and a dropped 3 is no end."""
    numbers = (10, 2, 9, 0)
    found = span({KIND: "RETRIEVER", **{f"retrieval.documents.{n}.document.content": f"text {n}" for n in numbers}})
    assert ["text 0", "text 2", "text 9", "text 10"] == texts(found)
    assert [0, 1, 2, 3] == [passage.rank for passage in found.documents or ()]


def test_a_document_carries_id_score_and_metadata() -> None:
    """Metadata is JSON in text, or a Python dictionary as the specification's own example prints it."""
    base = "retrieval.documents.0.document"
    for metadata in (
        '{"source": "a.md", "version": 3, "updated_at": "2026-03-14"}',
        "{'source': 'a.md', 'version': 3}",
    ):
        (passage,) = (
            span(
                {f"{base}.id": 7, f"{base}.score": 0.5, f"{base}.content": "t", f"{base}.metadata": metadata}
            ).documents
            or ()
        )
        assert ("7", 0.5, "3") == (passage.doc_id, passage.score, passage.version)


def test_a_reranker_gives_what_came_out_of_it() -> None:
    """What went in is the retriever's."""
    found = span(
        {
            KIND: "RERANKER",
            "reranker.query": "lost parcel",
            "reranker.model_name": "cross-2",
            "reranker.input_documents.0.document.content": "a",
            "reranker.input_documents.1.document.content": "b",
            "reranker.output_documents.0.document.content": "b",
        }
    )
    assert (["b"], "lost parcel", "cross-2") == (texts(found), found.query, found.versions.retriever)


def test_a_retriever_without_flattened_documents_is_read_from_its_output() -> None:
    """The output is JSON; an empty list is a search that found nothing, silence is none."""
    output = json.dumps({"documents": [{"page_content": "a", "metadata": {"source": "s"}}]})
    assert ["a"] == texts(span({KIND: "RETRIEVER", "output.value": output, "output.mime_type": "application/json"}))
    assert () == span({KIND: "RETRIEVER", "output.value": '{"documents": []}'}).documents
    assert () == span({KIND: "RETRIEVER", "output.value": "[]"}).documents
    assert span({KIND: "RETRIEVER", "input.value": "q"}).documents is None


def test_messages_are_text_or_parts() -> None:
    """Reasoning and images are no text."""
    base = "llm.input_messages"
    found = span(
        {
            KIND: "LLM",
            f"{base}.0.message.role": "system",
            f"{base}.0.message.content": "Be brief.",
            f"{base}.1.message.role": "human",
            f"{base}.1.message.contents.0.message_content.type": "text",
            f"{base}.1.message.contents.0.message_content.text": "Where is",
            f"{base}.1.message.contents.1.message_content.type": "image",
            f"{base}.1.message.contents.1.message_content.image.image.url": "https://example.test/a.png",
            f"{base}.1.message.contents.10.message_content.type": "text",
            f"{base}.1.message.contents.10.message_content.text": "my parcel?",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.contents.0.message_content.type": "reasoning",
            "llm.output_messages.0.message.contents.0.message_content.text": "hmm",
            "llm.output_messages.0.message.contents.1.message_content.type": "text",
            "llm.output_messages.0.message.contents.1.message_content.text": "In Lyon.",
        }
    )
    assert [("system", "Be brief."), ("user", "Where is\nmy parcel?")] == said(found)
    assert ("In Lyon.",) == found.completions


def test_tool_calls_are_no_completion_and_tool_results_are_messages() -> None:
    """A call that only asks for a tool has written nothing yet."""
    found = span(
        {
            KIND: "LLM",
            "llm.input_messages.0.message.role": "tool",
            "llm.input_messages.0.message.content": "12 kg",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "weigh",
        }
    )
    assert ([("tool", "12 kg")], (), ()) == (said(found), found.completions, found.flags)


def test_roles_without_messages_are_no_content() -> None:
    """Hidden messages leave their roles behind."""
    found = span({KIND: "LLM", "llm.input_messages.0.message.role": "user", "llm.model_name": "m"})
    assert ((), ("no_content",)) == (found.messages, found.flags)


def test_completion_models_have_prompts_and_choices() -> None:
    """Each choice is one text."""
    found = span(
        {
            "llm.prompts.0.prompt.text": "Say yes.",
            "llm.choices.1.completion.text": "Yes!",
            "llm.choices.0.completion.text": "Yes.",
        }
    )
    assert ([("user", "Say yes.")], ("Yes.", "Yes!")) == (said(found), found.completions)


def test_a_model_call_without_messages_is_read_from_its_values() -> None:
    """Some instrumentors write requests and responses only."""
    request = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
    response = {"choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}
    found = span({KIND: "LLM", "input.value": json.dumps(request), "output.value": json.dumps(response)})
    assert ([("user", "Hello")], ("Hi",), "stop") == (said(found), found.completions, found.finish_reason)


def test_logprobs_of_a_recorded_response_are_kept() -> None:
    """Of the first choice, when all of them are numbers."""
    tokens = [{"token": "Hi", "logprob": -0.1}, {"token": "!", "logprob": -2}]
    response: dict[str, Any] = {
        "choices": [{"message": {"role": "assistant", "content": "Hi!"}, "logprobs": {"content": tokens}}]
    }
    assert (-0.1, -2.0) == span({KIND: "LLM", "output.value": json.dumps(response)}).token_logprobs
    tokens[0]["logprob"] = None
    assert () == span({KIND: "LLM", "output.value": json.dumps(response)}).token_logprobs


def test_versions_model_and_session() -> None:
    """The model that answered is preferred to the one that was asked for."""
    found = span(
        {
            KIND: "LLM",
            "llm.model_name": "m",
            "llm.response.model_name": "m-2026",
            "llm.prompt_template.version": "p7",
            "session.id": "chat-1",
            "user.id": 204,
        },
        resource={"service.version": "4.2"},
    )
    assert ("m-2026", "p7", "4.2") == (found.versions.model, found.versions.prompt, found.versions.app)
    assert ("chat-1", "204") == (found.conversation_id, found.user_id)


def test_a_tool_keeps_its_arguments_and_output_as_recorded() -> None:
    """JSON of a tool is its output, not a wrapping."""
    found = span(
        {KIND: "TOOL", "tool.name": "track", "input.value": '{"id": 4}', "output.value": '{"text": "x", "days": 2}'}
    )
    assert ToolCall(name="track", arguments='{"id": 4}', output='{"text": "x", "days": 2}') == found.tool


def test_hidden_content_is_redacted_where_it_makes_an_answer_unreadable() -> None:
    """A hidden question leaves answer and passages readable."""
    hidden = "__REDACTED__"
    assert ("redacted",) == span({KIND: "CHAIN", "input.value": "q", "output.value": hidden}).flags
    assert ("redacted_input",) == span({KIND: "CHAIN", "input.value": hidden, "output.value": "a"}).flags
    assert ("redacted",) == span({KIND: "RETRIEVER", "retrieval.documents.0.document.content": hidden}).flags
    assert ("redacted",) == span({KIND: "LLM", "llm.output_messages.0.message.content": hidden}).flags


def test_annotations_and_evaluations_are_feedback() -> None:
    """Who gave it is the kind of the annotator."""
    found = span(
        {
            KIND: "CHAIN",
            "annotations.0.annotation.name": "helpful",
            "annotations.0.annotation.label": "thumbs_down",
            "annotations.0.annotation.explanation": "wrong price",
            "annotations.0.annotation.annotator_kind": "HUMAN",
            "trace.evaluations.0.evaluation.name": "relevance",
            "trace.evaluations.0.evaluation.score": 0.4,
            "trace.evaluations.0.evaluation.annotator_kind": "LLM",
        }
    )
    assert (
        Feedback(name="helpful", value="thumbs_down", comment="wrong price"),
        Feedback(name="relevance", value="0.4", is_from_user=False),
    ) == found.feedback


def test_lists_that_were_not_flattened_are_read_too() -> None:
    """Some exporters write the list as JSON in one attribute."""
    found = span({KIND: "RETRIEVER", "retrieval.documents": '[{"document.content": "a", "document.id": "1"}]'})
    assert [("1", "a")] == [(passage.doc_id, passage.text) for passage in found.documents or ()]
    call = span({KIND: "LLM", "llm.input_messages": '[{"message.role": "user", "message.content": "hi"}]'})
    assert [("user", "hi")] == said(call)
