"""Langfuse's attributes over OTLP: ``langfuse.observation.*`` and, on the span that is the root, ``langfuse.trace.*``.

Its SDK writes the trace's input and output on whichever span was current, so only a root's are taken for the trace's.
"""

from collections.abc import Mapping

from schemas.span import SpanKind
from streams.sources.conventions.reading import Given, Reading, given, names_of, prompt_name
from streams.sources.conventions.values import name
from streams.sources.raw import Json, RawSpan

JUDGE_ENVIRONMENT = "langfuse-llm-judge"
_KINDS = {
    "generation": SpanKind.LLM,
    "chain": SpanKind.CHAIN,
    "agent": SpanKind.AGENT,
    "tool": SpanKind.TOOL,
    "retriever": SpanKind.RETRIEVER,
    "reranker": SpanKind.RERANKER,
    "embedding": SpanKind.EMBEDDING,
    "evaluator": SpanKind.EVALUATOR,
    "guardrail": SpanKind.GUARDRAIL,
}
_ENVIRONMENTS = ("langfuse.environment", "deployment.environment.name", "deployment.environment")
_NAMES = {
    "conversation_id": ("langfuse.session.id",),
    "user_id": ("langfuse.user.id",),
    "model": ("langfuse.observation.model.name", "langfuse.observation.model"),
    "app": ("langfuse.release", "langfuse.version"),
}


def read_langfuse(raw: RawSpan) -> Reading | None:
    """What Langfuse's keys say; None when there is none of them."""
    found = raw.attributes
    if not any(key.startswith("langfuse.") for key in found):
        return None
    flags: set[str] = set()
    return Reading(
        convention="langfuse",
        kind=_kind(found, flags),
        input=_side(raw, "input"),
        output=_side(raw, "output"),
        arguments=given(found, "langfuse.observation.input"),
        names=_names(found, flags),
        flags=frozenset(flags),
    )


def is_judge(raw: RawSpan) -> bool:
    """Whether Langfuse's own judge made this span."""
    return any(place.get(key) == JUDGE_ENVIRONMENT for place in (raw.attributes, raw.resource) for key in _ENVIRONMENTS)


def _kind(found: Mapping[str, Json], flags: set[str]) -> SpanKind | None:
    stated = name(found.get("langfuse.observation.type"), flags).lower()
    return _KINDS.get(stated, SpanKind.OTHER) if stated else None


def _side(raw: RawSpan, side: str) -> Given | None:
    is_root = not raw.parent_id or raw.attributes.get("langfuse.internal.as_root") in (True, "true")
    keys = (f"langfuse.trace.{side}", f"langfuse.observation.{side}")
    return given(raw.attributes, *(keys if is_root else keys[1:]))


def _names(found: Mapping[str, Json], flags: set[str]) -> dict[str, str]:
    named = names_of(found, _NAMES, flags)
    return {
        **named,
        **prompt_name(found, "langfuse.observation.prompt.name", "langfuse.observation.prompt.version", flags),
    }
