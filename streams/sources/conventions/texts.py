"""Inputs and outputs as people would read them: the question or answer out of the wrapping that a framework puts on.

What is not known to be a wrapping stays the text that was recorded, so that an answer in JSON is judged as it is.
"""

from dataclasses import dataclass
from typing import Any

from streams.sources.conventions.messages import Said, content_text, is_message, messages_of
from streams.sources.conventions.values import MAX_DEPTH, as_text, parsed
from streams.sources.raw import Json


@dataclass(frozen=True, slots=True)
class Side:
    """Which keys hold the text, best first, and whose message it is in a list of messages."""

    keys: tuple[str, ...]
    role: str


INPUT = Side(
    (
        "question", "query", "user_question", "user_query", "user_input", "user_message", "query_str", "input",
        "input_text", "prompt", "text", "message", "messages", "inputs", "str_or_query_bundle", "content", "kwargs",
        "args", "state",
    ),
    "user",
)  # fmt: skip
OUTPUT = Side(
    (
        "answer", "output", "result", "response", "final_answer", "final_output", "completion", "generation", "reply",
        "output_text", "generated_text", "text", "content", "message", "messages", "choices", "generations",
        "candidates", "outputs", "return_values", "state",
    ),
    "assistant",
)  # fmt: skip
_SHELLS = ("inputs", "outputs", "output", "input")
_SHELL_ONLY = frozenset({"tags", "metadata", "kwargs", "name", "run_id"})


def unwrap(value: Json, side: Side, flags: set[str], *, is_json: bool = False) -> str | None:
    """The text in ``value``; None where it says nothing: absent, null, blank, or an empty wrapping.

    Flags ``truncated`` for JSON that breaks off. Never raises; linear in the length.
    """
    content = inner(parsed(value, flags, is_json=is_json))
    if content is None or content in ("", [], {}):
        return None
    found = _text(content, side, flags, 0)
    if found is None:
        found = value if isinstance(value, str) else as_text(content)
    return found if found.strip() else None


def prompt_of(value: Json, flags: set[str], *, is_json: bool = False) -> list[Said]:
    """The messages that a model was given, in order; text in any wrapping is one message of the user."""
    content = inner(parsed(value, flags, is_json=is_json))
    said = [] if isinstance(content, str) else messages_of(content, flags)
    if said:
        return said
    text = unwrap(content, INPUT, flags)
    return [Said("user", text)] if text else []


def completions_of(value: Json, flags: set[str], *, is_json: bool = False) -> list[Said]:
    """What a model wrote, one message a choice; of a state that holds the whole talk the newest message alone."""
    content = inner(parsed(value, flags, is_json=is_json))
    said: list[Said] = []
    if isinstance(content, dict) or (isinstance(content, list) and _holds_messages(content)):
        said = [one for one in messages_of(content, flags, "assistant") if one.role == "assistant"]
        said = [one for one in said if one.content.strip()] or said[:1]
    if said:
        is_state = isinstance(content, dict) and isinstance(content.get("messages"), list)
        return said[-1:] if is_state else said
    text = unwrap(content, OUTPUT, flags)
    return [Said("assistant", text)] if text else []


def inner(content: Json) -> Json:
    """What is within the shell that callbacks put on: ``{"inputs": …, "tags": […], "kwargs": {…}}``."""
    for _ in range(MAX_DEPTH):
        if not isinstance(content, dict):
            break
        keys = [key for key in _SHELLS if key in content]
        if len(keys) != 1 or not content.keys() <= {keys[0], *_SHELL_ONLY}:
            break
        content = content[keys[0]]
    return content


def _text(content: Json, side: Side, flags: set[str], depth: int) -> str | None:
    """The text within, None when nothing in it is known to be the text."""
    if isinstance(content, str):
        return _text_within(content, side, flags, depth)
    if content is None or depth > MAX_DEPTH:
        return None
    if isinstance(content, list):
        return _of_list(content, side, flags, depth)
    if isinstance(content, dict):
        return _of_map(content, side, flags, depth)
    return as_text(content)


def _text_within(text: str, side: Side, flags: set[str], depth: int) -> str:
    """Text, or what its JSON wraps once more."""
    content = parsed(text, flags)
    if isinstance(content, str):
        return content
    return _text(content, side, flags, depth + 1) or text


def _of_list(content: list[Any], side: Side, flags: set[str], depth: int) -> str | None:
    if all(isinstance(item, str) for item in content):
        return "\n".join(content)
    said = messages_of(content, flags, side.role) if _holds_messages(content) else []
    if said:
        wanted = [message.content for message in said if message.role == side.role and message.content.strip()]
        return wanted[-1] if wanted else None
    parts = content_text(content, flags) if all(_is_part(item) for item in content) else ""
    if parts:
        return parts
    return _text(content[0], side, flags, depth + 1) if len(content) == 1 else None


def _of_map(content: dict[str, Any], side: Side, flags: set[str], depth: int) -> str | None:
    if is_message(content):
        said = messages_of(content, flags, side.role)
        return said[0].content or None
    for key in side.keys:
        if key in content:
            found = _text(content[key], side, flags, depth + 1)
            if found is not None and found.strip():
                return found
    if len(content) == 1:
        only = next(iter(content.values()))
        return only if isinstance(only, str) else None
    return None


def _holds_messages(content: list[Any]) -> bool:
    """Messages, choices of a response, or batches of either."""
    first = content[0] if content else None
    if isinstance(first, list):
        return _holds_messages(first) or (len(first) == 2 and all(isinstance(item, str) for item in first))  # noqa: PLR2004 - role and text
    if not isinstance(first, dict):
        return False
    return any(is_message(item) for item in content) or any(
        isinstance(first.get(key), dict) for key in ("message", "content")
    )


def _is_part(item: Json) -> bool:
    return isinstance(item, dict) and isinstance(item.get("type"), str) and ("text" in item or "content" in item)
