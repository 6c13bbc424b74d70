"""GenAI attributes and events over all their generations."""

import json
from typing import Any

import pytest

from schemas.span import Feedback, SpanKind
from schemas.trace import ToolCall
from streams.sources.conventions import to_span
from streams.sources.raw import Json
from tests.unit.sources.raw_spans import event, log, said, span, texts

OPERATION = "gen_ai.operation.name"
USER = [{"role": "user", "parts": [{"type": "text", "content": "Where is my parcel?"}]}]
ASSISTANT = [{"role": "assistant", "parts": [{"type": "text", "content": "In Lyon."}], "finish_reason": "stop"}]


@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        ("chat", SpanKind.LLM), ("text_completion", SpanKind.LLM), ("generate_content", SpanKind.LLM),
        ("embeddings", SpanKind.EMBEDDING), ("retrieval", SpanKind.RETRIEVER), ("execute_tool", SpanKind.TOOL),
        ("invoke_agent", SpanKind.AGENT), ("invoke_workflow", SpanKind.CHAIN), ("create_agent", SpanKind.OTHER),
        ("plan", SpanKind.OTHER), ("something_new", SpanKind.OTHER),
    ],
)  # fmt: skip
def test_kinds_follow_the_operation(operation: str, kind: SpanKind) -> None:
    """Operations of all versions, and those to come."""
    assert kind == span({OPERATION: operation}).kind


@pytest.mark.parametrize(
    ("attributes", "kind"),
    [
        ({"gen_ai.request.model": "m"}, SpanKind.LLM),
        ({"gen_ai.tool.name": "t"}, SpanKind.TOOL),
        ({"gen_ai.retrieval.query.text": "q"}, SpanKind.RETRIEVER),
        ({"gen_ai.evaluation.name": "relevance"}, SpanKind.EVALUATOR),
        ({"gen_ai.system": "x"}, SpanKind.OTHER),
    ],
)
def test_without_an_operation_the_keys_tell(attributes: dict[str, Json], kind: SpanKind) -> None:
    """Before 1.27 there was no operation."""
    assert kind == span(attributes).kind


@pytest.mark.parametrize("encode", [json.dumps, lambda value: value])
def test_messages_are_json_in_text_or_structured(encode: Any) -> None:
    """Spans may carry text where events carry lists of maps."""
    found = span(
        {
            OPERATION: "chat",
            "gen_ai.system_instructions": encode([{"type": "text", "content": "Be brief."}]),
            "gen_ai.input.messages": encode(USER),
            "gen_ai.output.messages": encode(ASSISTANT),
        }
    )
    assert [("system", "Be brief."), ("user", "Where is my parcel?")] == said(found)
    assert (("In Lyon.",), "stop", ()) == (found.completions, found.finish_reason, found.flags)


def test_an_agent_has_a_question_and_an_answer() -> None:
    """The newest message of the user, and what was written."""
    talk = [*USER, *ASSISTANT, {"role": "user", "parts": [{"type": "text", "content": "And when?"}]}]
    found = span({OPERATION: "invoke_agent", "gen_ai.input.messages": talk, "gen_ai.output.messages": ASSISTANT})
    assert ("And when?", "In Lyon.", ()) == (found.input, found.output, found.messages)


def test_parts_other_than_text_are_left_out_and_tool_answers_kept() -> None:
    """Calls and reasoning are no text; what a tool answered is."""
    talk = [
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "1", "name": "track", "arguments": {"id": 4}}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": {"city": "Lyon"}}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "2", "result": "rainy"}]},
        {"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}, {"type": "text", "content": "Lyon"}]},
    ]
    found = span({OPERATION: "chat", "gen_ai.input.messages": talk})
    assert [("tool", '{"city":"Lyon"}'), ("tool", "rainy"), ("assistant", "Lyon")] == said(found)


def test_several_choices_are_several_completions() -> None:
    """Each output message is one choice."""
    outputs = [*ASSISTANT, {"role": "assistant", "parts": [{"type": "text", "content": "Near Lyon."}]}]
    assert ("In Lyon.", "Near Lyon.") == span({OPERATION: "chat", "gen_ai.output.messages": outputs}).completions


