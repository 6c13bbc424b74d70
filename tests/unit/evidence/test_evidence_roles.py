"""Who did what to whom, dates in digits, and short forms of long names."""

import pytest

from detectors.evidence.conflicts import conflicts_of
from detectors.evidence.matching import Match, PreparedClaim
from detectors.evidence.passages import index_passage
from detectors.evidence.restate import matched
from detectors.evidence.roles import clashing_roles, reversals
from detectors.evidence.words import tokenise, words_of


def _matched(claim: str, text: str) -> tuple[PreparedClaim, Match]:
    prepared, found = matched(words_of(claim), lambda _: 0.8, [index_passage(text)])
    assert found is not None
    return prepared, found


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("Ben manages Anna's team.", "Anna manages Ben's team.", True),
        ("Anna is managed by Ben.", "Anna manages Ben.", True),
        ("Ben is managed by Anna.", "Anna manages Ben.", False),
        ("Ben met Anna in Oslo.", "Anna met Ben in Oslo.", False),
        ("Moss, Bergen and Oslo took part.", "Oslo, Bergen and Moss took part.", False),
        ("The price covers delivery.", "The delivery covers the price.", False),
        ("Pets aren't allowed in the Varnet flats.", "The Varnet flats don't allow pets.", False),
        ("Varnet isn't managed by Ben.", "Ben doesn't manage Varnet.", False),
    ],
)
def test_two_names_that_change_places_decide(claim: str, text: str, expected: bool) -> None:
    """But not in a list, where it holds both ways, or where the other side is in the passive."""
    pair = _matched(claim, text)
    assert (bool(clashing_roles(*pair)), conflicts_of(*pair)[-1]) == (expected, float(expected))


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("The train runs from Oslo to Bergen.", "The train runs from Bergen to Oslo.", 1.0),
        ("The train runs from Oslo to Bergen.", "The train runs from Oslo to Bergen.", 0.0),
        ("The train serves Oslo and Bergen.", "The train serves Bergen and Oslo.", 0.0),
    ],
)
def test_ends_of_a_way_are_told_apart(claim: str, text: str, expected: float) -> None:
    """Two names in the other order, with more than an "and" between them."""
    assert expected == reversals(*_matched(claim, text))[1]


@pytest.mark.parametrize(
    ("digits", "words"),
    [
        ("on 2024-03-01", "on 1 March 2024"),
        ("on 14/3/2024.", "on 14 March 2024."),
        ("on 3/14/2024", "on 14 March 2024"),
        ("at 2024-03-01T10:00", "at 1 March 2024 T10:00"),
    ],
)
def test_a_date_in_digits_reads_as_in_words(digits: str, words: str) -> None:
    """With or without offsets."""
    keys = [word.key for word in words_of(words)]
    assert keys == [word.key for word in words_of(digits)] == [word.key for word, _ in tokenise(digits)]


@pytest.mark.parametrize("text", ["1/3/2024", "2024-13-01", "2024-02-40", "12-2024-03-01", "2018-19", "24/7"])
def test_what_may_be_two_dates_or_none_stays_figures(text: str) -> None:
    """A day in March to some is one in January to others."""
    assert all(word.value is not None for word in words_of(text))


def test_words_of_a_date_stand_where_it_stands() -> None:
    """Offsets point into the text as it was written."""
    assert [0, 3, 3, 3, 14] == [at for _, at in tokenise("on 2024-03-01 it")]


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("ESA launched Juice.", "The European Space Agency launched Juice."),
        ("The North Atlantic Treaty Organization met in Vilnius.", "NATO met in Vilnius."),
        ("The Bank of England raised rates.", "The BE raised rates."),
    ],
)
def test_an_initialism_stands_for_its_long_name(claim: str, text: str) -> None:
    """In either direction, small words left out."""
    prepared, found = _matched(claim, text)
    assert set(prepared.keys) <= found.best.keys


def test_other_initials_are_another_name() -> None:
    """Nothing is read into a short form that does not spell the name."""
    prepared, found = _matched("ESO launched Juice.", "The European Space Agency launched Juice.")
    assert not set(prepared.keys) <= found.best.keys
