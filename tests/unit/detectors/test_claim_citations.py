"""Which brackets are citations."""

import pytest

from detectors.claims.citations import bracketed_tokens, find_citations, strip_citations

CERTAIN = [
    ("As said [1].", ("1",)),
    ("As said [1, 3-5] and [^2].", ("1", "3", "4", "5", "2")),
    ("As said [1][2][1].", ("1", "2")),
    ("As said [kb-12] and [refunds#3].", ("kb-12", "refunds#3")),
    ("As said [kb-12, p. 3].", ("kb-12",)),
    ("As said [Source 3] and (source: kb-7).", ("3", "kb-7")),
    ("As said (Passages 1 and 2).", ("1", "2")),
    ("As said 【4†source】.", ("4",)),
    ("As said (doc-12).", ("doc-12",)),
    ("As said [2](https://example.com).", ("2",)),
]


@pytest.mark.parametrize(("text", "expected"), CERTAIN)
def test_certain_citations_are_found(text: str, expected: tuple[str, ...]) -> None:
    """Ids come in order, once, without brackets."""
    assert expected == find_citations(text)


NOT_CITATIONS = [
    "It was [sic] in (2019) and [2019].",
    "Ask [Your Name] at [EMAIL_1] or [REDACTED].",
    "See [the form](https://example.com/form-1).",
    "Well-known (well-known) facts (GPT-4) [optional] [and/or] [N/A] [e.g.].",
    "A list [ ] [x] of (1) things [1-900].",
    "Open [[brackets and [",
]


@pytest.mark.parametrize("text", NOT_CITATIONS)
def test_other_brackets_are_not_citations(text: str) -> None:
    """Years, placeholders, links and asides cite nothing."""
    assert () == find_citations(text)


def test_citations_can_be_taken_out_of_a_text() -> None:
    """What remains is the statement."""
    assert "A  and B ." == strip_citations("A [1] and B [kb-2].")


def test_bracketed_tokens_give_everything_that_a_known_id_could_match() -> None:
    """Words without digits may be ids too."""
    assert ("Refund policy", "terms", "2019") == bracketed_tokens("See [Refund policy], (terms; 2019) and [x](y).")[:3]
