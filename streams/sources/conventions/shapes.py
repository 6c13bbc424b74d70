"""From what the conventions say to the fields of a span, by its kind: a model call, a search, a tool, or a step.

For every field the first convention that says anything wins. Values are parsed only here, so a large attribute that
loses costs nothing.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any

from schemas.span import ChatMessage, SpanKind
from schemas.trace import MAX_ITEMS, MAX_TOKENS, Passage, ToolCall
from streams.sources.conventions.documents import documents_of
from streams.sources.conventions.messages import Said, is_message, messages_of
from streams.sources.conventions.reading import Given, Reading
from streams.sources.conventions.texts import INPUT, OUTPUT, Side, completions_of, inner, prompt_of, unwrap
from streams.sources.conventions.values import as_text, number, parsed
from streams.sources.raw import Json

Fields = dict[str, Any]
_SILENT = frozenset({SpanKind.EMBEDDING, SpanKind.EVALUATOR})
"""Vectors are of no use here, and what a judge reads and writes is no part of an answer."""


def shaped(kind: SpanKind, readings: Sequence[Reading], name: str, flags: set[str]) -> Fields:
    """The content of a span of this kind, field by field; flags say what was cut or left out."""
    if kind in _SILENT:
        return {}
    if kind is SpanKind.LLM:
        return _call(readings, flags)
    if kind in (SpanKind.RETRIEVER, SpanKind.RERANKER):
        return {"documents": _documents(readings, flags), "query": _query(readings, flags)}
    if kind is SpanKind.TOOL:
        return {"tool": _tool(readings, name, flags)}
    return {"input": _text(readings, INPUT, flags), "output": _text(readings, OUTPUT, flags)}


def _call(readings: Sequence[Reading], flags: set[str]) -> Fields:
    messages = _prompt(readings, flags)
    completions = _completions(readings, flags)
    stated = next((reading.finish_reason for reading in readings if reading.finish_reason), "")
    return {
        "messages": tuple(ChatMessage(role=said.role, content=said.content) for said in messages),
        "completions": tuple(said.content for said in completions if said.content.strip()),
        "finish_reason": stated or next((said.finish_reason for said in completions if said.finish_reason), ""),
        "token_logprobs": _logprobs(readings),
    }


def _prompt(readings: Sequence[Reading], flags: set[str]) -> list[Said]:
    for reading in readings:
        said = list(reading.messages) or (_given(prompt_of, reading.input, flags) if reading.input else [])
        said = [message for message in said if message.content.strip()]
        if said:
            flags |= reading.prompt_flags
            return said[:MAX_ITEMS]
    return []


def _completions(readings: Sequence[Reading], flags: set[str]) -> list[Said]:
    for reading in readings:
        said = list(reading.completions) or (_given(completions_of, reading.output, flags) if reading.output else [])
        if any(message.content.strip() or message.finish_reason for message in said):
            return said[:MAX_ITEMS]
    return []


def _given(read: Any, value: Given, flags: set[str]) -> list[Said]:
    found: list[Said] = read(value.value, flags, is_json=value.is_json)
    return found


def _documents(readings: Sequence[Reading], flags: set[str]) -> tuple[Passage, ...] | None:
    """Documents, else what the output of the search holds; None where nothing says what was found."""
    for reading in readings:
        for value in (reading.documents, reading.output):
            if value is not None and (found := documents_of(value.value, flags, is_json=value.is_json)) is not None:
                return found
    return None


def _query(readings: Sequence[Reading], flags: set[str]) -> str | None:
    for reading in readings:
        for value in (reading.query, reading.input):
            if value is not None and (found := _unwrapped(value, INPUT, flags)) is not None:
                return found
    return None


def _text(readings: Sequence[Reading], side: Side, flags: set[str]) -> str | None:
    """The text of a step: what it was given or gave, else the user's newest message, or what a model wrote."""
    for reading in readings:
        value = reading.input if side is INPUT else reading.output
        if value is not None and (found := _unwrapped(value, side, flags)) is not None:
            return found
        said = reading.messages if side is INPUT else reading.completions
        wanted = [message.content for message in said if message.role == side.role and message.content.strip()]
        if wanted and side is INPUT:
            flags |= _on_the_way_in(reading.prompt_flags)
            return wanted[-1]
        if wanted:
            return wanted[0]
    return None


def _unwrapped(value: Given, side: Side, flags: set[str]) -> str | None:
    """As `unwrap`; a question that was cut is told apart, since it makes no answer unreadable."""
    own: set[str] = set()
    found = unwrap(value.value, side, own, is_json=value.is_json)
    flags |= _on_the_way_in(own) if side is INPUT else own
    return found


def _on_the_way_in(flags: Collection[str]) -> set[str]:
    return {"truncated_input" if flag == "truncated" else flag for flag in flags}


def _tool(readings: Sequence[Reading], name: str, flags: set[str]) -> ToolCall:
    """The call with its arguments and output as they were recorded, out of shells and message objects only."""
    arguments = next((reading.arguments for reading in readings if reading.arguments is not None), None)
    output = next((reading.output for reading in readings if reading.output is not None), None)
    on_the_way_in: set[str] = set()
    call = ToolCall(
        name=next((reading.tool_name for reading in readings if reading.tool_name), "") or name,
        arguments=_recorded(arguments, on_the_way_in) or "",
        output=_recorded(output, flags),
    )
    flags |= _on_the_way_in(on_the_way_in)
    return call


def _recorded(value: Given | None, flags: set[str]) -> str | None:
    if value is None:
        return None
    content = parsed(value.value, flags, is_json=value.is_json)
    within = inner(content)
    if is_message(within):
        said = messages_of(within, flags, "tool")
        return said[0].content if said else ""
    if within is content and isinstance(value.value, str) and not isinstance(content, str):
        return value.value
    return None if within is None else as_text(within)


def _logprobs(readings: Sequence[Reading]) -> tuple[float, ...]:
    """Log-probabilities of the first choice's tokens, where a response holds them; none unless all are numbers."""
    for reading in readings:
        if reading.output is None or (isinstance(reading.output.value, str) and "logprob" not in reading.output.value):
            continue
        content = inner(parsed(reading.output.value, set(), is_json=reading.output.is_json))
        found = [number(item) for item in islice(_tokens(content), MAX_TOKENS)]
        if found and None not in found:
            return tuple(one for one in found if one is not None)
    return ()


def _tokens(content: Json) -> Iterator[Json]:
    for part in _choices(content):
        held = part.get("logprobs")
        if not isinstance(held, dict):
            continue
        if isinstance(held.get("token_logprobs"), list):
            yield from held["token_logprobs"]
        elif isinstance(held.get("content"), list):
            yield from (token.get("logprob") if isinstance(token, dict) else None for token in held["content"])
        return


def _choices(content: Json) -> Iterator[dict[str, Any]]:
    """Where logprobs may be: the first choice, the first generation, the metadata of a message."""
    place = content
    for _ in range(6):
        if isinstance(place, list) and place:
            place = place[0]
            continue
        if not isinstance(place, dict):
            return
        yield place
        keys = ("choices", "generations", "message", "kwargs", "response_metadata", "generation_info", "messages")
        place = next((place[key] for key in keys if isinstance(place.get(key), (list, dict)) and place[key]), None)
