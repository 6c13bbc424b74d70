"""Which flagged claims an alert shows: a few different answers, the worst claim of each, beside its evidence. Pure."""

from collections.abc import Iterable
from itertools import islice

from schemas.alert import AlertExample
from schemas.labels import ClaimLabel
from schemas.verdict import ClaimVerdict, Verdict
from streams.store import FlaggedAnswer

EXAMPLES = 3
_BAD = (ClaimLabel.CONTRADICTED, ClaimLabel.UNSUPPORTED)
MAX_EVIDENCE_CHARACTERS = 600


def pick_examples(flagged: Iterable[FlaggedAnswer], limit: int = EXAMPLES) -> tuple[AlertExample, ...]:
    """Up to ``limit`` examples, clearest first; answers to the same question or with the same claim count once."""
    seen: set[str] = set()
    ranked = sorted(flagged, key=lambda answer: _weakness(answer.verdict))
    return tuple(islice(_examples(ranked, seen), limit))


def _examples(ranked: Iterable[FlaggedAnswer], seen: set[str]) -> Iterable[AlertExample]:
    for answer in ranked:
        worst = min((c for c in answer.verdict.claims if c.label in _BAD), key=_claim_weakness, default=None)
        if worst is None or worst.claim.text in seen or answer.trace.question in seen:
            continue
        seen |= {worst.claim.text, answer.trace.question}
        evidence = worst.evidence
        yield AlertExample(
            trace_id=answer.trace.trace_id,
            ts=answer.trace.ts,
            question=answer.trace.question,
            claim=worst.claim.text,
            label=worst.label.value,
            evidence=evidence.text[:MAX_EVIDENCE_CHARACTERS] if evidence else "",
            doc_id=evidence.doc_id if evidence else "",
            is_revised=answer.verdict.revision > 1,
        )


def _claim_weakness(claim: ClaimVerdict) -> tuple[bool, bool, float]:
    """Contradicted first, then with a passage to hold it against, then the least supported."""
    return (claim.label is not ClaimLabel.CONTRADICTED, claim.evidence is None, claim.support or 0.0)


def _weakness(verdict: Verdict) -> tuple[bool, bool, float]:
    claims = [claim for claim in verdict.claims if claim.label in _BAD]
    return min((_claim_weakness(claim) for claim in claims), default=(True, True, 1.0))
