"""One row of the verdict for each hop that was checked: how its claims fared, and the one that fares worst."""

from collections import Counter
from collections.abc import Sequence

from detectors.hops.steps import Step
from detectors.hops.tracing import Traced, explained
from detectors.outcome import WORST_FIRST, answer_outcome, label_claim
from schemas.labels import ClaimLabel
from schemas.policy import Thresholds
from schemas.trace import Hop
from schemas.verdict import ClaimVerdict, HopVerdict

_MOST_NAME = 200
_MOST_WORDS = 500
"""Characters of a claim and of its evidence that a row keeps; the trace has them whole."""


def hop_verdict(step: Step, traced: Sequence[Traced], hops: Sequence[Hop], thresholds: Thresholds) -> HopVerdict:
    """The row of one hop; ``traced`` are its claims."""
    found = [_verdict(one, hops, thresholds) for one in traced]
    labels = Counter(one.label for one in found if one.error is None)
    worst = min(found, key=_rank, default=None)
    evidence = worst.evidence if worst else None
    return HopVerdict(
        hop=step.number,
        name=_cut(step.hop.name, _MOST_NAME),
        outcome=step.outcome or answer_outcome(found).outcome,
        claims=len(found),
        supported=labels[ClaimLabel.SUPPORTED],
        unsupported=labels[ClaimLabel.UNSUPPORTED],
        contradicted=labels[ClaimLabel.CONTRADICTED],
        unclear=labels[ClaimLabel.UNCLEAR],
        errors=sum(one.error is not None for one in found),
        derived=sum(bool(one.via) for one in traced),
        left_out=step.left_out,
        worst_label=worst.label if worst else None,
        worst=_cut(worst.claim.statement, _MOST_WORDS) if worst else "",
        worst_why=_cut(worst.why, _MOST_WORDS) if worst else "",
        evidence_doc=_cut(evidence.doc_id, _MOST_NAME) if evidence else "",
        evidence=_cut(evidence.text, _MOST_WORDS) if evidence else "",
    )


def _verdict(one: Traced, hops: Sequence[Hop], thresholds: Thresholds) -> ClaimVerdict:
    judged = explained(one, hops, thresholds)
    labelled = label_claim(judged, thresholds)
    return ClaimVerdict(
        claim=one.claim,
        label=labelled.label,
        support=judged.support if labelled.error is None else None,
        evidence=judged.evidence,
        why=judged.why,
        error=labelled.error,
    )


def _rank(one: ClaimVerdict) -> tuple[int, float]:
    return WORST_FIRST.index(one.label), one.support or 0.0


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
