"""Whether the judge says what the thresholds would have said of the scores of the layer below.

A judge that always agrees is not worth its price in that band; one that never does is wrong, or the thresholds are.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from detectors.fingerprint import THRESHOLD
from detectors.outcome import label_claim
from schemas.agreement import Agreement, DecidedClaim
from schemas.labels import ClaimLabel, Layer, RiskTier
from schemas.policy import Thresholds
from schemas.verdict import ClaimJudgement, Verdict


@dataclass(frozen=True, slots=True)
class Agreed:
    """Claims of an intent and tier on which a judge decided, and on how many of them both say the same."""

    claims: int
    agreed: int

    @property
    def share(self) -> float:
        """Of all; there is at least one."""
        return self.agreed / self.claims


def decided_claims(verdict: Verdict) -> list[DecidedClaim]:
    """The claims of a verdict that its judge decided."""
    return [
        DecidedClaim(
            intent=verdict.intent,
            tier=verdict.tier,
            label=judged.label,
            support=judged.support,
            contradiction=judged.contradiction,
            fingerprint_parts=verdict.fingerprint_parts,
        )
        for judged in verdict.claims
        if judged.decided_by is Layer.L3 and judged.error is None
    ]


def agreements(claims: Iterable[DecidedClaim]) -> list[Agreement]:
    """Counted by intent, tier and both labels, in that order; a claim whose thresholds are not known is left out."""
    counts = Counter(
        (claim.intent, claim.tier, below, claim.label) for claim in claims if (below := label_below(claim)) is not None
    )
    return [
        Agreement(intent=intent, tier=tier, below=below, judge=judge, claims=number)
        for (intent, tier, below, judge), number in sorted(counts.items())
    ]


def label_below(claim: DecidedClaim) -> ClaimLabel | None:
    """What the thresholds of its verdict make of the scores; None where the verdict does not name them."""
    thresholds = _thresholds(claim.fingerprint_parts)
    if thresholds is None:
        return None
    return label_claim(ClaimJudgement(support=claim.support, contradiction=claim.contradiction), thresholds).label


def by_cell(rows: Iterable[Agreement]) -> dict[tuple[str, RiskTier], Agreed]:
    """For each intent and tier how many claims there are, and on how many both agree."""
    every: Counter[tuple[str, RiskTier]] = Counter()
    same: Counter[tuple[str, RiskTier]] = Counter()
    for row in rows:
        every[row.intent, row.tier] += row.claims
        same[row.intent, row.tier] += row.claims if row.agrees else 0
    return {cell: Agreed(number, same[cell]) for cell, number in every.items()}


def _thresholds(parts: Mapping[str, str]) -> Thresholds | None:
    values = {name: parts[f"{THRESHOLD}{name}"] for name in Thresholds.model_fields if f"{THRESHOLD}{name}" in parts}
    if len(values) != len(Thresholds.model_fields):
        return None
    try:
        return Thresholds.model_validate(values)
    except ValidationError:
        return None
