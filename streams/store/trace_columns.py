"""The columns of ``traces``, one line each: name, type, and where the value comes from."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from schemas.draw import DrawnTrace
from schemas.trace import Hop, passage_hash
from streams.store.claim_text import pack_claims
from streams.store.connection import Table
from streams.store.prompt import cut_prompt
from streams.store.values import clean, cleaned, micros, optional_micros

_TEXT = "String"
_WORD = "LowCardinality(String)"
_WORDS = "Array(LowCardinality(String))"
_TIME = "DateTime64(6, 'UTC')"
_NUMBER = "Nullable(Float64)"


@dataclass(frozen=True, slots=True)
class Cut:
    """A trace ready to be written: texts of passages and pieces of the prompt worked out once."""

    drawn: DrawnTrace
    texts: list[str]
    hashes: list[bytes]
    pieces: list[str]
    references: list[int]


def cut(drawn: DrawnTrace) -> Cut:
    """The parts of ``drawn`` that several columns need."""
    texts = [clean(passage.text) for passage in drawn.trace.passages or ()]
    prompt = drawn.trace.packed_prompt
    pieces, references = ([], []) if prompt is None else cut_prompt(clean(prompt), texts)
    hashes = [bytes.fromhex(passage_hash(text)) for text in texts]
    return Cut(drawn, texts, hashes, pieces, references)


def trace_row(row: Cut) -> list[Any]:
    """The values of one row, in the order of ``TRACES.columns``."""
    return [value(row) for _, _, value in _COLUMNS]


_Value = Callable[[Cut], Any]


def _each(value: Callable[[Any], Any]) -> _Value:
    return lambda row: [value(passage) for passage in row.drawn.trace.passages or ()]


def _tool(value: Callable[[Any], Any]) -> _Value:
    return lambda row: [value(call) for call in row.drawn.trace.tool_calls]


def _hop(hop: Hop) -> str:
    texts = {"name": clean(hop.name), "question": clean(hop.question), "output": clean(hop.output)}
    return hop.model_copy(update=texts).model_dump_json()


def _optional(text: str | None) -> str | None:
    return None if text is None else clean(text)


_IDENTITY: list[tuple[str, str, _Value]] = [
    ("ts", _TIME, lambda r: micros(r.drawn.trace.ts)),
    ("trace_id", _TEXT, lambda r: clean(r.drawn.trace.trace_id)),
    ("revision", "UInt32", lambda r: r.drawn.trace.revision),
    ("intent", _WORD, lambda r: clean(r.drawn.trace.intent)),
    ("tier", _WORD, lambda r: r.drawn.trace.tier.value),
    ("tenant", _WORD, lambda r: clean(r.drawn.trace.tenant)),
    ("roles", _WORDS, lambda r: cleaned(r.drawn.trace.roles)),
    ("locale", _WORD, lambda r: clean(r.drawn.trace.locale)),
    ("region", _WORD, lambda r: clean(r.drawn.trace.region)),
    ("conversation_id", _TEXT, lambda r: clean(r.drawn.trace.conversation_id)),
    ("user_id", _TEXT, lambda r: clean(r.drawn.trace.user_id)),
    ("model_version", _WORD, lambda r: clean(r.drawn.trace.versions.model)),
    ("prompt_version", _WORD, lambda r: clean(r.drawn.trace.versions.prompt)),
    ("corpus_version", _WORD, lambda r: clean(r.drawn.trace.versions.corpus)),
    ("retriever_version", _WORD, lambda r: clean(r.drawn.trace.versions.retriever)),
    ("app_version", _WORD, lambda r: clean(r.drawn.trace.versions.app)),
]
_CONTENT: list[tuple[str, str, _Value]] = [
    ("question", _TEXT, lambda r: clean(r.drawn.trace.question)),
    ("rewrites", "Array(String)", lambda r: cleaned(r.drawn.trace.rewrites)),
    ("answer", "Nullable(String)", lambda r: _optional(r.drawn.trace.answer)),
    ("alternatives", "Array(String)", lambda r: cleaned(r.drawn.trace.alternatives)),
    ("token_logprobs", "Array(Float64)", lambda r: list(r.drawn.trace.token_logprobs)),
    ("has_passages", "Bool", lambda r: r.drawn.trace.passages is not None),
    ("passages.doc_id", "Array(String)", _each(lambda p: clean(p.doc_id))),
    ("passages.chunk_id", "Array(String)", _each(lambda p: clean(p.chunk_id))),
    ("passages.version", "Array(String)", _each(lambda p: clean(p.version))),
    ("passages.hash", "Array(FixedString(16))", lambda r: r.hashes),
    ("passages.score", "Array(Nullable(Float64))", _each(lambda p: p.score)),
    ("passages.rank", "Array(UInt64)", _each(lambda p: p.rank)),
    ("passages.updated_at", f"Array(Nullable({_TIME}))", _each(lambda p: optional_micros(p.updated_at))),
    ("passages.effective_from", f"Array(Nullable({_TIME}))", _each(lambda p: optional_micros(p.effective_from))),
    ("passages.archived", "Array(Bool)", _each(lambda p: p.archived)),
    ("passages.superseded_by", "Array(String)", _each(lambda p: clean(p.superseded_by))),
    ("passages.allowed_roles", f"Array({_WORDS})", _each(lambda p: cleaned(p.allowed_roles))),
    ("passages.trust", _WORDS, _each(lambda p: p.trust)),
    ("passages.cited", "Array(Nullable(Bool))", _each(lambda p: p.cited)),
    ("passages.first_seen_at", f"Array(Nullable({_TIME}))", _each(lambda p: optional_micros(p.first_seen_at))),
    ("has_prompt", "Bool", lambda r: r.drawn.trace.packed_prompt is not None),
    ("prompt_pieces", "Array(String)", lambda r: r.pieces),
    ("prompt_passages", "Array(UInt32)", lambda r: r.references),
    ("tools.name", _WORDS, _tool(lambda t: clean(t.name))),
    ("tools.arguments", "Array(String)", _tool(lambda t: clean(t.arguments))),
    ("tools.output", "Array(Nullable(String))", _tool(lambda t: _optional(t.output))),
    ("hops", "Array(String)", lambda r: [_hop(hop) for hop in r.drawn.trace.hops]),
    ("feedback", _TEXT, lambda r: clean(r.drawn.trace.feedback)),
]
_ORIGIN: list[tuple[str, str, _Value]] = [
    ("retrieval_ms", _NUMBER, lambda r: r.drawn.trace.timings.retrieval_ms),
    ("generation_ms", _NUMBER, lambda r: r.drawn.trace.timings.generation_ms),
    ("total_ms", _NUMBER, lambda r: r.drawn.trace.timings.total_ms),
    ("source_topic", _WORD, lambda r: clean(r.drawn.trace.source.topic) if r.drawn.trace.source else ""),
    ("source_partition", "Int64", lambda r: r.drawn.trace.source.partition if r.drawn.trace.source else 0),
    ("source_offset", "Int64", lambda r: r.drawn.trace.source.offset if r.drawn.trace.source else 0),
    (
        "source_recorded_at",  # NULL says that there is no source
        f"Nullable({_TIME})",
        lambda r: micros(r.drawn.trace.source.recorded_at) if r.drawn.trace.source else None,
    ),
    ("decoder", _WORD, lambda r: clean(r.drawn.trace.decoder)),
    ("close_reason", _WORD, lambda r: clean(r.drawn.trace.close_reason)),
    ("late_spans", "UInt32", lambda r: r.drawn.trace.late_spans),
    ("flags", _WORDS, lambda r: cleaned(r.drawn.trace.flags)),
]
_DRAW: list[tuple[str, str, _Value]] = [
    ("stratum", _WORD, lambda r: clean(r.drawn.draw.stratum)),
    ("u", "Float64", lambda r: r.drawn.draw.u),
    ("inclusion_probability", "Float64", lambda r: r.drawn.draw.inclusion_probability),
    ("min_probability", "Float64", lambda r: r.drawn.draw.min_probability),
    ("policy_id", _WORD, lambda r: clean(r.drawn.draw.policy_id)),
    ("is_drawn", "Bool", lambda r: r.drawn.draw.drawn),
]
_SCREENING: list[tuple[str, str, _Value]] = [
    ("screening_outcome", _WORD, lambda r: r.drawn.screening.outcome.value if r.drawn.screening.outcome else ""),
    ("screening_score", _NUMBER, lambda r: r.drawn.screening.score),
    ("screening_failures", _WORDS, lambda r: [label.value for label in r.drawn.screening.failures]),
    ("screening_fingerprint", _WORD, lambda r: clean(r.drawn.screening.fingerprint)),
    ("screening_took_ms", "Float64", lambda r: r.drawn.screening.took_ms),
    (
        "screening_claims",
        _TEXT,
        lambda r: pack_claims(r.drawn.screening, r.drawn.trace.answer or "", r.texts),
    ),
    ("is_empty_retrieval", "Bool", lambda r: r.drawn.screening.is_empty_retrieval),
]
_COLUMNS = [*_IDENTITY, *_CONTENT, *_ORIGIN, *_DRAW, *_SCREENING]

TRACES = Table("traces", tuple((name, kind) for name, kind, _ in _COLUMNS))
