"""Which differences between a claim and its evidence decide, and what figures measure."""

import pytest

from detectors.evidence.conflicts import (
    clashing_amounts,
    clashing_names,
    clashing_opposites,
    conflicts_of,
    is_denied_on_one_side,
)
from detectors.evidence.kinds import amounts_of, by_kind, is_derived
from detectors.evidence.matching import Match, PreparedClaim, match, prepare
from detectors.evidence.passages import index_passage
from detectors.evidence.words import words_of


def _matched(claim: str, text: str) -> tuple[PreparedClaim, Match]:
    prepared = prepare(words_of(claim), lambda _: 0.8)
    found = match(prepared, [index_passage(text)])
    assert found is not None
    return prepared, found


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("within 5 working days", [("duration", 120.0)]),
        ("for two weeks", [("duration", 336.0)]),
        ("25 EUR or EUR 30", [("€", 25.0), ("€", 30.0)]),
        ("in 1998", [("year", 1998.0)]),
        ("12 percent at 5 PM", [("%", 12.0), ("clock", 1020.0)]),
        ("on 3 March", [("date", 3.0)]),
        ("the 2018-19 season", [("year", 2018.0), ("end of a span", 19.0)]),
    ],
)
def test_a_figure_measures_what_stands_around_it(text: str, kinds: list[tuple[str, float]]) -> None:
    """Durations come in hours; signs and words of money are one kind."""
    assert kinds == [(amount.kind, amount.value) for amount in amounts_of(words_of(text))]


@pytest.mark.parametrize(
    ("claim", "evidence", "expected"),
    [
        ("14 days", "2 weeks", True),
        ("30 EUR", "10 EUR and 20 EUR", True),
        ("at 10:30 PM", "until 10:30", True),
        ("31 EUR", "10 EUR and 20 EUR", False),
        ("14 EUR", "14 days", False),
        ("in the 1970s", "in 1979", True),
        ("in 2003", "in 1998", False),
    ],
)
def test_converted_and_added_figures_are_derived(claim: str, evidence: str, expected: bool) -> None:
    """Another unit, a sum, and the half of the day that nobody wrote are the same figure."""
    amount = amounts_of(words_of(claim))[0]
    assert is_derived(amount, by_kind(amounts_of(words_of(evidence))).get(amount.kind, [])) is expected


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("Returns take 60 days.", "Returns take 30 days.", ["60"]),
        ("Returns take 60 days.", "Returns take 30 days. Trials last 60 days.", ["60"]),
        ("Returns take 60 days in total.", "Returns take 30 days in all. The trial takes 60 days of use in total.", []),
        ("Returns take 60 days.", "Returns cost 30 EUR.", []),
    ],
)
def test_a_figure_clashes_with_one_of_its_kind(claim: str, text: str, expected: list[str]) -> None:
    """Where its value stands nowhere near, or the evidence makes the same statement with another."""
    assert expected == [own.text for own, _ in clashing_amounts(*_matched(claim, text))]


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("Opened software is included.", "Opened software is excluded.", 1),
        ("Opened software is not included.", "Opened software is excluded.", 0),
        ("Opened software is included.", "Opened parcels weigh more; cancelled plans are excluded.", 0),
    ],
)
def test_an_opposite_clashes_in_the_same_place(claim: str, text: str, expected: int) -> None:
    """A "not" turns it round, and the opposite of something else is none."""
    assert expected == len(clashing_opposites(*_matched(claim, text)))


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("Gift cards are refunded.", "Gift cards are not refunded.", True),
        ("Gift cards cannot be refunded.", "Gift cards are refunded.", True),
        ("Gift cards are not only refunded.", "Gift cards are refunded.", False),
        ("Setting up is included.", "Setting up is included, connecting to water is not included.", False),
        ("Prosecutors seek the death penalty.", "Prosecutors aren't swayed and seek the death penalty.", False),
    ],
)
def test_a_denial_counts_where_the_denied_word_is_shared(claim: str, text: str, expected: bool) -> None:
    """A "not" about another word, or "not only", denies nothing."""
    assert is_denied_on_one_side(*_matched(claim, text)) is expected


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("Maria Lopez founded the company.", "The company was founded by Jonas Berg.", 1),
        ("Lamps go to Goleta.", "Lamps go to Goleta, says Jonas Berg.", 0),
        ("Lamps leave on Monday.", "Lamps leave on Friday.", 0),
        ("The parcel left from VT.", "The parcel left from Vermont.", 0),
    ],
)
def test_a_name_clashes_with_a_name_in_its_place(claim: str, text: str, expected: int) -> None:
    """Dates and short forms are no names, and one that the evidence holds does not clash."""
    assert expected == bool(clashing_names(*_matched(claim, text)))


def test_a_long_sentence_is_not_decided_by_a_name() -> None:
    """It holds several statements; only a figure decides there."""
    tail = ", with the ridge, the meadow, a mill, four goats, some snow, a lamp, tall grass and grey stone"
    short = conflicts_of(*_matched("Ann Lopez founded the firm.", "Jonas Berg founded the firm."))
    long = conflicts_of(*_matched(f"Ann Lopez founded the firm{tail}.", f"Jonas Berg founded the firm{tail}."))
    assert (1.0, 0.0) == (short[-1], long[-1])
