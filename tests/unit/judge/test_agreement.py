"""Whether the judge says what the layer below would have said: by the thresholds of the verdict itself."""

import pytest

from detectors.fingerprint import fingerprint_parts
from detectors.judge.agreement import Agreed, agreements, by_cell, decided_claims, label_below
from schemas.agreement import Agreement, DecidedClaim
from schemas.labels import ClaimLabel, Layer, Outcome, RiskTier
from schemas.policy import Thresholds
from tests.builders import claim_verdict, verdict

PARTS = fingerprint_parts("d-1", Thresholds(supported=0.6, unsupported=0.4, contradicted=0.5), [Layer.L1])


def decided(support: float, label: ClaimLabel, contradiction: float = 0.0, **fields: object) -> DecidedClaim:
    """A claim of refunds that a judge decided."""
    plain = {"intent": "refunds", "tier": RiskTier.MEDIUM, "fingerprint_parts": PARTS}
    return DecidedClaim.model_validate(
        {**plain, "support": support, "contradiction": contradiction, "label": label, **fields}
    )


def test_only_what_the_judge_decided_is_compared() -> None:
    """Not the claims of other layers, nor those that it failed on."""
    claims = (
        claim_verdict(ClaimLabel.SUPPORTED, decided_by=Layer.L3, support=0.3),
        claim_verdict(ClaimLabel.SUPPORTED, decided_by=Layer.L1),
        claim_verdict(ClaimLabel.UNCLEAR, decided_by=Layer.L3, error=Outcome.ERROR_TIMEOUT),
    )

    (found,) = decided_claims(verdict(claims=claims, fingerprint_parts=PARTS))

    assert (ClaimLabel.SUPPORTED, 0.3, PARTS) == (found.label, found.support, found.fingerprint_parts)


@pytest.mark.parametrize(
    ("support", "contradiction", "below"),
    [(0.6, 0.0, "supported"), (0.5, 0.0, "unclear"), (0.39, 0.0, "unsupported"), (0.3, 0.5, "contradicted")],
)
def test_the_thresholds_are_those_of_the_verdict(support: float, contradiction: float, below: str) -> None:
    """Not those in force today."""
    assert below == label_below(decided(support, ClaimLabel.SUPPORTED, contradiction))


def test_claims_are_counted_by_cell_and_both_labels() -> None:
    """What a table and a metric need."""
    claims = [
        decided(0.7, ClaimLabel.SUPPORTED),
        decided(0.5, ClaimLabel.SUPPORTED),
        decided(0.5, ClaimLabel.SUPPORTED),
        decided(0.5, ClaimLabel.UNCLEAR, intent="cards"),
    ]

    rows = agreements(claims)

    medium = RiskTier.MEDIUM
    assert [
        Agreement(intent="cards", tier=medium, below=ClaimLabel.UNCLEAR, judge=ClaimLabel.UNCLEAR, claims=1),
        Agreement(intent="refunds", tier=medium, below=ClaimLabel.SUPPORTED, judge=ClaimLabel.SUPPORTED, claims=1),
        Agreement(intent="refunds", tier=medium, below=ClaimLabel.UNCLEAR, judge=ClaimLabel.SUPPORTED, claims=2),
    ] == rows
    assert {("cards", medium): Agreed(1, 1), ("refunds", medium): Agreed(3, 1)} == by_cell(rows)
    assert pytest.approx(1 / 3) == by_cell(rows)["refunds", medium].share


@pytest.mark.parametrize("parts", [{}, {**PARTS, "threshold_supported": "much"}, {"threshold_supported": "0.6"}])
def test_without_its_thresholds_a_claim_cannot_be_compared(parts: dict[str, str]) -> None:
    """Verdicts of older versions do not name them; nothing is made up."""
    assert [] == agreements([decided(0.5, ClaimLabel.SUPPORTED, fingerprint_parts=parts)])
