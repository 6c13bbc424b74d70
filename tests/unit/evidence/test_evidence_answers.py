"""The score of a whole answer: what it adds up, and what must never change it."""

from random import Random

import numpy as np
import pytest

from detectors.claims import split_claims
from detectors.evidence import load_evidence_detector, load_weights
from detectors.evidence.answers import ANSWER_FEATURES, answer_features
from detectors.evidence.features import FEATURES, NOTHING, WHOLE
from schemas.claim import CheckItem
from schemas.trace import Passage

_TEXT = (
    "Orders can be returned within 30 days of delivery. The Northgate warehouse checks every parcel that comes in. "
    "Gift cards are not refunded. Customers in Norway pay a customs fee of 12 percent."
)
_FILLER = "the choir met in the old mill on evenings and sang until the lamps burned low. "
_COLUMNS = (*FEATURES, *WHOLE)


def _item(answer: str, *texts: str) -> CheckItem:
    return CheckItem("How do returns work?", tuple(Passage(text=text) for text in texts), answer, split_claims(answer))


def _score(answer: str, *texts: str) -> float | None:
    return load_evidence_detector().judge_answers([_item(answer, *texts)])[0].score


def _row(**values: float) -> list[float]:
    return [values.get(name, 0.0) for name in _COLUMNS]


def test_claims_add_up_to_their_answer() -> None:
    """The weakest and the next, shares over all claims, and the chance that none is wrong."""
    rows = np.array(
        [
            _row(names=2, names_missing=1, weighted_length=3, union_coverage=1, capitals=2, capitals_absent=1),
            _row(names=2, names_missing=0, weighted_length=1, union_coverage=0),
            _row(weighted_length=2, union_coverage=0.5),
        ]
    )
    first, second = answer_features(rows, np.array([0.9, 0.5, 0.8]), [2, 1])
    found = dict(zip(ANSWER_FEATURES, first, strict=True))
    assert [0.0, np.log(9)] == pytest.approx([found["weakest"], found["second_weakest"]])
    assert [0.25, 0.75, 0.5] == pytest.approx(
        [found[name] for name in ("names_missing_share", "union_coverage", "capitals_absent_share")]
    )
    assert np.log(0.45 / 0.55) == pytest.approx(found["all_supported"])
    alone = dict(zip(ANSWER_FEATURES, second, strict=True))
    assert alone["weakest"] == alone["second_weakest"] == alone["mean"] == pytest.approx(np.log(4))


def test_extreme_claims_give_finite_features() -> None:
    """Certain claims, claims without evidence, and very many of them."""
    support = np.array([0.0, 1.0, 1.0, *[0.999] * 5_000])
    rows = np.array([NOTHING] * len(support))
    assert np.isfinite(answer_features(rows, support, [1, 2, 5_000])).all()


def test_an_answer_scores_the_same_beside_any_others() -> None:
    """Bits do not depend on how many answers are scored together."""
    draw = np.random.default_rng(5)
    sizes = [1, 4, 2, 9, 1]
    rows, support = draw.random((sum(sizes), len(_COLUMNS))), draw.random(sum(sizes))
    weights, ends = load_weights(), np.cumsum(sizes)
    together = weights.score_answers(rows, support, sizes).tolist()
    alone = [
        float(weights.score_answers(rows[end - size : end], support[end - size : end], [size])[0])
        for end, size in zip(ends, sizes, strict=True)
    ]
    assert together == alone


def test_alone_is_the_same_as_in_a_batch() -> None:
    """Claims and score; an answer without a factual claim has none."""
    detector = load_evidence_detector()
    items = [
        _item("Orders can be returned within 30 days. Gift cards are refunded.", _TEXT),
        _item("Hello!", _TEXT),
        _item("The fee is 12 percent.", _TEXT, _FILLER),
        _item("Nothing to see here at all.", ""),
    ]
    Random(3).shuffle(items)
    judged = detector.judge_answers(items)
    assert [detector.judge_answers([item])[0] for item in items] == judged
    assert detector.judge(items) == [answer.claims for answer in judged]
    assert [item.answer == "Hello!" for item in items] == [answer.score is None for answer in judged]


@pytest.mark.parametrize("place", [0, 1])
def test_padding_changes_no_score(place: int) -> None:
    """Unrelated text before or after the evidence, without the names and figures of the answer."""
    texts = [_TEXT, _TEXT]
    texts[place] = _FILLER * 100
    answer = "Orders can be returned within 60 days of delivery. The Eastbrook warehouse checks every parcel."
    assert _score(answer, _TEXT) == _score(answer, *texts)


def test_a_wrong_claim_lowers_the_score() -> None:
    """One more claim that the passages do not hold is enough."""
    good = "Orders can be returned within 30 days of delivery. Gift cards are not refunded."
    bad = f"{good} The warehouse was painted by Maria Olsen in 1987."
    assert (_score(bad, _TEXT) or 0) < (_score(good, _TEXT) or 0)
