"""Quotations of an answer stand word for word in what the model was given, or a finding says so."""

import pytest

from detectors.claims import split_claims
from detectors.structural.folding import FoldedTexts, fold
from detectors.structural.quotations import find_quotations, without_block_signs
from detectors.structural.quotes import QuoteStatus, count_words, quote_findings, quote_status
from schemas.finding import StructuralRule

POLICY = (
    "Refunds are paid within 14 days of the return. The fee of 12.50 EUR isn't refunded.\n"
    'Customers say: "quick and easy". Click on Save to keep the changes.'
)
STATUSES = [
    ("Refunds are paid within 14 days", QuoteStatus.FOUND),
    ("refunds  are\npaid WITHIN 14 days", QuoteStatus.FOUND),
    ("are paid within 14 days.", QuoteStatus.FOUND),
    ("the fee of 12.50 EUR isn’t refunded", QuoteStatus.FOUND),
    ("Refunds are … within 14 days", QuoteStatus.FOUND),
    ("Refunds are paid ... isn't refunded.", QuoteStatus.FOUND),
    ("[The] fee of 12.50 EUR", QuoteStatus.FOUND),
    ("[r]efunds are paid within [two weeks] of the return", QuoteStatus.FOUND),
    ("Refunds are paid [...] of the return", QuoteStatus.FOUND),
    ("Refunds are paid within 14 days of the return. Click on Save to keep the changes.", QuoteStatus.FOUND),
    ("Customers say: 'quick and easy'", QuoteStatus.FOUND),
    ("within 14 days of the return … Refunds are", QuoteStatus.UNSUPPORTED),
    ("Refunds are paid within 15 days", QuoteStatus.UNSUPPORTED),
    ("Refunds are paid within 1", QuoteStatus.UNSUPPORTED),
    ("the fee of 12", QuoteStatus.UNSUPPORTED),
    ("4 days of the return", QuoteStatus.UNSUPPORTED),
    ("Refunds are gladly … within 14 days", QuoteStatus.UNSUPPORTED),
    ("14 days", QuoteStatus.REVIEW),
    ("free forever", QuoteStatus.REVIEW),
    ("…", QuoteStatus.REVIEW),
    ("", QuoteStatus.REVIEW),
]


@pytest.mark.parametrize(("quote", "expected"), STATUSES)
def test_a_quotation_is_found_unsupported_or_too_short(quote: str, expected: QuoteStatus) -> None:
    """White space, case, marks and punctuation at the ends are ignored; wording and figures are not."""
    assert expected == quote_status(quote, ["Other text.", POLICY])


@pytest.mark.parametrize(
    ("source", "copy"),
    [
        ("Rückgaben werden innerhalb von 14 Tagen erstattet", "rückgaben werden innerhalb von 14 Tagen erstattet"),
        ("l’article n’est pas repris", "l'article n'est pas repris"),
        ("ﬁnal offer — no returns", "final offer - no returns"),
        ("Ｔｈｅ　ｆｅｅ　ｉｓ　５", "the fee is 5"),
        ("the re\u00adfund is pa\u200bid", "the refund is paid"),
        ("Tom &amp; Jerry&#39;s &quot;big&quot; shop", "Tom & Jerry's big shop"),
        ('{"note": "it\\u2019s \\"free\\"\\nfor all"}', "it's “free” for all"),
        ("**Bold** words `here` now", "bold words here now"),
        ("he said , quietly ( at last )", "he said, quietly (at last)"),
        ("退款在十四天内支付。", "退款在十四天内支付"),
        ("वापसी १४ दिनों में होती है।", "वापसी १४ दिनों में होती है"),
    ],
)
def test_copies_that_differ_in_form_only_are_found(source: str, copy: str) -> None:
    """Compatibility forms, typographic signs, entities, escapes, emphasis and invisible signs carry no wording."""
    assert QuoteStatus.FOUND == quote_status(copy, [source])


QUOTATIONS = [
    ('It says "a b c" here.', ["a b c"]),
    ("It says “a b c” here.", ["a b c"]),
    ("Es heißt „a b c“ hier.", ["a b c"]),
    ("Det står ”a b c” här.", ["a b c"]),
    ("On lit « a b c » ici.", [" a b c "]),
    ("Es heißt »a b c« hier.", ["a b c"]),
    ("On lit ‹a b c› ici.", ["a b c"]),
    ("規則は「a b c」です。", ["a b c"]),
    ("規則は『a b c』です。", ["a b c"]),
    ("It says 'a b c' here.", ["a b c"]),
    ("It says ‘a b's c’ here.", ["a b's c"]),
    ("It says ‚a b c‘ here.", ["a b c"]),
    ("“He said ‘a b’ to me”, it says.", ["He said ‘a b’ to me"]),
    ('"He said "a b" to me", it says.', ['He said "a b" to me']),
    ("„Er sagte «a b» dazu“", ["Er sagte «a b» dazu"]),
    ('"a b", "c d" and "e f".', ["a b", "c d", "e f"]),
    ("> a b\n> c d\n\nText.", ["> a b\n> c d"]),
    ('> "a b c"\n> — the terms', ["a b c"]),
    ("> **Note:** a b c", []),
    ("> [!TIP]\n> a b c", []),
    ('A 5" and a 7" screen.', []),
    ('A stray " sign.\n\nAnd one more " here.', []),
    ('1. One " sign\n2. Two " signs', []),
    ("The users' money and the banks' fees.", []),
    ("It's Tom's, isn't it?", []),
    ('{"a": "b c d", "e": ["f g h"]}', []),
    ('Send {"a": "b c d"} there.', ["a"]),
    ('<a href="x y z">text</a>', []),
    ('Use `print("a b c")` here.', []),
    ('```\nx = "a b c"\n```', []),
    ("", []),
]


