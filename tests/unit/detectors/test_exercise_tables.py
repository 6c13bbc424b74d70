"""The three decisions of the containment exercise, row by row: quotations, consistency, containment."""

import pytest

from detectors.consistency import Vote, vote
from detectors.containment import contain
from detectors.outcome import answer_outcome
from detectors.structural.quotes import QuoteStatus, quote_status
from schemas.labels import ClaimLabel, Containment, Outcome
from schemas.verdict import ClaimVerdict
from tests.builders import claim, claim_verdict

TEXT = "Refunds are paid within 30 days of delivery.\n  Opened software   is excluded, except where the law says so."

QUOTES = [
    ("within 30 days of delivery", QuoteStatus.FOUND),
    ("WITHIN 30 Days of Delivery", QuoteStatus.FOUND),
    ("within\n30   days of\tdelivery", QuoteStatus.FOUND),
    ("opened software is excluded", QuoteStatus.FOUND),
    ("within 90 days of delivery", QuoteStatus.UNSUPPORTED),
    ("days of delivery within 30", QuoteStatus.UNSUPPORTED),
    ("opened software is not excluded", QuoteStatus.UNSUPPORTED),
    ("paid within thirty", QuoteStatus.UNSUPPORTED),
    ("30 days", QuoteStatus.REVIEW),
    ("excluded", QuoteStatus.REVIEW),
    ("90 days", QuoteStatus.REVIEW),
    ("", QuoteStatus.REVIEW),
]


@pytest.mark.parametrize(("quote", "expected"), QUOTES)
def test_a_quotation_is_found_word_for_word_or_unsupported_and_reviewed_under_three_words(
    quote: str, expected: QuoteStatus
) -> None:
    """White space and case are normalised; no substring is unsupported; under three words is for a person."""
    assert expected == quote_status(quote, [TEXT])


SAMPLES = [
    (["30 days", "30 days", "30 days", "30 days", "30 days"], False),
    (["30 days", " 30  DAYS", "30 days.", "“30 days”", "14 days"], False),
    (["30 days", "30 days", "30 days", "14 days", "14 days"], True),
    (["30 days", "30 days", "30 days", "14 days", "60 days"], True),
    (["a", "b", "c", "d", "e"], True),
    (["", "", "", "", "30 days"], False),
]


@pytest.mark.parametrize(("answers", "is_flagged"), SAMPLES)
def test_fewer_than_four_of_five_equal_answers_are_flagged(answers: list[str], is_flagged: bool) -> None:
    """Equal means equal in normal form."""
    assert is_flagged == vote(answers).is_flagged


@pytest.mark.parametrize(
    ("answers", "least", "expected"),
    [
        (["x", "X", "y"], 2, Vote("x", 2, 3, is_flagged=False)),
        (["x", "y", "z"], 2, Vote("x", 1, 3, is_flagged=True)),
        (["x"], 1, Vote("x", 1, 1, is_flagged=False)),
        (["a"] * 7 + ["b"] * 3, 8, Vote("a", 7, 10, is_flagged=True)),
    ],
)
def test_the_vote_holds_for_any_k_of_n(answers: list[str], least: int, expected: Vote) -> None:
    """The first of several equally frequent answers is named."""
    assert expected == vote(answers, least)


@pytest.mark.parametrize(("answers", "least"), [([], 1), (["a"], 0), (["a", "a"], 3)])
def test_a_vote_that_cannot_be_taken_is_refused(answers: list[str], least: int) -> None:
    """Too few answers must not look like disagreement."""
    with pytest.raises(ValueError, match="must be between 1 and their number"):
        vote(answers, least)


S, U, C, X = ClaimLabel.SUPPORTED, ClaimLabel.UNSUPPORTED, ClaimLabel.CONTRADICTED, ClaimLabel.UNCLEAR
ANSWER = "Refunds take 5 days. Shipping is free. Returns cost nothing. Cards work."
TEXTS = ["Refunds take 5 days.", "Shipping is free.", "Returns cost nothing.", "Cards work."]
# label, critical, error
CONTAINMENT = [
    ([(S, 0, 0), (S, 1, 0)], Containment.DELIVER),
    ([(U, 1, 0), (S, 0, 0)], Containment.ABSTAIN),
    ([(C, 1, 0), (S, 0, 0)], Containment.ABSTAIN),
    ([(U, 1, 0), (X, 0, 0), (S, 0, 0)], Containment.ABSTAIN),
    ([(C, 1, 0), (X, 0, 1), (S, 0, 0)], Containment.ABSTAIN),
    ([(X, 1, 0), (S, 0, 0)], Containment.HOLD_FOR_REVIEW),
    ([(X, 0, 0), (S, 0, 0)], Containment.HOLD_FOR_REVIEW),
    ([(X, 0, 1), (S, 0, 0)], Containment.HOLD_FOR_REVIEW),
    ([(X, 1, 1), (S, 0, 0)], Containment.HOLD_FOR_REVIEW),
    ([(U, 0, 0), (X, 0, 0), (S, 0, 0)], Containment.HOLD_FOR_REVIEW),
    ([(C, 0, 0), (X, 0, 1), (S, 0, 0)], Containment.HOLD_FOR_REVIEW),
    ([(U, 0, 0), (X, 1, 0), (S, 0, 0)], Containment.HOLD_FOR_REVIEW),
    ([(U, 0, 0), (S, 0, 0)], Containment.DELIVER_TRIMMED),
    ([(C, 0, 0), (S, 1, 0)], Containment.DELIVER_TRIMMED),
    ([(U, 0, 0), (C, 0, 0), (S, 0, 0)], Containment.DELIVER_TRIMMED),
    ([(S, 0, 0), (S, 0, 0), (S, 0, 0), (U, 0, 0)], Containment.DELIVER_TRIMMED),
]


@pytest.mark.parametrize(("rows", "expected"), CONTAINMENT)
def test_containment_is_abstain_then_hold_then_trim_then_deliver(
    rows: list[tuple[ClaimLabel, int, int]], expected: Containment
) -> None:
    """Critical and bad: abstain; to review or in error: hold; bad: trim; else deliver."""
    claims = judged(rows)

    assert expected == contain(answer_outcome(claims).outcome, claims, ANSWER)


def judged(rows: list[tuple[ClaimLabel, int, int]]) -> list[ClaimVerdict]:
    """Sentences of the answer that lean on nothing, so that cutting one leaves the others as they were."""
    return [
        claim_verdict(
            label,
            claim=claim(text, ANSWER.index(text), index=index, critical_rule="amount" if is_critical else ""),
            error=Outcome.ERROR_TIMEOUT if has_error else None,
        )
        for index, ((label, is_critical, has_error), text) in enumerate(zip(rows, TEXTS, strict=False))
    ]
