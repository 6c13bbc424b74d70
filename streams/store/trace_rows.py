"""Rows of ``traces`` back to traces, given the texts of their passages."""

from collections.abc import Mapping
from typing import Any

from schemas.draw import Draw, DrawnTrace, Screening
from schemas.labels import FailureLabel, Outcome, RiskTier
from schemas.trace import Hop, Passage, Source, Timings, ToolCall, Trace, Versions
from streams.store.claim_text import unpack_claims
from streams.store.prompt import join_prompt
from streams.store.values import from_micros, optional_time

TEXT_MISSING = "passage_text_missing"
_PASSAGE_FIELDS = ("doc_id", "chunk_id", "version", "score", "rank", "archived", "superseded_by", "trust", "cited")


def passage_hashes(row: Mapping[str, Any]) -> list[bytes]:
    """The hashes of the texts that ``drawn_trace`` needs for this row."""
    return list(row["passages.hash"])


def drawn_trace(row: Mapping[str, Any], texts: Mapping[bytes, str]) -> DrawnTrace:
    """The trace, draw and screening of one row; a passage whose text is gone is empty, and the trace says so."""
    passages = _passages(row, texts)
    bodies = [passage.text for passage in passages]
    trace = _trace(row, passages, bodies)
    if not texts.keys() >= set(row["passages.hash"]):
        trace = trace.model_copy(update={"flags": (*trace.flags, TEXT_MISSING)})
    return DrawnTrace(trace=trace, draw=_draw(row), screening=_screening(row, trace.answer or "", bodies))


def versions(row: Mapping[str, Any]) -> Versions:
    """The five version columns of any table."""
    return Versions(
        model=row["model_version"],
        prompt=row["prompt_version"],
        corpus=row["corpus_version"],
        retriever=row["retriever_version"],
        app=row["app_version"],
    )


def _trace(row: Mapping[str, Any], passages: list[Passage], bodies: list[str]) -> Trace:
    prompt = join_prompt(row["prompt_pieces"], row["prompt_passages"], bodies) if row["has_prompt"] else None
    return Trace(
        trace_id=row["trace_id"],
        ts=from_micros(row["ts"]),
        question=row["question"],
        rewrites=tuple(row["rewrites"]),
        answer=row["answer"],
        passages=tuple(passages) if row["has_passages"] else None,
        packed_prompt=prompt,
        tool_calls=_tool_calls(row),
        hops=tuple(Hop.model_validate_json(hop) for hop in row["hops"]),
        alternatives=tuple(row["alternatives"]),
        token_logprobs=tuple(row["token_logprobs"]),
        intent=row["intent"],
        tier=RiskTier(row["tier"]),
        conversation_id=row["conversation_id"],
        user_id=row["user_id"],
        tenant=row["tenant"],
        roles=tuple(row["roles"]),
        locale=row["locale"],
        region=row["region"],
        versions=versions(row),
        timings=Timings(retrieval_ms=row["retrieval_ms"], generation_ms=row["generation_ms"], total_ms=row["total_ms"]),
        feedback=row["feedback"],
        source=_source(row),
        decoder=row["decoder"],
        close_reason=row["close_reason"],
        late_spans=row["late_spans"],
        revision=row["revision"],
        flags=tuple(row["flags"]),
    )


def _passages(row: Mapping[str, Any], texts: Mapping[bytes, str]) -> list[Passage]:
    return [
        Passage(
            text=texts.get(digest, ""),
            updated_at=optional_time(row["passages.updated_at"][index]),
            effective_from=optional_time(row["passages.effective_from"][index]),
            first_seen_at=optional_time(row["passages.first_seen_at"][index]),
            allowed_roles=tuple(row["passages.allowed_roles"][index]),
            **{name: row[f"passages.{name}"][index] for name in _PASSAGE_FIELDS},
        )
        for index, digest in enumerate(row["passages.hash"])
    ]


def _tool_calls(row: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    calls = zip(row["tools.name"], row["tools.arguments"], row["tools.output"], strict=True)
    return tuple(ToolCall(name=name, arguments=arguments, output=output) for name, arguments, output in calls)


def _source(row: Mapping[str, Any]) -> Source | None:
    if row["source_recorded_at"] is None:
        return None
    return Source(
        topic=row["source_topic"],
        partition=row["source_partition"],
        offset=row["source_offset"],
        recorded_at=from_micros(row["source_recorded_at"]),
    )


def _draw(row: Mapping[str, Any]) -> Draw:
    return Draw(
        stratum=row["stratum"],
        u=row["u"],
        inclusion_probability=row["inclusion_probability"],
        min_probability=row["min_probability"],
        policy_id=row["policy_id"],
        drawn=row["is_drawn"],
    )


def _screening(row: Mapping[str, Any], answer: str, bodies: list[str]) -> Screening:
    claims, judgements = unpack_claims(row["screening_claims"], answer, bodies)
    return Screening(
        claims=claims,
        judgements=judgements,
        failures=tuple(FailureLabel(word) for word in row["screening_failures"]),
        outcome=Outcome(row["screening_outcome"]) if row["screening_outcome"] else None,
        score=row["screening_score"],
        fingerprint=row["screening_fingerprint"],
        is_empty_retrieval=row["is_empty_retrieval"],
        took_ms=row["screening_took_ms"],
    )