def test_retrieval_with_and_without_text() -> None:
    """1.41 has id and score; the repository leaves both optional, and vendors add text."""
    bare = span({OPERATION: "retrieval", "gen_ai.retrieval.documents": '[{"id": "a#1", "score": 0.5}]'})
    assert [("a#1", 0.5, "")] == [(one.doc_id, one.score, one.text) for one in bare.documents or ()]
    full = span(
        {
            OPERATION: "retrieval",
            "gen_ai.data_source.id": "kb",
            "gen_ai.retrieval.query.text": "lost parcel",
            "gen_ai.retrieval.documents": [{"content": "x"}, {"text": "y", "id": 3}],
        }
    )
    assert (["x", "y"], "lost parcel", "kb") == (texts(full), full.query, full.versions.corpus)
    assert span({OPERATION: "retrieval", "gen_ai.data_source.id": "kb"}).documents is None


def test_a_tool_call_with_arguments_and_result() -> None:
    """Structured or text, both are kept as text."""
    found = span(
        {
            OPERATION: "execute_tool",
            "gen_ai.tool.name": "track",
            "gen_ai.tool.call.arguments": {"id": 4},
            "gen_ai.tool.call.result": '{"city": "Lyon"}',
        }
    )
    assert ToolCall(name="track", arguments='{"id":4}', output='{"city": "Lyon"}') == found.tool


def test_names_and_versions() -> None:
    """The model that answered before the one asked for; prompt by name and version."""
    found = span(
        {
            OPERATION: "chat",
            "gen_ai.request.model": "m",
            "gen_ai.response.model": "m-2026",
            "gen_ai.conversation.id": "c",
            "gen_ai.prompt.name": "ask",
            "gen_ai.prompt.version": 3,
            "gen_ai.response.finish_reasons": '["length"]',
        }
    )
    assert ("m-2026", "ask@3", "c", "length") == (
        found.versions.model, found.versions.prompt, found.conversation_id, found.finish_reason,
    )  # fmt: skip


def test_an_inference_span_without_content_says_so() -> None:
    """Content is off by default in this convention; other kinds of spans may well have none."""
    assert ("no_content",) == span({OPERATION: "chat", "gen_ai.request.model": "m"}).flags
    assert () == span({OPERATION: "invoke_agent"}).flags
    hidden = log("gen_ai.choice", {}, {"index": 0, "finish_reason": "stop", "message": {"role": "assistant"}})
    asked = log("gen_ai.choice", {}, {"index": 0, "message": {"role": "assistant", "tool_calls": [{"id": "1"}]}})
    assert (("no_content",), ()) == (to_span(hidden).flags, to_span(asked).flags)


def test_one_event_for_each_message() -> None:
    """Up to 1.36: choices come in the order of their index."""
    found = span(
        {OPERATION: "chat", "gen_ai.system": "x"},
        events=(
            event("gen_ai.system.message", content="Be brief."),
            event("gen_ai.user.message", content="Hello"),
            event("gen_ai.choice", index=1, finish_reason="stop", message={"content": "Hey"}),
            event("gen_ai.choice", index=0, finish_reason="length", message='{"role": "assistant", "content": "Hi"}'),
            event("exception", message="no message of a chat"),
        ),
    )
    assert [("system", "Be brief."), ("user", "Hello")] == said(found)
    assert (("Hi", "Hey"), "length") == (found.completions, found.finish_reason)


def test_content_in_the_events_own_attribute() -> None:
    """Some libraries keep the body of the event as JSON in one attribute."""
    found = span(
        {OPERATION: "chat"},
        events=(
            event("gen_ai.user.message", gen_ai__event__content='{"role": "user", "content": "Hello"}'),
            event("gen_ai.choice", gen_ai__event__content='{"index": 0, "message": {"content": "Hi"}}'),
        ),
    )
    assert ([("user", "Hello")], ("Hi",)) == (said(found), found.completions)


def test_prompt_and_completion_as_events() -> None:
    """The oldest generation: JSON, or text alone."""
    found = span(
        {OPERATION: "chat"},
        events=(
            event("gen_ai.content.prompt", gen_ai__prompt='[{"role": "user", "content": "Hello"}]'),
            event("gen_ai.content.completion", gen_ai__completion="Hi"),
        ),
    )
    assert ([("user", "Hello")], ("Hi",)) == (said(found), found.completions)


