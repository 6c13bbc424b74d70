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


FORMS = [
    ("She said “Stop. Go home.” and left. He stayed.", ["She said “Stop. Go home.” and left.", "He stayed."]),
    ('He said "It is free. Take it." and left.', ['He said "It is free. Take it." and left.']),
    ("„Es ist frei. Nimm es.“ sagte er. Er ging.", ["„Es ist frei. Nimm es.“ sagte er.", "Er ging."]),
    ("Il dit « C’est libre. Prenez. » puis part.", ["Il dit « C’est libre. Prenez. » puis part."]),
    ("Il dit : « C’est libre. » M. Roux part.", ["Il dit : « C’est libre. »", "M. Roux part."]),
    ("Er sagte es. »Nimm das.« Dann ging er.", ["Er sagte es.", "»Nimm das.«", "Dann ging er."]),
    ("He cites “a ‘B. C.’ D. E” here. Next.", ["He cites “a ‘B. C.’ D. E” here.", "Next."]),
    ("“It is free. It ships today.”", ["“It is free.", "It ships today.”"]),
    ("(He left. She stayed.) It is free.", ["(He left.", "She stayed.)", "It is free."]),
    ("It is free (see Fig. 3. It shows more) now.", ["It is free (see Fig. 3. It shows more) now."]),
    (
        "It costs US$1.5. ₹1,00,000 is due. Pay 1.299,00 €.",
        ["It costs US$1.5.", "₹1,00,000 is due.", "Pay 1.299,00 €."],
    ),
    (
        "Am 12. 3. 2026 gilt es. Der 2. Weltkrieg endete am 8. Mai.",
        ["Am 12. 3. 2026 gilt es.", "Der 2. Weltkrieg endete am 8. Mai."],
    ),
    ("Use v1.2.3. Then v2. See 12.3.2026 too.", ["Use v1.2.3.", "Then v2.", "See 12.3.2026 too."]),
    ("Mail a.b@c.de. See https://a.b/x.y?Q=1! Done.", ["Mail a.b@c.de.", "See https://a.b/x.y?Q=1!", "Done."]),
    ("See https://a.b/search?Who=1 now.", ["See https://a.b/search?Who=1 now."]),
    ("It takes 5 days.¹ It is free.[2] Ask (doc-3).", ["It takes 5 days.¹", "It is free.[2]", "Ask (doc-3)."]),
    ("It takes [1] 5 days [2, 3]. It is free.", ["It takes [1] 5 days [2, 3].", "It is free."]),
    ("The list [...] goes on. And … so on… More.", ["The list [...] goes on.", "And … so on…", "More."]),
    ("He lives in Goleta, CA. Known for food.", ["He lives in Goleta, CA.", "Known for food."]),
    ("DR. SMITH PAID. ST. LOUIS IS FAR.", ["DR. SMITH PAID.", "ST. LOUIS IS FAR."]),
    ("Keep it in mind. It closes at 5 pm. Angel paid.", ["Keep it in mind.", "It closes at 5 pm.", "Angel paid."]),
    ("It is free!\u200b Next.\u200f\u00a0Last.", ["It is free!", "Next.", "Last."]),
    ("It is free. 🎉 Next one 👍", ["It is free.", "🎉 Next one 👍"]),
]


@pytest.mark.parametrize(("answer", "expected"), FORMS)
def test_quotes_figures_addresses_and_citations_stay_whole(answer: str, expected: list[str]) -> None:
    """A quotation inside a sentence belongs to it; one that is the sentence is split."""
    assert expected == [claim.text for claim in split_claims(answer)]


HTML = [
    ("<p>It is free.</p><p>Take it</p>", ["It is free.", "Take it"]),
    ("A is <b>free.</b> B costs <i>5.</i>", ["A is <b>free.</b>", "B costs <i>5.</i>"]),
    ("<ul><li>One</li><li>Two</li></ul>", ["One", "Two"]),
    ("It is free<br/>it ships today", ["It is free", "it ships today"]),
    ("It is free.&nbsp;It ships.", ["It is free.", "It ships."]),
    ("<table><tr><td>Pro</td><td>$9</td></tr></table>", ["<td>Pro</td><td>$9</td>"]),
    ("5 < 6 and a<b hold. Next.", ["5 < 6 and a<b hold.", "Next."]),
    ("<br><hr/><p></p>", []),
    ("| a<br>b | c |", ["| a<br>b | c |"]),
]


