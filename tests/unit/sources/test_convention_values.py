"""Messages and texts of every shape; the view for mapping rules."""

import json
from typing import Any

import pytest

from streams.sources.conventions import flat_values
from streams.sources.conventions.messages import messages_of
from streams.sources.conventions.texts import INPUT, OUTPUT, completions_of, prompt_of, unwrap
from streams.sources.conventions.values import parsed
from streams.sources.raw import Json
from tests.unit.sources.raw_spans import raw


def message(name: str, **kwargs: Json) -> dict[str, Json]:
    """A LangChain message as its own serializer writes it."""
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", name], "kwargs": kwargs}


def part(kind: str, text: str) -> dict[str, Json]:
    """A part of a message."""
    return {"type": kind, "text": text}


@pytest.mark.parametrize(
    "value",
    [
        [{"role": "user", "content": "hi"}],
        {"messages": [{"role": "user", "content": "hi"}], "model": "m"},
        {"messages": [[message("HumanMessage", content="hi", type="human")]]},
        [{"type": "human", "content": "hi"}],
        [{"type": "human", "data": {"content": "hi"}}],
        [{"role": "human", "content": [part("text", "hi"), {"type": "image_url", "image_url": {"url": "u"}}]}],
        [{"role": "user", "parts": [{"text": "hi"}]}],
        [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}],
        [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        [["human", "hi"]],
        {"contents": [], "input": [{"role": "user", "content": "hi"}]},
        {"prompts": ["hi"]},
        {"kwargs": {"messages": [{"role": "user", "content": "hi"}]}, "args": []},
        {"role": "user", "content": "hi"},
        {"question": "hi"},
        "hi",
    ],
)  # fmt: skip
@pytest.mark.parametrize("encode", [json.dumps, lambda value: value])
def test_prompts_of_every_generation(value: Json, encode: Any) -> None:
    """One message of the user in all of them."""
    found = prompt_of(encode(value), set(), is_json=encode is json.dumps)
    assert [("user", "hi")] == [(one.role, one.content) for one in found]


@pytest.mark.parametrize(
    "value",
    [
        {"choices": [{"message": {"role": "assistant", "content": "yo"}, "finish_reason": "stop"}]},
        {"choices": [{"text": "yo", "finish_reason": "stop"}]},
        {"generations": [[{"text": "yo", "generation_info": {}, "message": message("AIMessage", content="yo")}]]},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "yo"}]}, "finishReason": "STOP"}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, part("text", "yo")]},
        {"output": [{"type": "reasoning"}, {"type": "message", "role": "ai", "content": [part("output_text", "yo")]}]},
        {"output": {"message": {"role": "assistant", "content": [{"text": "yo"}]}}, "stopReason": "stop"},
        {"message": {"role": "assistant", "content": "yo"}, "done_reason": "stop"},
        message("AIMessage", content="yo", response_metadata={"finish_reason": "stop"}),
        {"messages": [message("HumanMessage", content="hi"), {"type": "ai", "content": "-"}, ["ai", "yo"]]},
        [{"generated_text": "yo"}],
        {"content": "yo"}, {"answer": "yo"}, "yo",
    ],
)  # fmt: skip
def test_completions_of_every_provider(value: Json) -> None:
    """What the model wrote, without its reasoning."""
    assert ["yo"] == [one.content for one in completions_of(value, set())]


def test_roles_are_ours() -> None:
    """Roles that nobody knows stay."""
    roles = ["ai", "Human", "developer", "model", "function", "critic"]
    said = messages_of([{"role": role, "content": "x"} for role in roles], set())
    assert ["assistant", "user", "system", "assistant", "tool", "critic"] == [one.role for one in said]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"answer": "a", "source_documents": [{"page_content": "x"}]}, "a"),
        ({"output": {"answer": "a"}}, "a"),
        ({"outputs": "a", "kwargs": {}}, "a"),
        ({"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}, "a"),
        ({"anything": "a"}, "a"),
        ('{"result": "{\\"answer\\": \\"a\\"}"}', "a"),
        ('{"days": 30, "unit": "day"}', '{"days": 30, "unit": "day"}'),
        ("[1] Yes, it does.", "[1] Yes, it does."),
        ("[1, 2] and [3", "[1, 2] and [3"),
        ("{name}, your parcel is here", "{name}, your parcel is here"),
        ("42", "42"), ("true", "true"), ('"quoted"', '"quoted"'), ("null", "null"),
        ("", None), ({}, None), ("[]", None), (None, None),
    ],
)  # fmt: skip
def test_answers_are_unwrapped_and_what_is_no_wrapping_stays(value: Json, expected: str | None) -> None:
    """An answer in brackets is no list."""
    flags: set[str] = set()
    assert (expected, set()) == (unwrap(value, OUTPUT, flags), flags)


def test_values_that_are_json_by_convention() -> None:
    """Quotes, numbers and null are read there."""
    found = [unwrap(text, INPUT, set(), is_json=True) for text in ('"quoted"', "42", "null", "plain text")]
    assert ["quoted", "42", None, "plain text"] == found


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ('{"answer": "half of', "truncated"), ('[{"role": "assistant", "content": "half', "truncated"),
        ("{'answer': 'half of", "truncated"), ("[Document(page_content='half of", "truncated"),
        ('{"answer": "\\ud83d"}', "repaired_text"),
    ],
)  # fmt: skip
def test_cut_and_broken_values_say_so(text: str, flag: str) -> None:
    """What is there is kept."""
    flags: set[str] = set()
    assert unwrap(text, OUTPUT, flags)
    assert {flag} == flags


def test_python_literals_are_read_within_bounds() -> None:
    """Tuples and sets are lists, names are none; what is too large or too deep stays text."""
    assert {"a": [1, None, True], "1": ["b"]} == parsed("{'a': (1, None, True), 1: {'b'}}", set())
    for text in ("{'a': open}", "[" * 5000 + "'" + "]" * 5000, "{'a': '" + "x" * 300_000 + "'}", "{'\\d': 'ok', 'x'}"):
        assert text == parsed(text, set())


def test_mapping_rules_see_attributes_resource_metadata_and_tags() -> None:
    """Under keys that do not depend on the format."""
    found = flat_values(
        raw(
            {
                "app.intent": "a",
                "metadata": "{'intent': 'b', 'plan': {'tier': 'high'}}",
                "langfuse.trace.metadata.intent": "c",
                "langfuse.trace.metadata.limits": '{"days": 3}',
                "langfuse.observation.metadata": '{"step": 2}',
                "traceloop.association.properties.intent": "d",
                "tag.tags": ["web", "intent:e", "tier=low"],
                "mlflow.traceTag.intent": '"f"',
            },
            resource={"service.name": "help"},
            scope="lib",
        )
    )
    expected = {
        "app.intent": "a", "metadata.intent": "b", "metadata.plan.tier": "high", "metadata.limits.days": 3,
        "metadata.step": 2, "association.intent": "d", "tags.intent": "e", "tags.tier": "low",
        "tags": ["web", "intent:e", "tier=low"], "mlflow.traceTag.intent": "f", "resource.service.name": "help",
        "scope": "lib", "name": "step", "traceloop.association.properties.intent": "d",
    }  # fmt: skip
    assert expected == {key: found[key] for key in expected}