def test_all_content_on_one_event() -> None:
    """Since 1.37, on a span or as a log record."""
    content = {"gen_ai.input.messages": USER, "gen_ai.output.messages": ASSISTANT, OPERATION: "chat"}
    name = "gen_ai.client.inference.operation.details"
    on_span = span({OPERATION: "chat"}, events=(event(name, **content),))
    as_log = to_span(log(name, content))
    for found in (on_span, as_log):
        assert ([("user", "Where is my parcel?")], ("In Lyon.",)) == (said(found), found.completions)
    assert (False, True) == (on_span.is_update, as_log.is_update)


@pytest.mark.parametrize(
    ("name", "body", "messages", "completions"),
    [
        ("gen_ai.user.message", {"content": "Hello"}, [("user", "Hello")], ()),
        ("gen_ai.user.message", {"role": "human", "content": "Hello"}, [("user", "Hello")], ()),
        ("gen_ai.user.message", '{"content": "Hello"}', [("user", "Hello")], ()),
        ("gen_ai.user.message", "Hello", [("user", "Hello")], ()),
        ("gen_ai.tool.message", {"id": "1", "content": "12 kg"}, [("tool", "12 kg")], ()),
        ("gen_ai.assistant.message", {"tool_calls": [{"id": "1"}]}, [], ()),
        ("gen_ai.choice", {"index": 0, "message": {"content": "Hi"}}, [], ("Hi",)),
        ("gen_ai.choice", {"index": 0, "message": {"tool_calls": []}}, [], ()),
    ],
)
def test_log_records_say_their_own_message(
    name: str, body: Json, messages: list[tuple[str, str]], completions: tuple[str, ...]
) -> None:
    """A record is an update of its span: no end, no name, no parent."""
    found = to_span(log(name, {"gen_ai.system": "x"}, body))
    assert (messages, completions) == (said(found), found.completions)
    assert (SpanKind.LLM, True, None, "") == (found.kind, found.is_update, found.end, found.name)


def test_results_of_a_foreign_evaluator_are_feedback_of_the_span_they_judge() -> None:
    """Its score is a lead; the span stays what it is."""
    result = {
        "gen_ai.evaluation.name": "relevance",
        "gen_ai.evaluation.score.value": 0.2,
        "gen_ai.evaluation.score.label": "not_relevant",
        "gen_ai.evaluation.explanation": "off topic",
    }
    expected = Feedback(name="relevance", value="not_relevant", comment="off topic", is_from_user=False)
    on_span = span({OPERATION: "chat"}, events=(event("gen_ai.evaluation.result", **result),))
    assert (SpanKind.LLM, (expected,)) == (on_span.kind, on_span.feedback)
    as_log = to_span(log("gen_ai.evaluation.result", result))
    assert (expected,) == as_log.feedback
    assert as_log.kind is not SpanKind.FEEDBACK


def test_json_that_breaks_off_gives_what_is_there_and_says_so() -> None:
    """Limits on the length of values cut in the middle."""
    whole = json.dumps(ASSISTANT)
    found = span({OPERATION: "chat", "gen_ai.output.messages": whole[: whole.index("Lyon") + 2]})
    assert (("In Ly",), ("truncated",)) == (found.completions, found.flags)
    agent = {OPERATION: "invoke_agent", "gen_ai.output.messages": ASSISTANT}
    cut = json.dumps(USER)[:60]
    assert ("truncated_input",) == span({**agent, "gen_ai.input.messages": cut}).flags


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({OPERATION: "chat", "gen_ai.output.messages": ASSISTANT, "gen_ai.input.messages": USER}, ()),
        ({OPERATION: "chat", "gen_ai.output.messages": ASSISTANT}, ("truncated",)),
        ({OPERATION: "retrieval"}, ("truncated",)),
        ({OPERATION: "embeddings"}, ()),
        ({"http.request.method": "POST"}, ()),
    ],
)
def test_dropped_attributes_matter_where_content_may_be_among_them(
    attributes: dict[str, Json], expected: tuple[str, ...]
) -> None:
    """A web server's span that lost a header is whole."""
    assert expected == span(attributes, dropped=3).flags
