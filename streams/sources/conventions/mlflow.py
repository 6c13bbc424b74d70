"""MLflow's attributes as they arrive over OTLP: ``mlflow.*``, where every value is itself encoded as JSON."""

from collections.abc import Mapping

from schemas.span import SpanKind
from streams.sources.conventions.reading import Given, Reading, given, names_of, prompt_name
from streams.sources.conventions.values import name, parsed
from streams.sources.raw import Json, RawSpan

_KINDS = {
    "LLM": SpanKind.LLM,
    "CHAT_MODEL": SpanKind.LLM,
    "CHAIN": SpanKind.CHAIN,
    "WORKFLOW": SpanKind.CHAIN,
    "TASK": SpanKind.CHAIN,
    "AGENT": SpanKind.AGENT,
    "TOOL": SpanKind.TOOL,
    "RETRIEVER": SpanKind.RETRIEVER,
    "RERANKER": SpanKind.RERANKER,
    "EMBEDDING": SpanKind.EMBEDDING,
    "GUARDRAIL": SpanKind.GUARDRAIL,
    "EVALUATOR": SpanKind.EVALUATOR,
}
_MAX_PROMPTS = 8
"""Linked prompts that make up a version."""
_SCORER = "mlflow.trace.sourceScorer"
_NAMES = {
    "conversation_id": ("mlflow.trace.session", "mlflow.traceTag.mlflow.trace.session"),
    "user_id": ("mlflow.trace.user", "mlflow.traceTag.mlflow.trace.user"),
    "model": ("mlflow.llm.model",),
}


def read_mlflow(raw: RawSpan) -> Reading | None:
    """What MLflow's keys say; None when there is none of them."""
    found = raw.attributes
    if not any(key.startswith("mlflow.") for key in found):
        return None
    flags: set[str] = set()
    inputs = given(found, "mlflow.spanInputs", is_json=True)
    kind = _kind(found, flags)
    names = _names(found, flags)
    if kind is SpanKind.LLM and "model" not in names:
        names |= _model_of_request(inputs)
    return Reading(
        convention="mlflow",
        kind=kind,
        input=inputs,
        output=given(found, "mlflow.spanOutputs", is_json=True),
        arguments=inputs,
        tool_name=_decoded(found, "mlflow.spanFunctionName", flags),
        names=names,
        flags=frozenset(flags),
    )


def _decoded(found: Mapping[str, Json], key: str, flags: set[str]) -> str:
    return name(parsed(found.get(key), flags, is_json=True), flags)


def _kind(found: Mapping[str, Json], flags: set[str]) -> SpanKind | None:
    """A scorer's own trace is a judge's, whatever its spans are."""
    if any(_decoded(found, key, flags) for key in (_SCORER, f"mlflow.traceTag.{_SCORER}")):
        return SpanKind.EVALUATOR
    stated = _decoded(found, "mlflow.spanType", flags).upper()
    return _KINDS.get(stated, SpanKind.OTHER) if stated else None


def _model_of_request(inputs: Given | None) -> dict[str, str]:
    """The model that a recorded request names: before version 3 nothing else did."""
    request = parsed(inputs.value, set(), is_json=True) if inputs else None
    model = name(request.get("model"), set()) if isinstance(request, dict) else ""
    return {"model": model} if model else {}


def _names(found: Mapping[str, Json], flags: set[str]) -> dict[str, str]:
    named = names_of(found, _NAMES, flags, is_json=True)
    prompts = parsed(found.get("mlflow.linkedPrompts"), flags, is_json=True)
    prompts = parsed(prompts, flags)  # as a tag it is encoded twice
    linked = [prompt for prompt in prompts if isinstance(prompt, dict)] if isinstance(prompts, list) else []
    versions = [prompt_name(prompt, "name", "version", flags) for prompt in linked[:_MAX_PROMPTS]]
    stated = ",".join(version["prompt"] for version in versions if version)
    return {**named, "prompt": stated} if stated else named