@pytest.mark.parametrize(("answer", "expected"), HTML)
def test_tags_of_blocks_end_a_claim_and_stay_outside(answer: str, expected: list[str]) -> None:
    """Inline tags and cells stay in the claim, as they stand."""
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
    ("✅ Free returns\n❌ No fees\n1️⃣ Open it", ["Free returns", "No fees", "Open it"]),
    ("price: $5\nshipping: free", ["price: $5", "shipping: free"]),
    (
        "one line that is long enough to have been wrapped\nnote: by hand",
        ["one line that is long enough to have been wrapped\nnote: by hand"],
    ),
    ("价格是五元\n运费免费", ["价格是五元", "运费免费"]),
    ("plan\tprice\nPro\t$9", ["plan\tprice", "Pro\t$9"]),
    ("It is free.\tIt ships today.", ["It is free.", "It ships today."]),
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


MARKED = [
    ("plan | price\n--- | ---\nPro | $9\nBasic | free\n\nText after.", ["plan | price"]),
    ("<table><tr><th>Plan</th><th>Price</th></tr><tr><td>Pro</td></tr></table>", ["<th>Plan</th><th>Price</th>"]),
    ("<h2>Prices</h2>It costs $5.", ["Prices"]),
    ("Prices\n---\nIt costs $5.", ["Prices"]),
    ("Fee\n: It costs $5.", ["Fee"]),
    ("1. **Setup**\n   - Plug it in\n2. **Use**", ["**Setup**"]),
    ("- **Paris**\n- **Rome**", []),
    ("**What is covered**\nWater damage is.", ["**What is covered**"]),
    ("**Why You Should Care**\nIt is free.", ["**Why You Should Care**"]),
    ("**Yes, it is free for 30 days**\n\nAsk us.", []),
    ("## Refunds are free for everybody.\nAsk us.", []),
    ("退款政策\n\n退款需要5天。", ["退款政策"]),
    ("退款免费\n\n退款需要5天。", []),
    ("Доставка бесплатная\n\nСрок 5 дней.", []),
    ("الشحن مجاني\n\nالمدة 5 أيام.", []),
    (
        "It is free [1].\n\nSources:\n- [1] Refund policy\n- https://a.b/c",
        ["Sources:", "[1] Refund policy", "https://a.b/c"],
    ),
]


@pytest.mark.parametrize(("answer", "expected"), MARKED)
def test_what_names_what_follows_is_no_claim(answer: str, expected: list[str]) -> None:
    """Headings, heads of tables, labels, terms and sources; a statement in bold or behind a ``#`` stays one."""
    assert expected == [claim.text for claim in split_claims(answer) if not claim.is_factual]


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


def test_an_index_in_code_is_no_citation() -> None:
    """``items[1]`` cites nothing."""
    assert [()] == [claim.citations for claim in split_claims("```\nprint(items [1])\n```")]


def test_a_number_of_a_list_that_breaks_off_states_nothing() -> None:
    """Behind a question it is the answer."""
    assert [True, False] == [claim.is_factual for claim in split_claims("It is free. 2.")]
    assert [False, True] == [claim.is_factual for claim in split_claims("How many? 2.")]


FENCES = [
    ("```\nA. B\n```\nIt is so. Next.", ["A. B", "It is so.", "Next."]),
    ("~~~~py\nA. B\n~~~\nC. D\n~~~~", ["A. B", "C. D"]),
    ("```py\nIt is so. Next.", ["It is so.", "Next."]),
    ("```\nA. B\n```\n```py\nIt is so. Next.", ["A. B", "It is so.", "Next."]),
]


@pytest.mark.parametrize(("answer", "expected"), FENCES)
def test_a_fence_that_nothing_closes_opens_no_code(answer: str, expected: list[str]) -> None:
    """Or the rest of the answer would be one claim a line; a fence closes with its own sign, as long at least."""
    assert expected == [claim.text for claim in split_claims(answer)]


def test_text_on_the_line_of_a_fence_is_not_hidden() -> None:
    """Only a bare fence opens a code block."""
    assert ["``` You get 500 EUR ```"] == [claim.text for claim in split_claims("``` You get 500 EUR ```")]


@pytest.mark.parametrize("answer", ["", " \n\t", "---\n***", "👍", "\x00\x00", "\ud83d", "..."])
def test_an_answer_without_words_has_no_claims(answer: str) -> None:
    """Signs, blanks, NULs and lone surrogates alone state nothing."""
    assert () == split_claims(answer)
