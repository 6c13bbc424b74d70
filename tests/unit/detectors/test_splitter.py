"""What ends a claim, and what does not."""

import pytest

from detectors.claims import split_claims

ONE_SENTENCE = [
    "Dr. Smith and Prof. Jones approved it.",
    "Use a cable, e.g. USB, or an adapter, i.e. a dongle.",
    "She works at the U.S. Department of State.",
    "See No. 5 and Fig. 3 on pp. 12 of vol. 2.",
    "It costs $3.50, or 1,234.56 a year.",
    "Version 2.10.3 needs Python 3.11.",
    "The desk is open from 9 a.m. to 5 p.m. on Mondays.",
    "Wait... there is more to it.",
    "J. R. R. Tolkien wrote it.",
    "Visit https://example.com/a.b?x=1.2 for the form.",
    "Write to first.last@example.co.uk today.",
    "The Kansas City-St. Joseph diocese paid.",
    "He asked “Really?” and left.",
    "Am 3. Mai gilt z. B. die Frist von ca. 5 Tagen.",
    "Yahoo! was founded in 1994.",
    "A line that was wrapped by hand because it had grown beyond the margin\nIs still one sentence.",
    "The limit is 5 GB,\nand it resets each month.",
    "Node.js and foo.Bar are supported.",
]


@pytest.mark.parametrize("answer", ONE_SENTENCE)
def test_a_dot_inside_a_sentence_does_not_end_it(answer: str) -> None:
    """Abbreviations, numbers, addresses, initials and hard wraps leave a sentence whole."""
    assert [answer] == [claim.text for claim in split_claims(answer)]


SEVERAL = [
    ("It costs $5. It ships today.", ["It costs $5.", "It ships today."]),
    ("Sold in the U.S. The market grew.", ["Sold in the U.S.", "The market grew."]),
    ("Take vitamin C. The dose is low.", ["Take vitamin C.", "The dose is low."]),
    ("Founded in 2019. 5 people came.", ["Founded in 2019.", "5 people came."]),
    ('She said "Stop." Then she left.', ['She said "Stop."', "Then she left."]),
    ("It takes 5 days.The money is sent.", ["It takes 5 days.", "The money is sent."]),
    ("all in small letters. nobody minds.", ["all in small letters.", "nobody minds."]),
    ("It is free. iPhone users pay.", ["It is free.", "iPhone users pay."]),
    ("Free! Really? Yes.", ["Free!", "Really?", "Yes."]),
    ("退款需要5天。请联系客服！谢谢。", ["退款需要5天。", "请联系客服！", "谢谢。"]),
    ("返金は5日かかります。送料は無料です。", ["返金は5日かかります。", "送料は無料です。"]),
    ("هل هذا مجاني؟ نعم هو مجاني.", ["هل هذا مجاني؟", "نعم هو مجاني."]),
    ("यह पाँच दिन लेता है। शुल्क नहीं है।", ["यह पाँच दिन लेता है।", "शुल्क नहीं है।"]),
    ("Das gilt usw. Er kam. Es kostet 5 Mio. Euro.", ["Das gilt usw.", "Er kam.", "Es kostet 5 Mio. Euro."]),
]


@pytest.mark.parametrize(("answer", "expected"), SEVERAL)
def test_sentences_are_claims_of_their_own(answer: str, expected: list[str]) -> None:
    """Terminators of the major scripts end a claim."""
    assert expected == [claim.text for claim in split_claims(answer)]


LISTS = [
    ("- Basic costs $5\n- Pro costs $9", ["Basic costs $5", "Pro costs $9"]),
    ("1. Open it.\n2) Save it. Close it.", ["Open it.", "Save it.", "Close it."]),
    ("* Outer\n  * Inner item\n    that goes on\n  • Other", ["Outer", "Inner item\n    that goes on", "Other"]),
    ("a) First\nb) Second\nii. Third", ["First", "Second", "Third"]),
    ("- [x] Done\n- [ ] Open", ["Done", "Open"]),
    ("1、第一步\n2、第二步", ["第一步", "第二步"]),
    ("> Quoted text here.\n> - And an item", ["Quoted text here.", "And an item"]),
    ("•Tight\n●Dots", ["Tight", "Dots"]),
    ("Phone: 555\nHours: 9 to 5", ["Phone: 555", "Hours: 9 to 5"]),
    ("Do this: 1. Open it. 2. Save it.", ["Do this: 1. Open it.", "2. Save it."]),
]


@pytest.mark.parametrize(("answer", "expected"), LISTS)
def test_list_items_are_claims_without_their_markers(answer: str, expected: list[str]) -> None:
    """Bullets, numbers, letters, nesting and check boxes stay outside the claim."""
    assert expected == [claim.text for claim in split_claims(answer)]


def test_a_citation_after_the_full_stop_belongs_to_the_sentence_before() -> None:
    """``5 days. [1] Next`` cites for the first sentence."""
    first, second = split_claims("It takes 5 days. [1] Shipping is free (doc-2).")

    assert ("It takes 5 days. [1]", ("1",)) == (first.text, first.citations)
    assert ("Shipping is free (doc-2).", ("doc-2",)) == (second.text, second.citations)


def test_headings_table_heads_and_rules_state_nothing() -> None:
    """They are marked or left in the gaps, and the rows below stay claims."""
    answer = "# Prices\n\nPlans\n=====\n\n**Basic**\nIt costs $5.\n\n---\n\n| plan | price |\n|---|---|\n| Pro | $9 |\n"

    expected = [
        ("Prices", False),
        ("Plans", False),
        ("**Basic**", False),
        ("It costs $5.", True),
        ("| plan | price |", False),
        ("| Pro | $9 |", True),
    ]
    assert expected == [(claim.text, claim.is_factual) for claim in split_claims(answer)]


@pytest.mark.parametrize(
    "answer", ["Paris", "30 days", "**30 days**", "Yes, within 30 days", "Returns are free\n\nAsk us."]
)
def test_a_short_answer_is_no_heading(answer: str) -> None:
    """What is alone, or holds a verb, is a claim."""
    assert split_claims(answer)[0].is_factual


def test_code_lines_are_not_split_into_sentences() -> None:
    """A fenced block gives one claim a line, the fences none."""
    answer = "```sh\nmake run. Now\n```\nIt prints a page."

    assert ["make run. Now", "It prints a page."] == [claim.text for claim in split_claims(answer)]


def test_text_on_the_line_of_a_fence_is_not_hidden() -> None:
    """Only a bare fence opens a code block."""
    assert ["``` You get 500 EUR ```"] == [claim.text for claim in split_claims("``` You get 500 EUR ```")]


@pytest.mark.parametrize("answer", ["", " \n\t", "---\n***", "👍", "\x00\x00", "\ud83d", "..."])
def test_an_answer_without_words_has_no_claims(answer: str) -> None:
    """Signs, blanks, NULs and lone surrogates alone state nothing."""
    assert () == split_claims(answer)
