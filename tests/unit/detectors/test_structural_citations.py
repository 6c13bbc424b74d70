"""Which passages an answer cites, and which of its citations name nothing that the model was given."""

from typing import Any

import pytest

from detectors.claims import split_claims
from detectors.claims.citations import find_citations
from detectors.structural import context_passages
from detectors.structural.citations import Citations, add_known_citations, citation_findings, resolve_citations
from schemas.finding import MAX_DETAIL_CHARS, Finding, StructuralRule
from schemas.trace import Passage, ToolCall
from tests.builders import claim, passage, trace

KB = (passage(doc_id="kb-12"), passage(doc_id="kb-7"), passage(doc_id="terms"))
WORDS = (passage(doc_id="returns"), passage(doc_id="shipping"))
TITLES = (passage(doc_id="returns-policy"), passage(doc_id="shipping_terms.md"), passage(doc_id="faq"))
PAGES = (
    passage(doc_id="https://www.shop.example/help/returns"),
    passage(doc_id="h-2", text="Ask at https://shop.example/contact or help@mail.example."),
)


def resolved(answer: str, passages: tuple[Passage, ...] = KB) -> Citations:
    """The citations of an answer to these passages."""
    return resolve_citations(split_claims(answer), passages, answer)


def found(answer: str, passages: tuple[Passage, ...] | None = KB, **fields: Any) -> list[Finding]:
    """The findings on the citations of an answer."""
    seen = trace(answer=answer, passages=passages, **fields)
    claims = split_claims(answer)
    return citation_findings(seen, claims, resolve_citations(claims, context_passages(seen), answer))


CITED = [
    ("It is free [2].", KB, {1}),
    ("It is free [source:terms].", KB, {2}),
    ("It is free (doc-3).", KB, {2}),
    ("It is free.¹ It is fast.²", KB, {0, 1}),
    ("It is free 【2†source】.", KB, {1}),
    ("It is free 【2:0†source】.", KB, {0}),
    ("It is free [returns].", WORDS, {0}),
    ("It is free (Shipping).", WORDS, {1}),
    ("It is free, according to kb-7.", KB, {1}),
    ("Laut Dokument kb-7 ist es frei.", KB, {1}),
    ("根据kb-7，免费。", KB, {1}),
    ("According to passage 2, it is free.", KB, {1}),
    ("The second passage says that it is free.", KB, {1}),
    ("The tenth passage through the strait was free.", KB, set()),
    ("It is free. See [the terms](terms) for more.", KB, {2}),
    ("It is free <a href='#kb-7'>here</a>.", KB, {1}),
    ("It is free (https://shop.example/help/returns/).", PAGES, {0}),
    ("It is [free](https://shop.example/help/returns?utm=1).", PAGES, {0}),
    ("It is free: https://docs.example/kb/kb-7.html", KB, {1}),
    ("It is free [1].\n\nSources: [1] Terms, [2] kb-7", KB, {2, 1}),
    ("It is free [^a].\n\n[^a]: Return policy", TITLES, {0}),
    ("It is free [the page][1].\n\n[1]: https://shop.example/help/returns", PAGES, {0}),
    ("It is free [2].\n\n[1] kb-12\n[2] terms", KB, {0, 2}),
    ("It is free.\n\nSources:\n- Shipping terms\n- Returns policy (2024)", TITLES, {0, 1}),
    ("It is free.\n\nReferences:\n1. faq", TITLES, {2}),
    ("It is free [1].\n\nReferences:\n1. The handbook", KB, {0}),
    ("The iphone-15 of kb-7 is free.", KB, set()),
    ("Terms and returns are free.", (*WORDS, *KB), set()),
    ("It is free [sic] (2019).", KB, set()),
]


@pytest.mark.parametrize(("answer", "passages", "expected"), CITED)
def test_each_style_names_its_passages(answer: str, passages: tuple[Passage, ...], expected: set[int]) -> None:
    """By number, id, word, footnote, link, list; what a footnote says goes before what its number would mean."""
    assert expected == {number for positions in resolved(answer, passages).by_claim for number in positions}
    assert () == resolved(answer, passages).unknown


