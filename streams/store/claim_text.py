"""What ingest found, as one JSON text in the trace row: texts that the answer or a passage already holds are left out.

Without that, every answer would be stored twice.
"""

import json
from collections.abc import Sequence
from typing import Any

from schemas.claim import Claim
from schemas.draw import Screening
from schemas.verdict import ClaimJudgement
from streams.store.values import clean


def pack_claims(screening: Screening, answer: str, passages: Sequence[str]) -> str:
    """Claims and judgements as JSON; empty when there are none."""
    if not screening.claims and not screening.judgements:
        return ""
    claims = [_slim_claim(claim, answer) for claim in screening.claims]
    judgements = [_slim_judgement(judgement, passages) for judgement in screening.judgements]
    return clean(json.dumps([claims, judgements], ensure_ascii=False, separators=(",", ":")))


def unpack_claims(
    packed: str, answer: str, passages: Sequence[str]
) -> tuple[tuple[Claim, ...], tuple[ClaimJudgement, ...]]:
    """What ``pack_claims`` was given, given the same answer and passages."""
    if not packed:
        return (), ()
    claims, judgements = json.loads(packed)
    return (
        tuple(Claim.model_validate(_full_claim(claim, answer)) for claim in claims),
        tuple(ClaimJudgement.model_validate(_full_judgement(judgement, passages)) for judgement in judgements),
    )


def _slim_claim(claim: Claim, answer: str) -> dict[str, Any]:
    fields = claim.model_dump(exclude_defaults=True)
    if answer[claim.start : claim.end] == claim.text:
        del fields["text"]
    return fields


def _full_claim(fields: dict[str, Any], answer: str) -> dict[str, Any]:
    return {"text": answer[fields["start"] : fields["end"]], **fields}


def _slim_judgement(judgement: ClaimJudgement, passages: Sequence[str]) -> dict[str, Any]:
    fields = judgement.model_dump(exclude_defaults=True)
    span = judgement.evidence
    if span is not None and span.text == _slice(passages, span.passage, span.start, span.end):
        del fields["evidence"]["text"]
    return fields


def _full_judgement(fields: dict[str, Any], passages: Sequence[str]) -> dict[str, Any]:
    span = fields.get("evidence")
    if span is None or "text" in span:
        return fields
    return {**fields, "evidence": {**span, "text": _slice(passages, span["passage"], span["start"], span["end"])}}


def _slice(passages: Sequence[str], index: int, start: int, end: int) -> str | None:
    return passages[index][start:end] if index < len(passages) else None
