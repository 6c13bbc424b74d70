"""From scores to labels and outcomes."""

import pytest

from detectors.outcome import answer_outcome, label_claim
from schemas.labels import ClaimLabel, FailureLabel, Outcome
from schemas.policy import Thresholds
from schemas.verdict import ClaimJudgement, ClaimVerdict
from tests.builders import claim_verdict

THRESHOLDS = Thresholds(supported=0.7, unsupported=0.3, contradicted=0.8)
LABELS = [
    (0.7, 0.0, ClaimLabel.SUPPORTED, None),
    (0.7, 0.79, ClaimLabel.SUPPORTED, None),
    (0.7, 0.8, ClaimLabel.UNCLEAR, FailureLabel.CONFLICTING_SOURCES),
    (0.69, 0.8, ClaimLabel.CONTRADICTED, FailureLabel.CONTRADICTED_CLAIM),
    (0.69, 0.79, ClaimLabel.UNCLEAR, None),
    (0.3, 0.0, ClaimLabel.UNCLEAR, None),
    (0.29, 0.0, ClaimLabel.UNSUPPORTED, FailureLabel.UNSUPPORTED_CLAIM),
    (0.0, None, ClaimLabel.UNSUPPORTED, FailureLabel.UNSUPPORTED_CLAIM),
    (None, 0.9, ClaimLabel.CONTRADICTED, FailureLabel.CONTRADICTED_CLAIM),
    (None, None, ClaimLabel.NOT_FACTUAL, None),
]


@pytest.mark.parametrize(("support", "contradiction", "label", "failure"), LABELS)
def test_labels_keep_support_and_contradiction_apart(
    support: float | None, contradiction: float | None, label: ClaimLabel, failure: FailureLabel | None
) -> None:
    """Thresholds belong to the upper side; both high is a conflict, never a compromise."""
    labelled = label_claim(ClaimJudgement(support=support, contradiction=contradiction), THRESHOLDS)

    assert (label, failure, None) == (labelled.label, labelled.failure, labelled.error)


@pytest.mark.parametrize(
    ("judgement", "error"),
    [
        (ClaimJudgement(error=Outcome.ERROR_TIMEOUT), Outcome.ERROR_TIMEOUT),
        (ClaimJudgement(contradiction=0.1), Outcome.ERROR_INTERNAL),
    ],
)
def test_a_failure_is_an_error_and_never_a_score(judgement: ClaimJudgement, error: Outcome) -> None:
    """The label is unclear, the error says why."""
    labelled = label_claim(judgement, THRESHOLDS)

    assert (ClaimLabel.UNCLEAR, error) == (labelled.label, labelled.error)


GOOD = claim_verdict(ClaimLabel.SUPPORTED)
BAD = claim_verdict(ClaimLabel.UNSUPPORTED)
FALSE = claim_verdict(ClaimLabel.CONTRADICTED)
OPEN = claim_verdict(ClaimLabel.UNCLEAR)
TALK = claim_verdict(ClaimLabel.NOT_FACTUAL)
TIMEOUT = claim_verdict(ClaimLabel.UNCLEAR, support=None, contradiction=None, error=Outcome.ERROR_TIMEOUT)
BUDGET = claim_verdict(ClaimLabel.UNCLEAR, support=None, contradiction=None, error=Outcome.ERROR_BUDGET)
PRECEDENCE = [
    ([], Outcome.NO_CLAIMS),
    ([TALK], Outcome.NO_CLAIMS),
    ([GOOD, TALK], Outcome.GROUNDED),
    ([GOOD, OPEN], Outcome.UNCLEAR),
    ([OPEN, TIMEOUT, GOOD], Outcome.ERROR_TIMEOUT),
    ([BUDGET, TIMEOUT], Outcome.ERROR_BUDGET),
    ([TIMEOUT, OPEN, GOOD, BAD], Outcome.HALLUCINATED),
    ([FALSE, TIMEOUT], Outcome.HALLUCINATED),
]


@pytest.mark.parametrize(("claims", "expected"), PRECEDENCE)
def test_hallucinated_beats_error_beats_unclear_beats_grounded(claims: list[ClaimVerdict], expected: Outcome) -> None:
    """And without a factual claim there is nothing to be grounded."""
    assert expected == answer_outcome(claims).outcome


def test_an_early_outcome_stands() -> None:
    """What the structure settled is not undone by claims."""
    assert Outcome.ABSTAINED == answer_outcome([GOOD], early=Outcome.ABSTAINED).outcome


def test_the_score_is_the_weakest_scored_claim() -> None:
    """Errors and courtesies have no part in it; without a score it is missing, not 0."""
    assert 0.5 == answer_outcome([GOOD, OPEN, TIMEOUT, TALK]).score
    assert answer_outcome([TIMEOUT, TALK]).score is None


def test_failures_are_unique_and_in_the_order_of_the_vocabulary() -> None:
    """Structural ones and those of claims together."""
    found = answer_outcome([FALSE, BAD, BAD], [FailureLabel.CITATION_MISSING, FailureLabel.CONTRADICTED_CLAIM])

    expected = (FailureLabel.UNSUPPORTED_CLAIM, FailureLabel.CONTRADICTED_CLAIM, FailureLabel.CITATION_MISSING)
    assert expected == found.failures
