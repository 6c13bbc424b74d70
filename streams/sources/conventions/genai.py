"""OpenTelemetry's GenAI attributes, 1.37 to 1.41 and the repository that the area moved to.

Content is JSON in text on spans and lists of maps on events; both are read everywhere. The same keys stand on the event
``gen_ai.client.inference.operation.details``. Documents often carry no text: assembly takes it from the prompt then.
"""

from collections.abc import Iterator, Mapping

from schemas.span import SpanKind
from streams.sources.conventions.messages import Said, content_text, messages_of
from streams.sources.conventions.reading import Reading, given, names_of, prompt_name
from streams.sources.conventions.values import name, parsed, texts
from streams.sources.raw import Json, RawSpan

KINDS = {
    "chat": SpanKind.LLM,
    "text_completion": SpanKind.LLM,
    "completion": SpanKind.LLM,
    "generate_content": SpanKind.LLM,
    "embeddings": SpanKind.EMBEDDING,
    "embedding": SpanKind.EMBEDDING,
    "retrieval": SpanKind.RETRIEVER,
    "vector_db_retrieve": SpanKind.RETRIEVER,
    "rerank": SpanKind.RERANKER,
    "execute_tool": SpanKind.TOOL,
    "invoke_agent": SpanKind.AGENT,
    "invoke_workflow": SpanKind.CHAIN,
    "evaluate": SpanKind.EVALUATOR,
    "evaluation": SpanKind.EVALUATOR,
}
"""By operation; what is not here is ``other``, as planning and the making of agents are."""
_INFERENCE = ("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.request.model", "gen_ai.response.model")
_NAMES = {
    "conversation_id": ("gen_ai.conversation.id",),
    "model": ("gen_ai.response.model", "gen_ai.request.model"),
    "corpus": ("gen_ai.data_source.id",),
}


def read_genai(raw: RawSpan) -> Reading | None:
    """What GenAI attributes say; None when there is none of them."""
    return read_attributes(raw.attributes) if any(key.startswith("gen_ai.") for key in raw.attributes) else None


def read_attributes(found: Mapping[str, Json], convention: str = "genai") -> Reading:
    """As `read_genai`, for the attributes of a span, a log record or an event."""
    flags: set[str] = set()
    prompt_flags: set[str] = set()
    completions = messages_of(found.get("gen_ai.output.messages"), flags, "assistant")
    reasons = texts(found.get("gen_ai.response.finish_reasons"), flags)
    return Reading(
        convention=convention,
        kind=_kind(found, flags),
        query=given(found, "gen_ai.retrieval.query.text", "gen_ai.retrieval.query"),
        documents=given(found, "gen_ai.retrieval.documents"),
        messages=tuple(_prompt(found, prompt_flags)),
        prompt_flags=frozenset(prompt_flags),
        completions=tuple(completions),
        output=given(found, "gen_ai.tool.call.result"),
        tool_name=name(found.get("gen_ai.tool.name"), flags),
        arguments=given(found, "gen_ai.tool.call.arguments"),
        finish_reason=reasons[0] if reasons else next((said.finish_reason for said in completions), ""),
        names={
            **names_of(found, _NAMES, flags),
            **prompt_name(found, "gen_ai.prompt.name", "gen_ai.prompt.version", flags),
        },
        flags=frozenset(flags),
    )


def _kind(found: Mapping[str, Json], flags: set[str]) -> SpanKind | None:
    operation = name(found.get("gen_ai.operation.name"), flags).lower()
    if operation:
        return KINDS.get(operation, SpanKind.OTHER)
    if found.get("gen_ai.evaluation.name") is not None:
        return SpanKind.EVALUATOR
    if any(key.startswith("gen_ai.retrieval.") for key in found):
        return SpanKind.RETRIEVER
    if found.get("gen_ai.tool.name") is not None or found.get("gen_ai.tool.call.id") is not None:
        return SpanKind.TOOL
    return SpanKind.LLM if any(found.get(key) is not None for key in _INFERENCE) else None


def _prompt(found: Mapping[str, Json], flags: set[str]) -> Iterator[Said]:
    """The system's instructions, which stand apart, and the talk so far."""
    instructions = content_text(parsed(found.get("gen_ai.system_instructions"), flags), flags)
    if instructions.strip():
        yield Said("system", instructions)
    yield from messages_of(found.get("gen_ai.input.messages"), flags)