def test_a_line_of_citations_belongs_to_the_claim_before_it() -> None:
    """So does a citation after the full stop."""
    assert ((0,), ()) == resolved("It is free for all.\n[1]").by_claim
    assert ((0,), (1,)) == resolved("It is free. [1] It is fast. [2]").by_claim


UNKNOWN = [
    ("It is free [4].", KB, ["4"]),
    ("It is free [doc-9].", KB, ["doc-9"]),
    ("It is free [kb-99] (kb-98).", KB, ["kb-99", "kb-98"]),
    ("It is free [warranty].", WORDS, ["warranty"]),
    ("It is free [refund-rules].", (passage(doc_id="returns-policy"),), ["refund-rules"]),
    ("It is free, according to kb-99.", KB, ["kb-99"]),
    ("It is free (passage 4).", KB, ["4"]),
    ("It is free [^7].", KB, ["7"]),
    ("It is free [2] or not [404].", KB, ["404"]),
    ("It is free [1].", (), ["1"]),
    ("It shows the error [404].", KB, []),
    ("It is [warranty] free.", WORDS, []),
    ("It is free [sic].", WORDS, []),
    ("It is free [warranty].", KB, []),
    ("It is free [0].", KB, []),
    ("It is free [COVID-19].", KB, []),
    ("It is free (GPT-4).", KB, []),
    ("It is free [12].", (passage("Fees: it is free [12]. Nothing else."),), []),
    ("It is free [doc-99].", (passage("See doc-99 for fees."),), []),
    ("It is free [warranty].", (passage("The warranty is free.", doc_id="terms"),), ["warranty"]),
    ("It is free [warranty].", (passage("See [warranty] too.", doc_id="terms"),), []),
    ("It is free [REQUEST_1].", KB, []),
]


@pytest.mark.parametrize(("answer", "passages", "expected"), UNKNOWN)
def test_unknown_is_what_no_passage_has_and_no_text_shows(
    answer: str, passages: tuple[Passage, ...], expected: list[str]
) -> None:
    """Ids of another kind, editors' marks, error codes and what was copied from a passage are left alone."""
    findings = found(answer, passages)

    assert expected == [finding.detail for finding in findings]
    assert all(finding.rule is StructuralRule.CITATION_UNKNOWN for finding in findings)


LINKS = [
    ("See https://shop.example/help/refunds.", ["shop.example/help/refunds"]),
    ("See [our page](http://other.example/x).", ["other.example/x"]),
    ("It is free [1].\n\n[1]: https://other.example/y", ["other.example/y"]),
    ("See https://shop.example/contact/ or https://shop.example.", []),
    ("See https://mail.example.", []),
    ("See https://shop.example/help.", []),
    ("Write to help@other.example.", []),
    ("Run it at http://localhost:8642.", []),
    ("See https://asked.example/x.", []),
    ("See https://tool.example/x.", []),
]


@pytest.mark.parametrize(("answer", "expected"), LINKS)
def test_an_address_is_known_from_passages_question_or_tools(answer: str, expected: list[str]) -> None:
    """A page above a known one, and the bare site of a known page or mail address, are known too."""
    findings = found(
        answer,
        PAGES,
        question="What does https://asked.example/x say?",
        tool_calls=(ToolCall(name="t", output='{"url": "https://tool.example/x"}'),),
    )

    assert expected == [one.detail for one in findings if one.rule is StructuralRule.CITATION_URL_UNKNOWN]
    assert not any(one.rule is StructuralRule.CITATION_UNKNOWN for one in findings)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It is free. It is fast.\n\nSources: [1] Returns, [2] Terms", True),
        ("It is free.\n\nQuellen:\n- kb-7", True),
        ("It is free.\n\nSource: https://shop.example/x", True),
        ("It is free [1]. It is fast.\n\nSources: [1] Returns", False),
        ("It is free (https://x.example/y).\n\nSources: [1]", False),
        ("It is free.¹\n\n¹ Returns", False),
        ("Passage 1 says:\n- It is free for all.\n- It is fast for all.", False),
        ("I don't know.\n\nSources: [1]", False),
        ("It is free.", False),
    ],
)
def test_far_are_sources_that_stand_in_a_list_only(answer: str, expected: bool) -> None:
    """Such an answer cites, but no claim says what it rests on."""
    rules = [finding.rule for finding in found(answer)]

    assert expected == (StructuralRule.CITATION_FAR in rules)


