"""Sentences that state several things, parted by rules; in doubt they stay whole."""

import pytest

from detectors.claims import mark_critical, split_claims
from detectors.containment import changes_meaning, contain
from detectors.outcome import answer_outcome
from detectors.trimming import without_bad_claims
from schemas.claim import Claim
from schemas.labels import ClaimLabel, Containment, RiskTier
from schemas.policy import ClaimSplitting, CriticalRule
from schemas.verdict import ClaimVerdict
from tests.builders import claim_verdict

S, U, C, X = ClaimLabel.SUPPORTED, ClaimLabel.UNSUPPORTED, ClaimLabel.CONTRADICTED, ClaimLabel.UNCLEAR


def atomic(answer: str) -> tuple[Claim, ...]:
    """Claims with sentences parted."""
    return split_claims(answer, ClaimSplitting.ATOMIC)


PARTED = [
    (
        "The pass costs $10 a month and includes 5 GB.",
        "predicate",
        ["The pass costs $10 a month", "The pass includes 5 GB."],
    ),
    (
        "They offer free Wi-Fi, and reservations are accepted.",
        "clause",
        ["They offer free Wi-Fi", "reservations are accepted."],
    ),
    ("Parking is free, but there is no garage.", "clause", ["Parking is free", "there is no garage."]),
    ("Ann runs it; she also sells bread.", "clause", ["Ann runs it", "she also sells bread."]),
    ("The hotel has a pool, which is open daily.", "relative", ["The hotel has a pool", "a pool which is open daily."]),
    (
        "The fee is $5 for adults and $3 for children.",
        "figure",
        ["The fee is $5 for adults", "The fee is $3 for children."],
    ),
    (
        "The box includes a cable, a plug and two screws.",
        "list",
        ["The box includes a cable", "The box includes a plug", "The box includes two screws."],
    ),
    (
        "It serves dishes such as soup, rice, and fish.",
        "list",
        ["It serves dishes such as soup", "It serves dishes such as rice", "It serves dishes such as fish."],
    ),
]


@pytest.mark.parametrize(("answer", "rule", "statements"), PARTED, ids=[answer for answer, *_ in PARTED])
def test_a_sentence_that_states_several_things_is_parted(answer: str, rule: str, statements: list[str]) -> None:
    """Each part is a span of the answer; with its subject it says one thing."""
    claims = atomic(answer)

    assert statements == [claim.statement for claim in claims]
    assert {rule} == {claim.split_by for claim in claims}
    assert all(answer[claim.start : claim.end] == claim.text for claim in claims)
    assert {(0, len(answer))} == {(claim.sentence_start, claim.sentence_end) for claim in claims}


WHOLE = [
    "Refunds take 5 days.",
    "If you are late, the fee is $5 and the order is closed.",
    "It is free unless you order less and pay later.",
    "It is either red and blue or green and white.",
    "The fee is $5 and $3 respectively.",
    "It takes 2 hours and 30 minutes.",
    "It costs between $5 and $10 a month.",
    "He said that it is red and blue.",
    "The album was written and produced by Ann.",
    "The system controls and coordinates the rest.",
    "Ann, the owner of the shop, and Bob met in May.",
    "The soil of the garden, which is acid, was tested.",
    "The name “A is red and B is blue” is a title.",
    "It was painted in red, white and blue by Ann and sold to Bob",
    "Die Gebühr beträgt 5 € und gilt für Kinder.",
    "退款需要5天，并且是免费的。",
    "Возврат занимает 5 дней, и он бесплатный.",
    "الاسترداد مجاني ويستغرق خمسة أيام.",
]


@pytest.mark.parametrize("answer", WHOLE)
def test_a_sentence_stays_whole_where_parting_could_change_it(answer: str) -> None:
    """Conditions, choices, quantities, passives, quotations, and languages that the rules do not know."""
    assert [""] == [claim.split_by for claim in atomic(answer)]
    assert split_claims(answer) == atomic(answer)


def test_parts_share_the_citation_behind_them() -> None:
    """One with a citation of its own keeps it."""
    assert [("1",), ("1",)] == [claim.citations for claim in atomic("It is red and has two doors [1].")]
    assert [("1",), ("2",)] == [claim.citations for claim in atomic("It is red [1] and has two doors [2].")]
    assert [("1",), ()] == [claim.citations for claim in atomic("It is red [1] and has two doors.")]


def test_claims_are_numbered_over_all_sentences_and_headings_stay_whole() -> None:
    """Only running text that states something is parted."""
    claims = atomic("# What is red and has doors\n\nHello! It is red and has two doors. Shall I go on and is it late?")

    assert list(range(5)) == [claim.index for claim in claims]
    assert ["", "", "predicate", "predicate", ""] == [claim.split_by for claim in claims]


def test_a_rule_finds_what_makes_a_part_critical_in_its_subject_too() -> None:
    """``must`` is said once for both parts."""
    rule = CriticalRule(name="duty", pattern=r"\bonly members\b")
    claims = mark_critical(atomic("Only members are insured and have a locker."), [rule], "x", RiskTier.LOW)

    assert ["duty", "duty"] == [claim.critical_rule for claim in claims]


def judged(answer: str, *labels: ClaimLabel) -> list[ClaimVerdict]:
    """Verdicts on the parts."""
    return [claim_verdict(label, claim=claim) for claim, label in zip(atomic(answer), labels, strict=True)]


ANSWER = "Shipping is free. The pass costs $15 a month and includes 5 GB [1]. Cards work."


def test_a_sentence_is_cut_whole() -> None:
    """Half a sentence would not read as if the other half had never been there."""
    assert "Shipping is free. Cards work." == without_bad_claims(judged(ANSWER, S, C, S, S), ANSWER)
    assert "Shipping is free. Cards work." == without_bad_claims(judged(ANSWER, S, S, U, S), ANSWER)
    assert ANSWER == without_bad_claims(judged(ANSWER, S, S, X, S), ANSWER)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ((S, C, S, S), Containment.DELIVER_TRIMMED),
        ((S, S, U, S), Containment.DELIVER_TRIMMED),
        ((S, S, X, S), Containment.HOLD_FOR_REVIEW),
        ((U, C, S, U), Containment.ABSTAIN),
    ],
)
def test_containment_looks_at_parts_and_cuts_sentences(labels: tuple[ClaimLabel, ...], expected: Containment) -> None:
    """Where every sentence has a bad part, nothing would be left to deliver."""
    claims = judged(ANSWER, *labels)

    assert expected == contain(answer_outcome(claims).outcome, claims, ANSWER)


def test_what_leans_on_a_cut_sentence_cannot_stay() -> None:
    """The sentence after it refers back; a part of the same sentence does not count as that."""
    answer = "The pass costs $15 and includes 5 GB. This holds for a year."

    assert changes_meaning(judged(answer, C, S, S), answer)
    assert not changes_meaning(judged(ANSWER, S, C, S, S), ANSWER)
