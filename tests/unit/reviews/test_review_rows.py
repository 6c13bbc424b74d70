"""What goes out to reviewers: refs that tell nothing, and tables that no spreadsheet runs."""

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import ConfigError
from schemas.labels import Outcome, RiskTier
from schemas.review import ReviewStratum
from streams.reviews.given import given_labels
from streams.reviews.refs import ReviewRef, opened, sealed
from streams.reviews.rows import as_csv, longest_cell, review_row, safe, unsafe
from streams.store import StoredTrace
from tests.builders import FINGERPRINT, NOW, claim, claim_verdict, drawn_trace, passage, trace, verdict

SALT = b"a salt for tests that is long enough"


def ref(**fields: Any) -> ReviewRef:
    """The ref of ``t-1``."""
    defaults: dict[str, Any] = {
        "trace_id": "t-1", "ts": NOW, "revision": 1, "fingerprint": FINGERPRINT, "claims": 1,
        "stratum": ReviewStratum.FLAGGED, "probability": 0.1, "draw_probability": 0.2, "intent": "refunds",
        "tier": RiskTier.MEDIUM, "tenant": "acme",
    }  # fmt: skip
    return ReviewRef(**{**defaults, **fields})


def stored(answer: str = "It is 30 days.", **fields: Any) -> StoredTrace:
    """A trace with one verdict whose only claim is the answer."""
    judged = verdict(outcome=Outcome.HALLUCINATED, claims=(claim_verdict(claim=claim(answer)),))
    return StoredTrace(drawn=drawn_trace(trace=trace(answer=answer, **fields)), verdicts=[judged])


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40), st.floats(0.0001, 1))
def test_a_ref_is_opened_as_it_was_sealed(trace_id: str, probability: float) -> None:
    """Whatever the id is made of; the same ref has the same seal."""
    one = ref(trace_id=trace_id, probability=probability)
    assert (one, sealed(one, SALT)) == (opened(sealed(one, SALT), SALT), sealed(one, SALT))


def test_a_ref_tells_nothing_without_the_salt() -> None:
    """Neither the id nor the stratum stands in it, and refs of both strata begin differently."""
    flagged, other = sealed(ref(), SALT), sealed(ref(stratum=ReviewStratum.UNFLAGGED), SALT)
    assert [word for word in ("t-1", "flagged", FINGERPRINT) if word in flagged] == []
    assert flagged[:8] != other[:8]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda word: word[:-1],
        lambda word: word[:-4] + "AAAA",
        lambda word: "r2" + word[2:],
        lambda word: word[3:],
        lambda _: "",
        lambda _: "r1.",
        lambda _: "=1+1",
    ],
)
def test_a_ref_that_was_changed_is_refused(spoil: Any) -> None:
    """So is one of another deployment."""
    with pytest.raises(ConfigError, match="is no ref of this deployment"):
        opened(spoil(sealed(ref(), SALT)), SALT)
    with pytest.raises(ConfigError):
        opened(sealed(ref(), SALT), b"another salt")


@pytest.mark.parametrize("cell", ["=1+1", "+49 30", "-5 EUR", "@SUM(A1)", "\tx", "\rx", "\nx"])
def test_no_cell_is_a_formula(cell: str) -> None:
    """It gets an apostrophe, and loses it when it comes back."""
    row = review_row(ref(), stored(answer=cell, question=cell, passages=(passage(cell),)), SALT, is_blind=True)
    cells = [cell for line in csv.reader(io.StringIO(as_csv([row], is_blind=True))) for cell in line]
    assert [] == [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))]
    assert cell == unsafe(safe(cell))


def test_an_apostrophe_of_ones_own_stays() -> None:
    """Only ours is taken away."""
    assert "'tis so" == unsafe(safe("'tis so"))


def test_a_blinded_row_shows_nothing_of_the_verdict() -> None:
    """In neither form; an unblinded one shows labels of answer and claims."""
    blind, seen = (review_row(ref(), stored(), SALT, is_blind=is_blind) for is_blind in (True, False))
    for text in (blind.model_dump_json(), as_csv([blind], is_blind=True)):
        assert [word for word in ("hallucinated", "supported", "0.9") if word in text] == []
    assert ("hallucinated", "supported") == (seen.detector_label, seen.claims[0].detector_label)
    assert "hallucinated" in as_csv([seen], is_blind=False)


def test_a_table_has_one_row_an_answer_and_one_a_claim() -> None:
    """With question, numbered passages and empty cells to fill in."""
    row = review_row(ref(), stored(passages=(passage("One\nline."), passage("Two.", doc_id="b"))), SALT, is_blind=True)
    answer, of_claim = csv.DictReader(io.StringIO(as_csv([row], is_blind=True).removeprefix("\ufeff")))
    assert ("", "It is 30 days.", "") == (answer["claim"], answer["text"], answer["label"])
    assert "[1] refunds\nOne\nline.\n\n[2] b\nTwo." == answer["passages"]
    assert ("0", "It is 30 days.", "") == (of_claim["claim"], of_claim["text"], of_claim["passages"])
    assert longest_cell([row]) == max(len(cell) for cell in answer.values())


def test_labels_are_read_from_both_forms_and_empty_ones_passed_over() -> None:
    """A row of a table, and an object with its claims."""
    table = [
        {"ref": "r", "claim": "", "label": " grounded ", "reviewer": "ana"},
        {"ref": "r", "claim": "0", "label": ""},
    ]
    lines = [
        {"ref": "r", "label": None, "reviewer": "ana", "claims": [{"index": 0, "label": "supported"}, {"index": 1}, 7]}
    ]
    assert [("", "grounded")] == [(one.claim, one.label) for one in given_labels(enumerate(table, 2))]
    assert [("0", "supported", 1)] == [(one.claim, one.label, one.row) for one in given_labels(enumerate(lines, 1))]
