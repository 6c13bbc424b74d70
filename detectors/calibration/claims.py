"""Labelled claims beside the claims that the detector made of the same answer, matched by where they stand in it.

The product splits answers its own way, so that is what is measured: a labelled claim gets the worst label among the
claims that lie on it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from detectors.golden import claims_of
from detectors.outcome import WORST_FIRST
from schemas.claim import Claim
from schemas.golden import GoldenCase
from schemas.labels import ClaimLabel
from schemas.verdict import ClaimVerdict, Verdict

_OVERLAP = 0.5
"""Part of the shorter of two claims that the other must cover to be about the same."""


@dataclass(frozen=True, slots=True)
class ClaimPair:
    """What people and what the detector call a claim; ``judged`` is None where no judged claim stands there.

    ``support`` is that of the weakest claim matched, None when none has a score.
    """

    case_id: str
    expected: ClaimLabel
    judged: ClaimLabel | None
    support: float | None


def claim_pairs(case: GoldenCase, verdict: Verdict) -> Iterable[ClaimPair]:
    """Every labelled claim of a case; claims in error count as not judged."""
    judged = [one for one in verdict.claims if one.error is None]
    for claim, placed in zip(case.claims, claims_of(case), strict=True):
        if claim.label is None:
            continue
        found = [] if placed is None else [one for one in judged if _is_same(placed, one)]
        labels = {one.label for one in found}
        worst = next((label for label in WORST_FIRST if label in labels), None)
        support = min((one.support for one in found if one.support is not None), default=None)
        yield ClaimPair(case.case_id, claim.label, worst, support)


def _is_same(placed: Claim, judged: ClaimVerdict) -> bool:
    start, end = max(placed.start, judged.claim.start), min(placed.end, judged.claim.end)
    shorter = min(placed.end - placed.start, judged.claim.end - judged.claim.start)
    return end - start > _OVERLAP * shorter
