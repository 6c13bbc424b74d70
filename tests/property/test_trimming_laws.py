"""Laws of trimming, whatever the answer looks like and whichever claims are bad."""

from hypothesis import given
from hypothesis import strategies as st

from detectors.claims import split_claims
from detectors.trimming import without_bad_claims
from schemas.labels import ClaimLabel
from schemas.verdict import ClaimVerdict
from tests.builders import claim_verdict

pieces = st.sampled_from(
    [
        "The fee is 5 EUR.",
        "(Taxes are 7 EUR.)",
        "**Tolls are 9 EUR.",
        "So are lamps.**",
        "料金は5ユーロです。",
        "[1]",
        " ",
        "\n",
        "\n\n",
        "- ",
        "1. ",
        "> ",
        "# Fees\n",
        "Fees:\n",
        "| a | 5 EUR |\n",
        "|---|---|\n",
        "```\n",
        "“Rents are 3 EUR.”",
        "\r\n",
    ]
)
answers = st.lists(pieces, max_size=30).map("".join) | st.text(max_size=80)


def judged(answer: str, data: st.DataObject) -> list[ClaimVerdict]:
    """The claims of an answer with labels drawn for them."""
    labels = st.sampled_from([ClaimLabel.SUPPORTED, ClaimLabel.UNSUPPORTED, ClaimLabel.CONTRADICTED])
    return [
        claim_verdict(data.draw(labels) if claim.is_factual else ClaimLabel.NOT_FACTUAL, claim=claim)
        for claim in split_claims(answer)
    ]


def is_part_in_order(part: str, whole: str) -> bool:
    """Whether deleting signs of ``whole`` can give ``part``."""
    signs = iter(whole)
    return all(sign in signs for sign in part)


@given(answers, st.data())
def test_trimming_only_deletes_and_keeps_every_claim_that_is_not_bad(answer: str, data: st.DataObject) -> None:
    """The rest is the product's own text, in its order, with each good claim whole."""
    claims = judged(answer, data)
    left = without_bad_claims(claims, answer)
    assert is_part_in_order("".join(left.split()), answer)
    position = 0
    for claim in (item.claim for item in claims if item.label is ClaimLabel.SUPPORTED):
        position = left.find(claim.text, position)
        assert position >= 0, claim.text
        position += len(claim.text)


@given(answers, st.data())
def test_trimming_leaves_no_letter_of_a_bad_claim(answer: str, data: st.DataObject) -> None:
    """Letters and digits that remain are those of the other claims, and of nothing else but headings and markers."""
    claims = judged(answer, data)
    bad = [item.claim for item in claims if item.label in {ClaimLabel.UNSUPPORTED, ClaimLabel.CONTRADICTED}]
    left = without_bad_claims(claims, answer)
    removed = sum(char.isalnum() for char in answer) - sum(char.isalnum() for char in left)
    assert removed >= sum(char.isalnum() for claim in bad for char in claim.text)


@given(answers)
def test_an_answer_of_bad_claims_alone_leaves_nothing_stated(answer: str) -> None:
    """Cutting everything that was stated leaves no factual claim."""
    claims = [
        claim_verdict(ClaimLabel.UNSUPPORTED if claim.is_factual else ClaimLabel.NOT_FACTUAL, claim=claim)
        for claim in split_claims(answer)
    ]
    bad = {item.claim.text for item in claims if item.label is ClaimLabel.UNSUPPORTED}
    bad -= {item.claim.text for item in claims if item.label is ClaimLabel.NOT_FACTUAL}
    left = without_bad_claims(claims, answer)
    assert not bad & {claim.text for claim in split_claims(left) if claim.is_factual}
