"""The columns of ``traces``, one line each: name, type, and what fills it for a whole batch.

Columns, not rows: the engine stores them so, and one pass over a column is a third of the work of turning rows around.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import Any

from schemas.draw import DrawnTrace
from schemas.trace import Hop, Passage, passage_hash
from streams.store.claim_text import pack_claims
from streams.store.connection import Table
from streams.store.prompt import cut_prompt
from streams.store.values import clean, cleaned, micros, optional_micros

_TEXT = "String"
_WORD = "LowCardinality(String)"
_WORDS = "Array(LowCardinality(String))"
_TIME = "DateTime64(6, 'UTC')"
_NUMBER = "Nullable(Float64)"
_Column = list[Any]


@dataclass(frozen=True, slots=True)
class Batch:
    """Traces ready to be written: what several columns need, worked out once.

    ``texts``, ``hashes`` and ``prompts`` are by trace; ``passages`` are those of all traces in a row, cut at ``ends``.
    """

    rows: Sequence[DrawnTrace]
    passages: list[Passage]
    ends: list[tuple[int, int]]
    texts: list[list[str]]
    hashes: list[list[bytes]]
    prompts: list[tuple[list[str], list[int]]]


def batch_of(rows: Sequence[DrawnTrace]) -> Batch:
    """The parts of ``rows`` that their columns are made of."""
    counts = [len(row.trace.passages or ()) for row in rows]
    passages = [passage for row in rows for passage in row.trace.passages or ()]
    ends = list(pairwise(accumulate(counts, initial=0)))
    all_texts = cleaned([passage.text for passage in passages])
    all_hashes = [bytes.fromhex(passage_hash(text)) for text in all_texts]
    texts = [all_texts[start:end] for start, end in ends]
    prompts = [_cut(row.trace.packed_prompt, own) for row, own in zip(rows, texts, strict=True)]
    return Batch(rows, passages, ends, texts, [all_hashes[start:end] for start, end in ends], prompts)


def trace_columns(batch: Batch) -> list[_Column]:
    """The values of all rows, by column in the order of ``TRACES.columns``."""
    return [fill(batch) for _, _, fill in _COLUMNS]


def _cut(prompt: str | None, texts: Sequence[str]) -> tuple[list[str], list[int]]:
    return ([], []) if prompt is None else cut_prompt(clean(prompt), texts)


_Fill = Callable[[Batch], _Column]


def _field(path: str) -> _Fill:
    get = attrgetter(path)
    return lambda batch: list(map(get, batch.rows))


def _text(path: str) -> _Fill:
    get = attrgetter(path)
    return lambda batch: cleaned(list(map(get, batch.rows)))


def _of(path: str, value: Callable[[Any], Any]) -> _Fill:
    get = attrgetter(path)
    return lambda batch: [value(get(row)) for row in batch.rows]


def _passage(name: str, value: Callable[[list[Any]], list[Any]] = list) -> _Fill:
    """A column of lists, one value a passage; ``value`` is applied to the values of all passages."""
    get = attrgetter(name)

    def fill(batch: Batch) -> _Column:
        values = value(list(map(get, batch.passages)))
        return [values[start:end] for start, end in batch.ends]

    return fill


def _each(value: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]]:
    return lambda values: list(map(value, values))


def _tool(value: Callable[[Any], Any]) -> _Fill:
    return _of("trace.tool_calls", lambda calls: [value(call) for call in calls])


def _source(name: str, default: Any) -> _Fill:
    return _of("trace.source", lambda source: default if source is None else getattr(source, name))


def _hop(hop: Hop) -> str:
    texts = {"name": clean(hop.name), "question": clean(hop.question), "output": clean(hop.output)}
    return hop.model_copy(update=texts).model_dump_json()


def _optional(text: str | None) -> str | None:
    return None if text is None else clean(text)


def _is_given(value: Any) -> bool:
    return value is not None


def _packed(batch: Batch) -> _Column:
    return [
        pack_claims(row.screening, row.trace.answer or "", texts)
        for row, texts in zip(batch.rows, batch.texts, strict=True)
    ]


_IDENTITY: list[tuple[str, str, _Fill]] = [
    ("ts", _TIME, _of("trace.ts", micros)),
    ("trace_id", _TEXT, _text("trace.trace_id")),
    ("revision", "UInt32", _field("trace.revision")),
    ("intent", _WORD, _text("trace.intent")),
    ("tier", _WORD, _field("trace.tier.value")),
    ("tenant", _WORD, _text("trace.tenant")),
    ("roles", _WORDS, _of("trace.roles", cleaned)),
    ("locale", _WORD, _text("trace.locale")),
    ("region", _WORD, _text("trace.region")),
    ("conversation_id", _TEXT, _text("trace.conversation_id")),
    ("user_id", _TEXT, _text("trace.user_id")),
    ("model_version", _WORD, _text("trace.versions.model")),
    ("prompt_version", _WORD, _text("trace.versions.prompt")),
    ("corpus_version", _WORD, _text("trace.versions.corpus")),
    ("retriever_version", _WORD, _text("trace.versions.retriever")),
    ("app_version", _WORD, _text("trace.versions.app")),
]
_CONTENT: list[tuple[str, str, _Fill]] = [
    ("question", _TEXT, _text("trace.question")),
    ("rewrites", "Array(String)", _of("trace.rewrites", cleaned)),
    ("answer", "Nullable(String)", _of("trace.answer", _optional)),
    ("alternatives", "Array(String)", _of("trace.alternatives", cleaned)),
    ("token_logprobs", "Array(Float64)", _field("trace.token_logprobs")),
    ("has_passages", "Bool", _of("trace.passages", _is_given)),
    ("passages.doc_id", "Array(String)", _passage("doc_id", cleaned)),
    ("passages.chunk_id", "Array(String)", _passage("chunk_id", cleaned)),
    ("passages.version", "Array(String)", _passage("version", cleaned)),
    ("passages.hash", "Array(FixedString(16))", lambda batch: batch.hashes),
    ("passages.score", "Array(Nullable(Float64))", _passage("score")),
    ("passages.rank", "Array(UInt64)", _passage("rank")),
    ("passages.updated_at", f"Array(Nullable({_TIME}))", _passage("updated_at", _each(optional_micros))),
    ("passages.effective_from", f"Array(Nullable({_TIME}))", _passage("effective_from", _each(optional_micros))),
    ("passages.archived", "Array(Bool)", _passage("archived")),
    ("passages.superseded_by", "Array(String)", _passage("superseded_by", cleaned)),
    ("passages.allowed_roles", f"Array({_WORDS})", _passage("allowed_roles", _each(cleaned))),
    ("passages.trust", _WORDS, _passage("trust")),
    ("passages.cited", "Array(Nullable(Bool))", _passage("cited")),
    ("passages.first_seen_at", f"Array(Nullable({_TIME}))", _passage("first_seen_at", _each(optional_micros))),
    ("has_prompt", "Bool", _of("trace.packed_prompt", _is_given)),
    ("prompt_pieces", "Array(String)", lambda batch: [pieces for pieces, _ in batch.prompts]),
    ("prompt_passages", "Array(UInt32)", lambda batch: [indices for _, indices in batch.prompts]),
    ("tools.name", _WORDS, _tool(lambda call: clean(call.name))),
    ("tools.arguments", "Array(String)", _tool(lambda call: clean(call.arguments))),
    ("tools.output", "Array(Nullable(String))", _tool(lambda call: _optional(call.output))),
    ("hops", "Array(String)", _of("trace.hops", lambda hops: [_hop(hop) for hop in hops])),
    ("feedback", _TEXT, _text("trace.feedback")),
]
_ORIGIN: list[tuple[str, str, _Fill]] = [
    ("retrieval_ms", _NUMBER, _field("trace.timings.retrieval_ms")),
    ("generation_ms", _NUMBER, _field("trace.timings.generation_ms")),
    ("total_ms", _NUMBER, _field("trace.timings.total_ms")),
    ("source_topic", _WORD, _of("trace.source", lambda source: clean(source.topic) if source else "")),
    ("source_partition", "Int64", _source("partition", 0)),
    ("source_offset", "Int64", _source("offset", 0)),
    (
        "source_recorded_at",  # NULL says that there is no source
        f"Nullable({_TIME})",
        _of("trace.source", lambda source: micros(source.recorded_at) if source else None),
    ),
    ("decoder", _WORD, _text("trace.decoder")),
    ("close_reason", _WORD, _text("trace.close_reason")),
    ("late_spans", "UInt32", _field("trace.late_spans")),
    ("flags", _WORDS, _of("trace.flags", cleaned)),
]
_DRAW: list[tuple[str, str, _Fill]] = [
    ("stratum", _WORD, _text("draw.stratum")),
    ("u", "Float64", _field("draw.u")),
    ("inclusion_probability", "Float64", _field("draw.inclusion_probability")),
    ("min_probability", "Float64", _field("draw.min_probability")),
    ("policy_id", _WORD, _text("draw.policy_id")),
    ("is_drawn", "Bool", _field("draw.drawn")),
]
_SCREENING: list[tuple[str, str, _Fill]] = [
    ("screening_outcome", _WORD, _of("screening.outcome", lambda outcome: outcome.value if outcome else "")),
    ("screening_score", _NUMBER, _field("screening.score")),
    ("screening_failures", _WORDS, _of("screening.failures", lambda labels: [label.value for label in labels])),
    ("screening_fingerprint", _WORD, _text("screening.fingerprint")),
    ("screening_took_ms", "Float64", _field("screening.took_ms")),
    ("screening_claims", _TEXT, _packed),
    ("is_empty_retrieval", "Bool", _field("screening.is_empty_retrieval")),
]
_COLUMNS = [*_IDENTITY, *_CONTENT, *_ORIGIN, *_DRAW, *_SCREENING]

TRACES = Table("traces", tuple((name, kind) for name, kind, _ in _COLUMNS))
