"""OpenInference: ``openinference.span.kind``, flattened documents and messages, ``input.value`` and ``output.value``.

Facts from its specification (semantic conventions 0.1.32) and from what instrumentors do. A span without the kind is
told by its keys. Feedback comes as flattened annotations and evaluations; who gave it is the annotator's kind.
"""

from collections.abc import Iterator, Mapping

from schemas.span import Feedback, SpanKind
from streams.sources.conventions.flattened import items, without_prefix
from streams.sources.conventions.messages import Said, content_text, messages_of, role_of
from streams.sources.conventions.reading import Given, Reading, given, names_of
from streams.sources.conventions.values import as_text, name, parsed
from streams.sources.raw import Json, RawSpan

_KINDS = {
    "LLM": SpanKind.LLM,
    "CHAIN": SpanKind.CHAIN,
    "AGENT": SpanKind.AGENT,
    "RETRIEVER": SpanKind.RETRIEVER,
    "RERANKER": SpanKind.RERANKER,
    "TOOL": SpanKind.TOOL,
    "EMBEDDING": SpanKind.EMBEDDING,
    "GUARDRAIL": SpanKind.GUARDRAIL,
    "EVALUATOR": SpanKind.EVALUATOR,
}
_DOCUMENTS = {"reranker.output_documents": SpanKind.RERANKER, "retrieval.documents": SpanKind.RETRIEVER}
_PREFIXES = ("openinference.", "input.", "output.", "llm.", "retrieval.", "reranker.", "tool.", "embedding.")
_NAMES = {
    "model": ("llm.response.model_name", "llm.model_name", "llm.request.model_name"),
    "prompt": ("llm.prompt_template.version",),
    "retriever": ("reranker.model_name",),
}
_FEEDBACK = (
    ("annotations", "annotation."), ("trace.annotations", "annotation."), ("session.annotations", "annotation."),
    ("evaluations", "evaluation."), ("trace.evaluations", "evaluation."), ("session.evaluations", "evaluation."),
)  # fmt: skip


def read_openinference(raw: RawSpan) -> Reading | None:
    """What OpenInference's keys say; None when there is none of them."""
    found = raw.attributes
    if not any(key.startswith(_PREFIXES) for key in found) and not any("annotation." in key for key in found):
        return None
    flags: set[str] = set()
    documents, inferred, lists = _documents(found, flags)
    prompt_flags: set[str] = set()
    messages = tuple(_messages(found, "llm.input_messages", "llm.prompts", "prompt.text", prompt_flags))
    completions = tuple(_messages(found, "llm.output_messages", "llm.choices", "completion.text", flags))
    if messages or completions:
        inferred = inferred or SpanKind.LLM
    return Reading(
        convention="openinference",
        kind=_kind(found, flags) or inferred,
        input=_value(found, "input"),
        output=_value(found, "output"),
        query=given(found, "reranker.query"),
        documents=documents,
        messages=messages,
        prompt_flags=frozenset(prompt_flags),
        completions=tuple(said for said in completions if said.role in ("assistant", "")),
        tool_name=name(found.get("tool.name"), flags),
        arguments=_value(found, "input") or given(found, "tool.parameters"),
        finish_reason=name(found.get("llm.finish_reason"), flags),
        names=names_of(found, _NAMES, flags),
        feedback=tuple(_feedback(found, flags)),
        flags=frozenset(flags),
        has_lists=lists or bool(messages),
    )


def _kind(found: Mapping[str, Json], flags: set[str]) -> SpanKind | None:
    stated = name(found.get("openinference.span.kind"), flags).upper()
    return _KINDS.get(stated, SpanKind.OTHER) if stated else None


def _value(found: Mapping[str, Json], side: str) -> Given | None:
    return given(found, f"{side}.value", is_json=found.get(f"{side}.mime_type") == "application/json")


def _documents(found: Mapping[str, Json], flags: set[str]) -> tuple[Given | None, SpanKind | None, bool]:
    """The documents, the kind of span that has such documents, and whether they came flattened."""
    for prefix, kind in _DOCUMENTS.items():
        listed = _listed(found, prefix, "document.", flags)
        if listed is not None:
            return Given(listed), kind, prefix not in found
    has_reranked = any(key.startswith("reranker.") for key in found)
    return None, SpanKind.RERANKER if has_reranked else None, False


def _listed(found: Mapping[str, Json], prefix: str, start: str, flags: set[str]) -> list[Json] | None:
    """The items of a list, flattened or as one value, without ``start`` in their keys; None where there is none."""
    flat: list[Json] = list(items(found, prefix, flags))
    if not flat:
        whole = parsed(found.get(prefix), flags)
        if not isinstance(whole, list):
            return None
        flat = whole
    return [without_prefix(item, start) if isinstance(item, dict) else item for item in flat]


def _messages(found: Mapping[str, Json], chat: str, texts: str, text_key: str, flags: set[str]) -> Iterator[Said]:
    """The messages of a chat, else those of a completion, where every text is one message."""
    role = "user" if "input" in chat else "assistant"
    listed = _listed(found, chat, "message.", flags)
    if listed is not None:
        for item in listed:
            if isinstance(item, dict) and "message" not in item:
                if item.keys() - {"role"}:  # a role alone is a message that was hidden
                    yield _message(item, role, flags)
            else:
                yield from messages_of(item, flags, role)
        return
    for item in items(found, texts, flags):
        text = item.get(text_key, item.get(""))
        if isinstance(text, str):
            yield Said(role, text)


def _message(item: Mapping[str, Json], default_role: str, flags: set[str]) -> Said:
    text = content_text(item.get("content"), flags)
    parts = [without_prefix(part, "message_content.") for part in items(item, "contents", flags)]
    if parts:
        told = content_text(parts, flags)
        text = f"{text}\n{told}" if text and told and told != text else text or told
    return Said(role_of(item.get("role")) or default_role, text)


def _feedback(found: Mapping[str, Json], flags: set[str]) -> Iterator[Feedback]:
    if not any("annotations." in key or "evaluations." in key for key in found):
        return
    for prefix, start in _FEEDBACK:
        for item in items(found, prefix, flags):
            said = without_prefix(item, start)
            value = said.get("label", said.get("score"))
            if value is not None:
                yield Feedback(
                    name=name(said.get("name"), flags) or start.rstrip("."),
                    value=as_text(value),
                    comment=as_text(said.get("explanation") or ""),
                    is_from_user=name(said.get("annotator_kind"), flags).upper() == "HUMAN",
                )
