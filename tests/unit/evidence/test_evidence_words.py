"""Words, figures and pieces: what the features are counted on."""

import json
from itertools import pairwise

import pytest

from detectors.claims import split_claims
from detectors.evidence.claimtext import words_to_check
from detectors.evidence.figures import Figure, conflicting, figures_of, in_other_unit, missing, rounded_forms
from detectors.evidence.keyvalue import key_value_spans
from detectors.evidence.passages import PassageCache, index_passage
from detectors.evidence.polarity import negated_keys
from detectors.evidence.terms import learn_terms
from detectors.evidence.words import TOKEN, tokenise, words_of
from schemas.claim import Claim
from schemas.trace import Passage


def _keys(text: str) -> list[str]:
    return [word.key for word in words_of(text)]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("30", "thirty"),
        ("1,200", "1200"),
        ("2.5 million", "2500000"),
        ("5 PM", "17:00"),
        ("9 a.m.", "9:00"),
        ("twenty-five", "25"),
        ("20k", "20,000"),
        ("180 €", "€180"),
        ("Café", "Cafe\u0301"),
    ],
)
def test_one_number_has_one_key(left: str, right: str) -> None:
    """Spellings of the same number are the same word; so are those of an accent."""
    assert _keys(left) == _keys(right)


@pytest.mark.parametrize(("text", "unit"), [("$30", "$"), ("30 dollars", "$"), ("30 %", "%"), ("30 days", "day")])
def test_a_figure_knows_its_unit(text: str, unit: str) -> None:
    """Signs and unit words give the unit."""
    assert [unit] == [figure.unit for figure in figures_of(words_of(text))]


def test_figures_are_missing_conflicting_or_in_another_unit() -> None:
    """A figure is compared by value first, then by unit."""
    evidence = figures_of(words_of("Returns take 14 days and cost 5 EUR."))
    claim = figures_of(words_of("Returns take 999 days."))
    assert [999.0] == [figure.value for figure in missing(claim, evidence)]
    assert [(999.0, 14.0)] == [(own.value, other.value) for own, other in conflicting(claim, evidence)]
    assert in_other_unit(figures_of(words_of("14 hours")), evidence) == 1


@pytest.mark.parametrize(
    ("exact", "rounded", "expected"),
    [(1_523_000.0, 1_500_000.0, True), (11.8, 12.0, True), (30.0, 31.0, False), (2022.0, 2020.0, False)],
)
def test_rounding_is_allowed_where_people_round(exact: float, rounded: float, expected: bool) -> None:
    """Large and fractional numbers may lose digits; counts and years may not."""
    assert expected == (rounded in rounded_forms(exact))


def test_negation_reaches_the_words_that_follow_it() -> None:
    """Four words after a negation are negated."""
    assert {"refund", "open", "box"} == negated_keys(words_of("We do not refund an open box that was bought in a shop"))


def test_tokens_lie_inside_the_text_and_do_not_overlap() -> None:
    """Offsets are code points of the text itself."""
    text = "Ünïcode — 退款 within 30 days, $1,200.50 \ud83d at 5 p.m. don’t"
    spans = [match.span() for match in TOKEN.finditer(text)]
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    assert {"退", "款", "#30", "#1200.5", "@1020", "don't"} <= set(_keys(text))


def test_pieces_give_back_their_text() -> None:
    """A piece's offsets cut a sentence out of the passage."""
    text = "First sentence here. Dr. Smith said no.\nA line\n\nLast one"
    pieces = index_passage(text).pieces
    assert ["First sentence here.", "Dr. Smith said no.", "A line", "Last one"] == [
        text[p.start : p.end] for p in pieces
    ]


def test_a_text_without_sentence_ends_is_cut_into_stretches() -> None:
    """No piece is longer than 60 words, and no word is lost."""
    pieces = index_passage("word " * 500).pieces
    assert max(len(piece.words) for piece in pieces) <= 60
    assert sum(len(piece.words) for piece in pieces) == 500


