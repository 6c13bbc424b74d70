"""What should happen to an answer before it is sent."""

import pytest

from detectors.claims import split_claims
from detectors.containment import changes_meaning, contain
from schemas.labels import ClaimLabel, Containment, Outcome
from schemas.verdict import ClaimVerdict
from tests.builders import claim_verdict

S, U, C, X, N = (
    ClaimLabel.SUPPORTED,
    ClaimLabel.UNSUPPORTED,
    ClaimLabel.CONTRADICTED,
    ClaimLabel.UNCLEAR,
    ClaimLabel.NOT_FACTUAL,
)


def labelled(
    answer: str, *labels: ClaimLabel, critical: int | None = None, error: int | None = None
) -> list[ClaimVerdict]:
    """Verdicts on the claims of ``answer``; ``critical`` and ``error`` number the claim that is so."""
    return [
        claim_verdict(
            label,
            claim=claim.model_copy(update={"critical_rule": "amount" if critical == claim.index else ""}),
            error=Outcome.ERROR_TIMEOUT if error == claim.index else None,
        )
        for claim, label in zip(split_claims(answer), labels, strict=True)
    ]


PLAIN = "Refunds take 5 days. Shipping is free. Hello!"
TABLE = [
    ((S, S, N), None, None, Outcome.GROUNDED, Containment.DELIVER),
    ((S, S, N), 1, None, Outcome.GROUNDED, Containment.DELIVER),
    ((S, U, N), 1, None, Outcome.HALLUCINATED, Containment.ABSTAIN),
    ((S, C, N), 1, None, Outcome.HALLUCINATED, Containment.ABSTAIN),
    ((X, U, N), 1, None, Outcome.HALLUCINATED, Containment.ABSTAIN),
    ((X, U, N), 0, None, Outcome.HALLUCINATED, Containment.HOLD_FOR_REVIEW),
    ((S, X, N), 1, None, Outcome.UNCLEAR, Containment.HOLD_FOR_REVIEW),
    ((S, X, N), None, 1, Outcome.ERROR_TIMEOUT, Containment.HOLD_FOR_REVIEW),
    ((U, X, N), None, 1, Outcome.HALLUCINATED, Containment.HOLD_FOR_REVIEW),
    ((S, U, N), None, None, Outcome.HALLUCINATED, Containment.DELIVER_TRIMMED),
    ((C, S, N), None, None, Outcome.HALLUCINATED, Containment.DELIVER_TRIMMED),
    ((U, C, N), None, None, Outcome.HALLUCINATED, Containment.ABSTAIN),
]


@pytest.mark.parametrize(("labels", "critical", "error", "outcome", "expected"), TABLE)
def test_containment_follows_the_table(
    labels: tuple[ClaimLabel, ...],
    critical: int | None,
    error: int | None,
    outcome: Outcome,
    expected: Containment,
) -> None:
    """Critical and bad abstains, else doubt holds, else bad trims, else it is delivered."""
    assert expected == contain(outcome, labelled(PLAIN, *labels, critical=critical, error=error), PLAIN)


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Outcome.ABSTAINED, Containment.DELIVER),
        (Outcome.CLARIFIED, Containment.DELIVER),
        (Outcome.NO_CLAIMS, Containment.DELIVER),
        (Outcome.UNRESOLVED_NO_CONTEXT, Containment.HOLD_FOR_REVIEW),
        (Outcome.ERROR_TOO_LONG, Containment.HOLD_FOR_REVIEW),
        (Outcome.HALLUCINATED, Containment.ABSTAIN),
    ],
)
def test_containment_without_judged_claims_follows_the_outcome(outcome: Outcome, expected: Containment) -> None:
    """What could not be judged is held, what asserts nothing is delivered."""
    assert expected == contain(outcome, [], "")


MEANING = [
    ("Refunds take 5 days. Shipping is free.", (U, S), False),
    ("Refunds take 5 days. This holds for cards.", (U, S), True),
    ("Refunds take 5 days. However, cards take 9.", (U, S), True),
    ("Refunds take 5 days. This holds for cards.", (U, U), True),
    ("It is free. Fees are low. This holds for cards.", (U, S, S), False),
    ("It is free. But cards cost $5.", (S, U), True),
    ("It is free. Cards cost $5.", (S, U), False),
    ("1. Open it.\n2. Save it.\n3. Close it.", (S, U, S), True),
    ("- Basic is $5\n- Pro is $9", (S, U), False),
    ("We have 3 plans that cost you this much and that come with support for years:\n- Pro is $9", (U, S), True),
    ("退款需要5天。这适用于信用卡。", (U, S), True),
]


@pytest.mark.parametrize(("answer", "labels", "expected"), MEANING)
def test_cutting_changes_the_meaning_of_what_leans_on_it(
    answer: str,
    labels: tuple[ClaimLabel, ...],
    expected: bool,
) -> None:
    """References back, limitations, steps and lead-ins cannot be cut; independent sentences can."""
    assert expected == changes_meaning(labelled(answer, *labels), answer)
