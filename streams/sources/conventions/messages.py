"""Chat messages of every generation to one: a role in our words and the text parts, joined by line feeds.

Known are OpenAI's content and content parts, GenAI's parts, Gemini's, Anthropic's and Bedrock's blocks, and LangChain's
message objects in both of their JSON forms. Reasoning, images and calls of tools are no text and are left out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from schemas.trace import MAX_ITEMS
from streams.sources.conventions.values import MAX_DEPTH, as_text, parsed
from streams.sources.raw import Json

_ROLES = {
    "human": "user", "humanmessage": "user", "humanmessagechunk": "user", "end_user": "user",
    "ai": "assistant", "aimessage": "assistant", "aimessagechunk": "assistant", "model": "assistant",
    "bot": "assistant", "chatbot": "assistant",
    "systemmessage": "system", "developer": "system",
    "function": "tool", "toolmessage": "tool", "functionmessage": "tool", "tool_response": "tool",
    "user": "user", "assistant": "assistant", "system": "system", "tool": "tool",
}  # fmt: skip
_CONTENT = ("content", "contents", "parts", "text", "tool_calls")
_ANSWERS = ("choices", "generations", "candidates", "output")
_LISTS = ("messages", "input_messages", "chat_messages", *_ANSWERS)
"""Where a request or a response keeps its messages."""
_REQUESTS = ("inputs", "input", "prompts", "prompt", "kwargs", "body")
"""Where a call keeps its request."""
_TEXT_TYPES = frozenset({"", "text", "input_text", "output_text", "refusal"})
_RESPONSE_TYPES = frozenset({"tool_call_response", "tool_result", "tool_response"})


@dataclass(frozen=True, slots=True)
class Said:
    """One message; ``content`` is empty where nothing in it is text."""

    role: str
    content: str
    finish_reason: str = ""


def role_of(value: Json) -> str:
    """A role or message type in our words; a role that nobody knows stays as it is, empty when there is none."""
    if not isinstance(value, str):
        return ""
    lower = value.strip().lower()
    return _ROLES.get(lower, lower)


def messages_of(value: Json, flags: set[str], default_role: str = "user", *, is_json: bool = False) -> list[Said]:
    """The messages in a list, a request or a response, in order, at most 10,000; text alone is one message.

    Empty where there is none. JSON in text is read.
    """
    content = parsed(value, flags, is_json=is_json)
    if isinstance(content, str):
        return [Said(default_role, content)] if content.strip() else []
    return list(islice(_messages(content, flags, default_role, 0), MAX_ITEMS))


def is_message(value: Json) -> bool:
    """Whether this is one message rather than something that holds messages."""
    if not isinstance(value, dict):
        return False
    if _langchain_class(value).endswith("Message") or _langchain_class(value).endswith("MessageChunk"):
        return True
    if isinstance(value.get("data"), dict) and role_of(value.get("type")) in _ROLES.values():
        return True
    has_role = isinstance(value.get("role"), str) or role_of(value.get("type")) in _ROLES.values()
    return has_role and any(key in value for key in _CONTENT)


def content_text(content: Json, flags: set[str], depth: int = 0) -> str:
    """The text of a message's content: text, or its text parts joined by line feeds."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return _part_text(content, flags, depth)
    if isinstance(content, list) and depth < MAX_DEPTH:
        parts = (content_text(part, flags, depth + 1) for part in islice(content, MAX_ITEMS))
        return "\n".join(part for part in parts if part)
    if content is not None and not isinstance(content, list):
        flags.add("wrong_shape")
    return ""


def _part_text(part: Mapping[str, Any], flags: set[str], depth: int) -> str:
    kind = part.get("type")
    kind = kind.lower() if isinstance(kind, str) else ""
    if kind in _RESPONSE_TYPES:
        answer = next((part[key] for key in ("response", "result", "content", "output") if key in part), "")
        return (
            content_text(answer, flags, depth + 1) or as_text(answer) if isinstance(answer, list) else as_text(answer)
        )
    if kind not in _TEXT_TYPES:
        return ""
    text = part.get("text", part.get("content", part.get("refusal")))
    return content_text(text, flags, depth + 1) if depth < MAX_DEPTH else ""


def _messages(value: Json, flags: set[str], role: str, depth: int) -> Iterator[Said]:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, str):
        if value.strip():
            yield Said(role, value)
    elif isinstance(value, list):
        if len(value) == 2 and isinstance(value[0], str) and value[0].lower() in _ROLES and isinstance(value[1], str):  # noqa: PLR2004 - a pair
            yield Said(role_of(value[0]), value[1])
            return
        for item in value:
            yield from _messages(item, flags, role, depth + 1)
    elif is_message(value):
        yield _message(value, flags, role)
    elif isinstance(value, dict):
        yield from _within(value, flags, role, depth)


def _within(value: dict[str, Any], flags: set[str], role: str, depth: int) -> Iterator[Said]:
    """The messages of a request, a response, or one choice of a response."""
    if isinstance(value.get("content"), dict) and is_message(value["content"]):  # a candidate of Gemini's
        found = _message(value["content"], flags, role)
        yield Said(found.role, found.content, _reason(value) or found.finish_reason)
        return
    if isinstance(value.get("message"), dict):  # a choice of OpenAI's, a generation of LangChain's
        for found in _messages(value["message"], flags, "assistant", depth + 1):
            yield Said(found.role, found.content, _reason(value) or found.finish_reason)
        return
    for key in _LISTS if role == "assistant" else (*_LISTS, *_REQUESTS):
        inner = value.get(key)
        if isinstance(inner, (list, dict)) and inner:
            if key == "messages" and value.get("system"):  # Anthropic's requests
                yield Said("system", content_text(value["system"], flags))
            yield from _messages(inner, flags, "assistant" if key in _ANSWERS else role, depth + 1)
            return
    text = value.get("text", value.get("generated_text", value.get("completion")))
    if isinstance(text, str) and text.strip():
        yield Said(role, text, _reason(value))


def _message(value: dict[str, Any], flags: set[str], default_role: str) -> Said:
    kind: Json = _langchain_class(value)
    if kind:
        fields = value.get("kwargs")
    else:
        fields = value.get("data") if "content" not in value and isinstance(value.get("data"), dict) else value
        kind = value.get("type")
    fields = fields if isinstance(fields, dict) else {}
    role = role_of(fields.get("role")) or role_of(value.get("role")) or role_of(kind) or default_role
    content = next((fields[key] for key in ("content", "contents", "parts", "text") if fields.get(key)), None)
    return Said("assistant" if role == "message" else role, content_text(content, flags), _reason(fields))


def _langchain_class(value: Mapping[str, Any]) -> str:
    """The class of a LangChain object in the form that its own serializer writes, else empty."""
    path = value.get("id")
    is_constructor = value.get("type") == "constructor" and isinstance(path, list) and bool(path)
    return path[-1] if is_constructor and isinstance(path, list) and isinstance(path[-1], str) else ""


def _reason(fields: Mapping[str, Any]) -> str:
    for part in (fields, fields.get("response_metadata"), fields.get("generation_info")):
        if isinstance(part, dict):
            for key in ("finish_reason", "stop_reason", "finishReason", "done_reason"):
                if isinstance(part.get(key), str):
                    return str(part[key]).lower()
    return ""