def test_json_becomes_keys_with_their_values() -> None:
    """Every value is read together with its key; camel case is split and joined."""
    text = json.dumps({"name": "Ada", "attributes": {"TakeOut": False, "WiFi": "free"}, "tags": ["a", "b"]})
    found = [(span.key, text[span.start : span.end]) for span in key_value_spans(text)]
    assert [("name", "Ada"), ("Take Out", "false"), ("Wi Fi", "free"), ("tags", "a"), ("tags", "b")] == found
    assert "wifi" in index_passage(text).postings


@pytest.mark.parametrize("text", ['{"a": ', '{"a": [1, 2', '{"a": "\\', "{", '{"":""', '{"a":}]]'])
def test_broken_json_is_read_as_far_as_it_goes(text: str) -> None:
    """Cut JSON raises nothing."""
    index_passage(text)


def test_the_cache_is_bounded_and_gives_equal_indexes() -> None:
    """Evicted passages are made again, alike."""
    cache = PassageCache(max_characters=300)
    passages = [Passage(text=f"Passage number {number} with some words.") for number in range(10)]
    first = cache.indexed(passages)
    assert first == cache.indexed(passages)
    assert len(cache) <= 2


def test_fragments_are_read_with_what_stands_beside_them() -> None:
    """A claim of fewer than three words that count takes the next claim's words, or else the question's."""
    answer = "Not quite. Opened boxes are not taken back."
    claims = [
        Claim(index=0, start=0, end=10, text=answer[:10]),
        Claim(index=1, start=11, end=len(answer), text=answer[11:]),
    ]
    both = words_to_check(claims, "Do you take back opened boxes?")
    alone = words_to_check(claims[:1], "Do you take back opened boxes?")
    assert {"open", "box"} <= {word.key for word in both[0] or ()}
    assert {"open", "box"} <= {word.key for word in alone[0] or ()}


def test_citations_and_list_marks_are_not_checked() -> None:
    """``[refunds-2]``, ``passage 3`` and ``4.`` are no figures of the claim."""
    text = "4. Passage 3 says refunds take a fortnight at most [refunds-2]."
    words = words_to_check([Claim(index=0, start=0, end=len(text), text=text, citations=("refunds-2",))], "")[0]
    assert () == figures_of(words or [])


def test_words_that_answers_bring_along_weigh_little() -> None:
    """A word that good answers use without evidence tells less than an equally rare word."""
    passages = [["refund", "day", f"p{number}"] for number in range(20)]
    answers = [(["overall", "refund"], ["refund", "day"])] * 5 + [(["day", "escrow"], ["day", "escrow"])] * 5
    terms = learn_terms(passages, answers)
    assert terms.weight("overall") < 0.5 * terms.weight("escrow")
    assert terms.unknown == terms.weight("neverseen")


def test_figures_carry_their_own_spelling() -> None:
    """What is shown to people is what was written."""
    assert (Figure("#1200", 1200.0, "$", "$1,200"),) == figures_of(words_of("$1,200"))


def test_a_short_statement_with_its_own_subject_stands_alone() -> None:
    """A claim that names what it is about does not borrow the words of the sentence before it."""
    claims = split_claims("You can return it within 30 days. Shipping is free. They cannot be paid.")
    read = [" ".join(word.text for word in words or ()) for words in words_to_check(claims, "")]
    assert read[1] == "Shipping is free"
    assert "Shipping" in read[2]
    regret = words_to_check(split_claims("I'm afraid not. Shipping is never free."), "")[0]
    assert "Shipping" in [word.text for word in regret or ()]


@pytest.mark.parametrize(
    "text",
    [
        "Open until 5 PM on 24 May, or 7 a.m. at the latest",
        "17per cent, 17 per cent, 17 percent and 17 % of $ 5 million",
        "5$ 6, 5 $ 6, 30 billion\u00a0people and 40\tthousand more",
        "write to help@example.org within twenty-one days [EMAIL_ab12cd] of it",
        "日本の首都 is 東京; don't say " + "x" * 70,
    ],
)
def test_words_cut_at_blanks_are_those_of_the_whole_text(text: str) -> None:
    """Reading a text blank by blank finds the same words as scanning it at once."""
    assert [word for word, _ in tokenise(text)] == words_of(text)
