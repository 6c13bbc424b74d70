"""OpenLLMetry: ``traceloop.*``, messages flattened as ``gen_ai.prompt.N`` before 0.5, vector stores' result events.

Every ``traceloop.entity`` value is JSON. Association properties stand on children too; the root may lack them.
"""

from collections.abc import Iterator, Mapping

from schemas.span import SpanKind
from streams.sources.conventions.flattened import items
from streams.sources.conventions.messages import Said, content_text, messages_of, role_of
from streams.sources.conventions.reading import Given, Reading, given, names_of, prompt_name
from streams.sources.conventions.values import name, parsed
from streams.sources.raw import Json, RawSpan

ASSOCIATION = "traceloop.association.properties."
_KINDS = {"workflow": SpanKind.CHAIN, "task": SpanKind.CHAIN, "agent": SpanKind.AGENT, "tool": SpanKind.TOOL}
_REQUESTS = {
    "chat": SpanKind.LLM,
    "completion": SpanKind.LLM,
    "embedding": SpanKind.EMBEDDING,
    "rerank": SpanKind.RERANKER,
}
_PREFIXES = ("traceloop.", "gen_ai.prompt.", "gen_ai.completion.", "llm.request.type")
_RESULTS = ("db.query.result", "db.search.result")
_NAMES = {
    "conversation_id": tuple(
        f"{ASSOCIATION}{key}" for key in ("session_id", "conversation_id", "thread_id", "chat_id")
    ),
    "user_id": tuple(f"{ASSOCIATION}{key}" for key in ("user_id", "user", "customer_id")),
    "model": ("gen_ai.response.model", "gen_ai.request.model"),
}


def read_openllmetry(raw: RawSpan) -> Reading | None:
    """What OpenLLMetry's keys and events say; None when there is none of them."""
    found = raw.attributes
    results = [event.attributes for event in raw.events if event.name in _RESULTS]
    if not results and not any(key.startswith(_PREFIXES) for key in found):
        return None
    flags: set[str] = set()
    prompt_flags: set[str] = set()
    messages = tuple(_messages(found, "gen_ai.prompt", "user", prompt_flags))
    completions = tuple(_messages(found, "gen_ai.completion", "assistant", flags))
    return Reading(
        convention="openllmetry",
        kind=SpanKind.RETRIEVER if results else _kind(found, has_messages=bool(messages or completions), flags=flags),
        input=given(found, "traceloop.entity.input", is_json=True),
        output=given(found, "traceloop.entity.output", is_json=True),
        documents=Given([_document(result) for result in results]) if results else None,
        messages=messages,
        prompt_flags=frozenset(prompt_flags),
        completions=completions,
        tool_name=name(found.get("traceloop.entity.name"), flags),
        arguments=given(found, "traceloop.entity.input", is_json=True),
        finish_reason=next((said.finish_reason for said in completions if said.finish_reason), ""),
        names=_names(found, flags),
        flags=frozenset(flags),
        has_lists=bool(results or messages or completions),
    )


def _kind(found: Mapping[str, Json], *, has_messages: bool, flags: set[str]) -> SpanKind | None:
    request = name(found.get("llm.request.type"), flags).lower()
    if request in _REQUESTS or has_messages:
        return _REQUESTS.get(request, SpanKind.LLM)
    stated = name(found.get("traceloop.span.kind"), flags).lower()
    return _KINDS.get(stated, SpanKind.OTHER) if stated else None


def _messages(found: Mapping[str, Json], prefix: str, role: str, flags: set[str]) -> Iterator[Said]:
    """Flattened messages, else those in the one attribute that was used before there were any."""
    flat = items(found, prefix, flags)
    for item in flat:
        if not item.keys() - {"role", "finish_reason"}:  # what was said is hidden
            continue
        content = parsed(item.get("content"), flags)
        text = content_text(content, flags) or content_text(item.get("content"), flags)
        yield Said(role_of(item.get("role")) or role, text, name(item.get("finish_reason"), flags).lower())
    if not flat:
        yield from messages_of(found.get(prefix), flags, role)


def _document(result: Mapping[str, Json]) -> dict[str, Json]:
    """A result without the event's name in its keys; what a store returns beside the text stands in ``entity``."""
    return {key.rpartition(".result.")[2]: value for key, value in result.items()}


def _names(found: Mapping[str, Json], flags: set[str]) -> dict[str, str]:
    named = names_of(found, _NAMES, flags)
    return {**named, **prompt_name(found, "traceloop.prompt.key", "traceloop.prompt.version", flags)}
