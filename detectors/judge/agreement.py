"""Whether the judge says what the thresholds would have said of the scores of the layer below.

A judge that always agrees is not worth its price in that band; one that never does is wrong, or the thresholds are.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from detectors.outcome import label_claim
from schemas.labels import ClaimLabel, Layer
from schemas.policy import Thresholds
from schemas.verdict import ClaimJudgement, ClaimVerdict


@dataclass(frozen=True, slots=True)
class Pair:
    """One claim: what the layer below would have called it, and what the judge did."""

    below: ClaimLabel
    judge: ClaimLabel

    @property
    def agrees(self) -> bool:
        """Whether both say the same."""
        return self.below is self.judge


def pairs_of(claims: Iterable[ClaimVerdict], thresholds: Thresholds) -> Iterator[Pair]:
    """A pair for each claim whose label is the judge's; its scores are those of the layer below."""
    for claim in claims:
        if claim.decided_by is Layer.L3 and claim.error is None:
            scores = ClaimJudgement(support=claim.support, contradiction=claim.contradiction)
            yield Pair(label_claim(scores, thresholds).label, claim.label)


def agreement(pairs: Iterable[Pair]) -> float | None:
    """Share of the claims on which both agree; None without a claim."""
    counts = Counter(pair.agrees for pair in pairs)
    return counts[True] / counts.total() if counts else None
