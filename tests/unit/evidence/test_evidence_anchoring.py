"""Claims move with their answer: where to, what they keep, and what never moves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.claims import split_claims
from detectors.evidence import load_evidence_detector
from detectors.evidence.anchoring import fit_anchor, moved, shifts
from detectors.evidence.answers import log_odds
from detectors.evidence.forest import Array
from schemas.claim import CheckItem
from schemas.trace import Passage

Claims = list[tuple[float, float, bool]]
"""Support, contradiction among what is not supported, and whether a conflict decides, a claim each."""
_SHARE = st.floats(0.001, 0.999)
_CLAIM = st.tuples(_SHARE, st.floats(0, 1), st.booleans())
_ANSWER = st.tuples(st.lists(_CLAIM, min_size=1, max_size=6), _SHARE)


def _move(*answers: tuple[Claims, float]) -> list[tuple[list[float], list[float]]]:
    """Support and contradiction of each answer's claims, moved together with all others."""
    rows = [claim for claims, _ in answers for claim in claims]
    is_decided = np.array([decided for *_, decided in rows])
    support = np.array([min(one, 0.3) if decided else one for one, _, decided in rows])
    contradiction = np.array([share for _, share, _ in rows]) * (1 - support)
    contradiction = np.where(is_decided, np.maximum(contradiction, 0.5), contradiction)
    sizes = [len(claims) for claims, _ in answers]
    aims = log_odds(np.array([aim for _, aim in answers]))
    by = np.repeat(shifts(support, contradiction, is_decided, sizes, aims), sizes)
    found, follows = moved(support, contradiction, is_decided, by)
    ends = np.cumsum(sizes)
    return [
        (found[end - size : end].tolist(), follows[end - size : end].tolist())
        for end, size in zip(ends, sizes, strict=True)
    ]


@given(st.lists(_SHARE, min_size=2, max_size=6), _SHARE)
def test_the_weakest_claim_stands_where_its_answer_does(support: list[float], aim: float) -> None:
    """Downwards always, upwards as far as the weakest of so many claims errs low."""
    found, _ = _move(([(one, 0.1, False) for one in support], aim))[0]
    reach = log_odds(np.array(min(support))) + np.log(max(len(support) / 3, 1))
    assert min(log_odds(np.array(aim)), reach) == pytest.approx(log_odds(np.array(min(found))), abs=1e-6)


@given(st.lists(_SHARE, min_size=1, max_size=3), _SHARE)
def test_a_short_answer_lifts_no_claim(support: list[float], aim: float) -> None:
    """A doubtful one of two or three must not pass because the rest is good."""
    found, _ = _move(([(one, 0.5, False) for one in support], aim))[0]
    assert all(after <= before + 1e-9 for before, after in zip(support, found, strict=True))


@given(_ANSWER)
def test_claims_keep_their_order(answer: tuple[Claims, float]) -> None:
    """Explanations go on pointing at the same weakest claim, also where a conflict bounds some of them."""
    claims, _ = answer
    before = [min(one, 0.3) if decided else one for one, _, decided in claims]
    after, _ = _move(answer)[0]
    for one in range(len(claims)):
        for other in range(len(claims)):
            if before[one] < before[other]:
                assert after[one] <= after[other] + 1e-9


@given(_ANSWER)
def test_what_is_contradicted_stays_so(answer: tuple[Claims, float]) -> None:
    """The bounds of a conflict hold; without one, support and contradiction of a match never exceed 1 together."""
    for (support, share, decided), found, follows in zip(answer[0], *_move(answer)[0], strict=True):
        assert 0 <= found <= 1
        assert 0 <= follows <= 1
        if share * (1 - support) >= 0.4:
            assert follows >= 0.4
            assert found <= 0.6 + 1e-9
        if decided:
            assert found <= 0.3
            assert follows >= 0.5
        else:
            assert found + follows <= 1 + 1e-9


@given(_ANSWER, st.lists(_ANSWER, max_size=3), st.lists(_ANSWER, max_size=3))
def test_other_answers_do_not_matter(
    answer: tuple[Claims, float], before: list[tuple[Claims, float]], after: list[tuple[Claims, float]]
) -> None:
    """To the last bit."""
    assert _move(*before, answer, *after)[len(before)] == _move(answer)[0]


@given(_CLAIM, _SHARE)
def test_a_claim_alone_in_its_answer_stays(claim: tuple[float, float, bool], aim: float) -> None:
    """It is its answer, so there is nothing more to know of it."""
    support, share, decided = claim
    own = min(support, 0.3) if decided else support
    contradiction = max(share * (1 - own), 0.5) if decided else share * (1 - own)
    assert ([own], [contradiction]) == _move(([claim], aim))[0]


def test_claims_without_any_support_lift_no_others() -> None:
    """Else one made-up claim would make the rest of its answer certain."""
    support = np.array([0.0, *[0.9] * 8])
    assert [0.0] == shifts(support, np.zeros(9), np.zeros(9, dtype=bool), [9], log_odds(np.array([0.5]))).tolist()


def test_the_anchor_brings_claims_to_the_share_of_supported_ones() -> None:
    """On labelled claims of answers with several; the others have no say."""
    draw = np.random.default_rng(3)
    sizes = [6] * 30 + [1] * 20
    support, answer = draw.uniform(0.3, 0.99, sum(sizes)), draw.uniform(0.2, 0.9, len(sizes))
    supported = (draw.random(sum(sizes)) < 0.6).astype(float)
    supported[::7] = np.nan
    supported[180:] = 0.0
    is_decided = np.zeros(sum(sizes), dtype=bool)
    anchor = fit_anchor(support, is_decided, sizes, answer, supported)
    none = np.zeros(sum(sizes))
    by: Array = np.repeat(shifts(support, none, is_decided, sizes, log_odds(answer) + anchor), sizes)
    found = moved(support, none, is_decided, by)[0]
    used = ~np.isnan(supported[:180])
    assert found[:180][used].mean() == pytest.approx(supported[:180][used].mean(), abs=1e-4)
    assert fit_anchor(support[180:], is_decided[180:], [1] * 20, answer[:20], supported[180:]) == 0.0


def test_an_answer_without_a_claim_has_no_score_and_nothing_moves() -> None:
    """Beside one that has claims, too."""
    passage = Passage(text="Orders can be returned within 30 days of delivery. Gift cards are not refunded.")
    answers = ("Hello!", "Orders can be returned within 30 days. Gift cards are not refunded.")
    items = [CheckItem("", (passage,), answer, split_claims(answer)) for answer in answers]
    empty, full = load_evidence_detector().judge_answers(items)
    assert empty.score is None
    assert all(one.support is None for one in empty.claims)
    assert full.score is not None
