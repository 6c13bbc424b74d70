"""Which fields the assembled traces hold. A field of passages counts where at least one passage of the trace has it."""

from collections.abc import Callable, Mapping, Sequence

from schemas.labels import RiskTier
from schemas.trace import Passage, Trace
from streams.assembly.trace import UNMAPPED
from streams.attach.advice import Advice
from streams.attach.reading import Built, share
from streams.attach.report import FieldFound

PRESENT = 0.95
"""From this share on a field counts as there: a sample cuts some traces at its edges."""
_NATIVE = "native_json"
_HIDDEN = frozenset({"redacted", "redacted_input"})
_CUT = frozenset({"truncated", "context_truncated"})


def fields_found(
    built: Sequence[Built], cites: Sequence[bool], conventions: Sequence[str], advice: Advice
) -> tuple[FieldFound, ...]:
    """A row for each field, in the order of the advice; ``cites`` says of each judged one whether it cites."""
    rows = []
    for name, words in advice.fields.items():
        found = (
            share(sum(cites), len(cites)) if name == "citations" else share(sum(map(_FIELDS[name], built)), len(built))
        )
        fixes = () if found >= PRESENT else words.for_conventions(conventions)
        row = FieldFound(field=name, title=words.title, need=words.need, share=found, cost=words.cost, fixes=fixes)
        rows.append(row)
    return tuple(rows)


def _passage(has: Callable[[Passage], object]) -> Callable[[Built], bool]:
    return lambda built: any(has(passage) for passage in built.trace.passages or ())


def _trace(has: Callable[[Trace], object]) -> Callable[[Built], bool]:
    return lambda built: bool(has(built.trace))


def _version(name: str) -> Callable[[Built], bool]:
    return lambda built: bool(getattr(built.trace.versions, name))


def _has_own_id(passage: Passage) -> bool:
    return bool(passage.chunk_id) or (bool(passage.doc_id) and not passage.doc_id.startswith("content:"))


def states_tier(built: Built) -> bool:
    """Whether anything said the tier: of a whole trace in a format of its own only what differs from the default."""
    trace = built.trace
    if trace.decoder == _NATIVE:
        return "tier" in trace.model_fields_set
    return trace.tier is not RiskTier.MEDIUM or any(
        said.field == "tier" for span in built.spans for said in span.mapped
    )


def _is_free_of(flags: frozenset[str]) -> Callable[[Built], bool]:
    return lambda built: flags.isdisjoint(built.trace.flags)


_FIELDS: Mapping[str, Callable[[Built], bool]] = {
    "question": _trace(lambda trace: trace.question.strip()),
    "answer": _trace(lambda trace: (trace.answer or "").strip()),
    "retrieval": _trace(lambda trace: trace.passages is not None),
    "passage_text": _passage(lambda passage: passage.text.strip()),
    "passage_id": _passage(_has_own_id),
    "passage_score": _passage(lambda passage: passage.score is not None),
    "passage_version": _passage(lambda passage: passage.version),
    "passage_updated_at": _passage(lambda passage: passage.updated_at),
    "passage_effective_from": _passage(lambda passage: passage.effective_from),
    "packed_prompt": _trace(lambda trace: trace.packed_prompt),
    "intent": _trace(lambda trace: trace.intent != UNMAPPED),
    "tier": states_tier,
    "tenant": _trace(lambda trace: trace.tenant),
    "roles": _trace(lambda trace: trace.roles),
    "conversation": _trace(lambda trace: trace.conversation_id),
    "user": _trace(lambda trace: trace.user_id),
    "version_model": _version("model"),
    "version_prompt": _version("prompt"),
    "version_corpus": _version("corpus"),
    "version_retriever": _version("retriever"),
    "version_app": _version("app"),
    "timings": _trace(lambda trace: any(value is not None for _, value in trace.timings)),
    "tool_calls": _trace(lambda trace: trace.tool_calls),
    "logprobs": _trace(lambda trace: trace.token_logprobs),
    "alternatives": _trace(lambda trace: trace.alternatives),
    "feedback": _trace(lambda trace: trace.feedback),
    "uncut": _is_free_of(_CUT),
    "unhidden": _is_free_of(_HIDDEN),
}
