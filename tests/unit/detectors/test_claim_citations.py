"""Which brackets, raised numbers and marks are citations."""

import pytest

from detectors.claims.citations import bracketed_tokens, find_citations, strip_citations

CERTAIN = [
    ("As said [1].", ("1",)),
    ("As said [1, 3-5] and [^2].", ("1", "3", "4", "5", "2")),
    ("As said [1][2][1].", ("1", "2")),
    ("As said [[1]].", ("1",)),
    ("As said [01].", ("1",)),
    ("As said [kb-12] and [refunds#3].", ("kb-12", "refunds#3")),
    ("As said [kb-12, p. 3].", ("kb-12",)),
    ("As said [handbook_v3.pdf] and [doc12].", ("handbook_v3.pdf", "doc12")),
    ("As said [9f86d081-884c-4d63-a8b1-0f5c2e7d3a11].", ("9f86d081-884c-4d63-a8b1-0f5c2e7d3a11",)),
    ("As said [Source 3] and (source: kb-7).", ("3", "kb-7")),
    ("As said [source:terms] and [source: 2].", ("terms", "2")),
    ("As said [Document 2: Returns policy].", ("2",)),
    ("As said [Doc 1, Doc 2].", ("1", "2")),
    ("As said (Passages 1 and 2).", ("1", "2")),
    ("As said 【4†source】 and 【4:0†source】 and 【5†L10-L20】.", ("4", "4:0", "5")),
    ("As said (doc-12).", ("doc-12",)),
    ("As said [2](https://example.com).", ("2",)),
    ("Wie gesagt (Quelle 2) und [Dokument 3].", ("2", "3")),
    ("如上所述［2］。", ("2",)),
    ("Within 30 days.¹ ² It is free³", ("1", "2", "3")),
    ("Within 30 days<sup>2</sup> and<sup>1, 3</sup>.", ("2",)),
    ("三十天内退款¹。", ("1",)),
    ("`[1]` is meant so.", ("1",)),
]


@pytest.mark.parametrize(("text", "expected"), CERTAIN)
def test_certain_citations_are_found(text: str, expected: tuple[str, ...]) -> None:
    """Ids come in order, once, without brackets."""
    assert expected == find_citations(text)


NOT_CITATIONS = [
    "It was [sic] in (2019) and [2019].",
    "Ask [Your Name] at [EMAIL_1] or [REDACTED] about [order-number-1].",
    "See [the form](https://example.com/form-1).",
    "Well-known (well-known) facts (GPT-4) [optional] [and/or] [N/A] [e.g.].",
    "A list [ ] [x] of (1) things [1-900].",
    "Open [[brackets and [",
    "The [COVID-19] pandemic, [pre-tax] income, a [24-hour] hotline at [12:30].",
    "Set items[2] = 5; and rows[1].append(x); and grid[1][2] == 3.",
    "Call `f(x)[1]` or `list[2]` here.",
    "A share in [0, 1], a mark in the range [1, 5], an x ∈ [2, 10].",
    "See Table [2] and Figure [3].",
    "An area of 20 m², 7 м², 5 feet², 10², x², and E=mc², km<sup>2</sup>, 10<sup>6</sup>.",
    "Footnote signs ² alone and a^2.",
]


@pytest.mark.parametrize("text", NOT_CITATIONS)
def test_other_brackets_are_not_citations(text: str) -> None:
    """Years, placeholders, links, asides, code, intervals, labels and exponents cite nothing."""
    assert () == find_citations(text)


def test_citations_can_be_taken_out_of_a_text() -> None:
    """What remains is the statement."""
    assert "A  and B ." == strip_citations("A [1] and B [kb-2].")
    assert "Within 30 days." == strip_citations("Within 30 days.¹")


def test_bracketed_tokens_give_everything_that_a_known_id_could_match() -> None:
    """Words without digits may be ids too."""
    assert ("Refund policy", "terms", "2019") == bracketed_tokens("See [Refund policy], (terms; 2019) and [x](y).")[:3]
