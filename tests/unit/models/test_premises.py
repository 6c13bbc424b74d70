"""What a claim is held against, and that nothing else changes its score."""

import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from detectors.evidence import load_weights
from detectors.models import ModelOptions, load_model
from detectors.models.own.asking import asked_claims
from detectors.models.pairs import PairDetector
from detectors.models.premises import Premises
from detectors.models.spans import SpanDetector
from detectors.models.tokens import TextEncoder
from schemas.claim import CheckItem, Claim
from schemas.labels import Outcome
from tests import tiny_models
from tests.builders import passage

EVIDENCE = "Refunds take 5 days after delivery."
CLAIM = "Refunds take 5 days."
UNRELATED = "The choir met in the old mill on Thursday evenings and sang until the lamps burned low. "


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A three-way classifier, the layout that says most."""
    return tiny_models.nli(tmp_path_factory.mktemp("nli"))


@pytest.fixture(scope="module")
def detector(folder: Path) -> PairDetector | SpanDetector:
    """With the default options."""
    return load_model(folder)


@pytest.fixture(scope="module")
def encoder(folder: Path) -> TextEncoder:
    """Its tokenizer."""
    return TextEncoder(folder / "tokenizer.json", has_types=True)


@pytest.mark.parametrize("before", [0, 3, 200])
@pytest.mark.parametrize("behind", [0, 3, 200])
def test_unrelated_text_changes_no_score(detector: PairDetector | SpanDetector, before: int, behind: int) -> None:
    """In the same passage or in others, up to four thousand tokens of it before and behind the evidence."""
    padded = UNRELATED * before + EVIDENCE + " " + UNRELATED * behind
    alone = tiny_models.item(CLAIM, EVIDENCE)

    inside, beside = detector.judge(
        [
            tiny_models.item(CLAIM, padded),
            tiny_models.item(CLAIM, *[UNRELATED] * min(before, 9), EVIDENCE, *[UNRELATED] * min(behind, 9)),
        ]
    )

    ((expected,),) = detector.judge([alone])
    assert [expected.support] == [judgement.support for judgement in beside]
    assert [expected.contradiction] == [judgement.contradiction for judgement in beside]
    neighbours = len(UNRELATED) * 2
    ((near,),) = detector.judge([tiny_models.item(CLAIM, _around(padded, neighbours))])
    assert [(near.support, near.contradiction)] == [(one.support, one.contradiction) for one in inside]
    assert [EVIDENCE] == [judgement.evidence.text for judgement in (*inside, *beside) if judgement.evidence][:1]


def test_passages_are_asked_apart_and_together(encoder: TextEncoder) -> None:
    """Each that shares a word with the claim, most telling first, then all of them in one; no unrelated one."""
    item = tiny_models.item(
        "Refunds take 5 days and the warranty covers 24 months.",
        UNRELATED,
        "The warranty covers 24 months.",
        "Refunds take 5 days.",
    )

    found = _premises(encoder, item)

    assert {"The warranty covers 24 months.", "Refunds take 5 days."} == set(found[:2])
    assert "The warranty covers 24 months. Refunds take 5 days." == found[2]
    assert 3 == len(found)


def test_a_superseded_passage_has_no_say_beside_one_in_force(encoder: TextEncoder) -> None:
    """It is asked where no passage in force shares a word with the claim."""
    old = passage("Refunds take 9 days.", superseded_by="refunds-2")
    claims = tiny_models.item(CLAIM).claims

    beside = CheckItem("?", (old, passage(EVIDENCE)), CLAIM, claims)
    alone = CheckItem("?", (old, passage(UNRELATED)), CLAIM, claims)
    only = CheckItem("?", (old,), CLAIM, claims)

    assert [EVIDENCE] == _premises(encoder, beside)
    assert ["Refunds take 9 days."] == _premises(encoder, alone)
    assert ["Refunds take 9 days."] == _premises(encoder, only)


def test_a_claim_that_shares_no_word_is_held_against_the_first_stretches(encoder: TextEncoder) -> None:
    """Another language may say the same; the model is asked, within bounds."""
    item = tiny_models.item("Erstattungen dauern fünf Tage.", *[UNRELATED] * 8)

    assert [UNRELATED] * 3 == _premises(encoder, item)


def test_the_full_context_is_read_in_windows_that_overlap(encoder: TextEncoder) -> None:
    """Every word of every passage, beside the best stretches; none is cut away."""
    words = [f"{word}{number}" for number, word in enumerate(("refunds", "days", "delivery") * 40)]
    texts = [" ".join(words[:50]), " ".join(words[50:])]
    options = ModelOptions(evidence_tokens=64, overlap_tokens=20, full_context=True)

    item = tiny_models.item(CLAIM, *texts)

    best = _premises(encoder, item, replace(options, full_context=False))
    windows = _premises(encoder, item, options)[len(best) :]

    assert len(windows) > 2
    assert set(words) == {word for window in windows for word in window.split()} & set(words)
    for left, right in pairwise(windows):
        assert right.split()[1] in left.split()


def test_no_window_is_longer_than_its_room(encoder: TextEncoder, dice: random.Random) -> None:
    """Of any text, in any room; what neighbours share is what was asked for."""
    for _ in range(50):
        drawn = dice.choices(
            ["refunds", "takes", "abcdefghijklmnopqrstuvwxyz", "délai", "退款需要"], k=dice.randint(1, 200)
        )
        text = " ".join(f"{number}{word}" for number, word in enumerate(drawn))
        room, overlap = dice.randint(8, 64), dice.randint(0, 7)

        windows = encoder.windows(text, room, overlap)

        assert all(encoder.length(window) <= room for window in windows)
        reached = 0
        for window in windows:
            at = text.rindex(window, 0, reached + len(window) + 1)
            assert not text[reached:at].strip()
            reached = at + len(window)
        assert len(text) == reached


def test_a_claim_that_leaves_no_room_is_too_long(detector: PairDetector | SpanDetector) -> None:
    """It is never cut; its neighbour is judged all the same."""
    long = f"Refunds take {' '.join(['days'] * 300)}."
    answer = f"{CLAIM} {long}"
    claims = (
        Claim(index=0, start=0, end=len(CLAIM), text=CLAIM),
        Claim(index=1, start=len(CLAIM) + 1, end=len(answer), text=long),
    )

    (judged,) = detector.judge([CheckItem("?", (passage(EVIDENCE),), answer, claims)])

    assert judged[0].support is not None
    assert Outcome.ERROR_TOO_LONG is judged[1].error


def test_a_long_claim_gets_shorter_evidence(detector: PairDetector | SpanDetector) -> None:
    """Where it fits with little room left, it is judged on what fits, in as many stretches as that takes."""
    claim = f"Refunds take {' '.join(['days'] * 80)}."
    item = tiny_models.item(claim, " ".join([EVIDENCE[:-1]] * 12) + ".")

    ((judgement,),) = detector.judge([item])

    assert judgement.support is not None


def _premises(encoder: TextEncoder, item: CheckItem, options: ModelOptions | None = None) -> list[str]:
    chosen = options or ModelOptions()
    premises = Premises(encoder, load_weights().terms, chosen)
    (claim,) = [claim for claim in asked_claims(item) if claim is not None]
    return [premise.text for premise in premises.of(claim, premises.context(item), chosen.evidence_tokens)]


def _around(text: str, characters: int) -> str:
    """``text`` around the evidence, cut at sentences: what may stand beside it."""
    at = text.index(EVIDENCE)
    return text[max(0, at - characters) : at + len(EVIDENCE) + 1 + characters]