def test_a_list_of_sources_is_enough_where_citations_are_required() -> None:
    """Even when its entries match no id: titles are often all that an answer shows."""
    answer = "It is free.\n\nSources:\n- The big handbook"
    claims = split_claims(answer)

    listed = resolve_citations(claims, KB, answer)
    assert StructuralRule.CITATION_MISSING not in [
        one.rule for one in citation_findings(trace(answer=answer), claims, listed, are_required=True)
    ]
    bare = resolve_citations(claims[:1], KB, "It is free.")
    assert [Finding(rule=StructuralRule.CITATION_MISSING)] == citation_findings(
        trace(answer="It is free."), claims[:1], bare, are_required=True
    )


def test_nothing_is_unknown_when_the_prompt_is_all_that_is_shown() -> None:
    """Numbers may mean anything in it; an id that it does not hold is still unknown."""
    fields: dict[str, Any] = {"packed_prompt": "[7] kb-5: It is free."}

    assert [] == found("It is free [7] [kb-5].", None, **fields)
    assert ["kb-6"] == [one.detail for one in found("It is free [kb-6].", None, **fields)]
    assert [] == found("It is free [7].", None)


def test_findings_name_the_claim_and_keep_their_detail_short() -> None:
    """The second claim cites what is not there."""
    findings = found("It is free. It is fast [9]. See https://x.example/" + "a" * 400)

    assert [(1, "9"), (2, ("x.example/" + "a" * 400)[:MAX_DETAIL_CHARS])] == [
        (one.claim, one.detail) for one in findings
    ]


def test_known_ids_in_brackets_become_citations_of_their_claim() -> None:
    """So that detectors do not take them for words of the claim."""
    claims = (claim("It is free [terms] (kb-7) [kb-99] [sic]."),)

    assert ("terms", "kb-7") == add_known_citations(claims, KB)[0].citations
    assert claims == add_known_citations(claims, WORDS)


def test_known_addresses_become_citations_too() -> None:
    """As written; those of nobody stay words of the claim."""
    own, other = "https://Shop.example/help/returns/", "https://other.example/x"
    answer = f"It is free ({own}), see {other}."
    (named,) = add_known_citations((claim(answer),), PAGES)

    assert (own,) == named.citations
    again = resolve_citations((named,), PAGES, answer)
    assert (((0,),), ()) == (again.by_claim, again.unknown)
    assert ["other.example/x"] == [link.identifier for link in again.links]


def test_ten_thousand_citations_of_ten_thousand_passages_are_matched() -> None:
    """Ids, numbers and addresses are looked up; every pair would run into the time limit of a test."""
    count = 10_000
    answer = " ".join(f"Item {n} is free [doc-{n}] [kb-{n}] (https://x.example/{n})." for n in range(count))
    passages = tuple(passage(doc_id=f"doc-{n}", rank=n) for n in range(count))
    claims = split_claims(answer)

    citations = resolve_citations(claims, passages, answer)
    findings = citation_findings(trace(answer=answer, passages=passages), claims, citations)

    assert [(0,), (count - 1,)] == [citations.by_claim[0], citations.by_claim[-1]]
    assert 2 * count == len(findings)


ADVERSARIAL = ["[", "(", "[1](", "](", "[1]", "<sup>1,", "a¹", "`[1]", "https://a.b/", "www.a", "a.b@c.", "a-", "1-"]
ADVERSARIAL += ["Sources:\n", "[1]: x\n", "> ", "- ", "source 1, ", "according to ", "【1†", "a_b-1", "\u3042", "href="]


@pytest.mark.parametrize("seed", ADVERSARIAL)
def test_no_text_makes_the_patterns_slow(seed: str) -> None:
    """A quarter of a million signs of one kind: a quadratic pattern would run into the time limit of a test."""
    text = seed * (250_000 // len(seed))

    one = claim(text, citations=find_citations(text))
    assert resolve_citations((one,), KB, text) is not None