@pytest.mark.parametrize(("answer", "expected"), QUOTATIONS)
def test_quotations_are_found_in_every_style(answer: str, expected: list[str]) -> None:
    """The outermost ones, without code, attributes, inch marks and callouts."""
    assert expected == [answer[found.start : found.end] for found in find_quotations(answer)]


def test_a_block_quote_is_read_without_its_signs() -> None:
    """Signs at the head of lines and a last line that names the source are not wording."""
    assert "a b\nc d" == without_block_signs("> a b\n> > c d\n> — the terms")


def found(answer: str, *texts: str) -> list[tuple[StructuralRule, int | None]]:
    """Rule and claim of each finding."""
    return [
        (finding.rule, finding.claim)
        for finding in quote_findings(answer, split_claims(answer), FoldedTexts([*texts, POLICY]))
    ]


NOT_FOUND, TOO_SHORT = StructuralRule.QUOTE_NOT_FOUND, StructuralRule.QUOTE_TOO_SHORT
ANSWERS = [
    ('The fee is 12.50 EUR. "Refunds are paid within 14 days", it says.', []),
    ('The fee is 12.50 EUR. "Refunds are paid within 3 days", it says.', [(NOT_FOUND, 1)]),
    ('It is "quick" and "easy".', []),
    ('It is "magic" for all.', [(TOO_SHORT, 0)]),
    ('There is a wave on the badge (the noun "wave").', []),
    ('There are waves on the badge (the noun "wave").', [(TOO_SHORT, 0)]),
    ("Es steht dort: „Zutritt nur für Freunde des Vereins.“", [(NOT_FOUND, 0)]),
    ('See the leaflet "How to Return a Parcel" first.', []),
    ('The answer to "how long does a refund take?" is 14 days.', []),
    ('I could not find "free returns for all customers" in the documents.', []),
    ("The terms say:\n\n> Refunds are paid within 14 days\n> of the return.", []),
    ("The terms say:\n\n> Refunds are paid within 3 days\n> of the return.", [(NOT_FOUND, 1)]),
    ("> The fee of 12.50 EUR isn't refunded. Parcels travel free of charge.", [(NOT_FOUND, 1)]),
    ("规则说“退款在三天之内支付完毕”。", [(NOT_FOUND, 0)]),
    ('It says "\ud83d \x00 a b c d".', [(NOT_FOUND, 0)]),
]


@pytest.mark.parametrize(("answer", "expected"), ANSWERS)
def test_findings_name_the_claim(answer: str, expected: list[tuple[StructuralRule, int]]) -> None:
    """Titles, questions and refusals are passed over; a short quotation counts only where it is not found."""
    assert expected == found(answer)


def test_what_the_user_wrote_may_be_quoted() -> None:
    """The texts are all that the model was given, the question included."""
    assert [] == found('You wrote "my parcel never came home".', "Help, my parcel never came home!")


def test_words_in_scripts_without_spaces_are_counted_by_two_characters() -> None:
    """Six ideographs are no shorter than three words."""
    assert (3, 3, 0) == (count_words("退款十四天内"), count_words("one two, three"), count_words("…"))


def test_comparing_stops_at_its_limit_without_an_accusation() -> None:
    """What was not compared is not called missing."""
    texts = FoldedTexts(["x" * 100], max_compared_chars=150)

    assert [False, False, True] == [texts.hold(["not there"]) for _ in range(3)]


@pytest.mark.parametrize(
    "text",
    [
        '"' * 200_000,
        "“" * 200_000,
        "'a " * 70_000,
        "> " * 100_000,
        "“a „b " * 30_000,
        "`" * 200_000,
        '\n"a b c' * 30_000,
    ],
)
def test_hostile_answers_take_linear_time(text: str) -> None:
    """A quarter of a megabyte of marks; the limit on the test is the check."""
    quote_findings(text, split_claims(text), FoldedTexts([POLICY]))


@pytest.mark.parametrize(
    "text", ["\u0300\u0316" * 500_000, "&" * 1_000_000, "\\" * 1_000_000, " - " * 300_000, "&#9999999;&#xffffff;"]
)
def test_folding_takes_linear_time(text: str) -> None:
    """Runs of combining marks, entities, escapes and dashes of a megabyte; the limit on the test is the check."""
    fold(text)
