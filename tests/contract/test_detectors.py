"""What every detector promises, real or fake."""

import copy
from collections.abc import Callable
from pathlib import Path

import pytest

from detectors.claims import split_claims
from detectors.detector import Detector
from detectors.evidence import load_evidence_detector
from detectors.models import ModelOptions, load_model
from detectors.models.own import load_own
from detectors.models.stacking import load_stacked
from schemas.claim import CheckItem, Claim
from schemas.trace import Passage
from schemas.verdict import ClaimJudgement
from tests import tiny_models
from tests.builders import passage
from tests.fakes_detectors import WordDetector

MAKERS: dict[str, Callable[[Path], Detector]] = {
    "words": lambda _: WordDetector(),
    "evidence": lambda _: load_evidence_detector(),
    "pair_scorer": lambda folder: load_model(tiny_models.hhem(folder)),
    "nli": lambda folder: load_model(tiny_models.nli(folder)),
    "nli_full_context": lambda folder: load_model(tiny_models.nli(folder), ModelOptions(full_context=True)),
    "crossencoder": lambda _: load_own(ModelOptions(threads=1)),
    "stacked": lambda _: load_stacked(load_evidence_detector(), ModelOptions(threads=1)),
    "span_tagger": lambda folder: load_model(tiny_models.tagger(folder, window=512)),
}
"""Each detector by name, from an empty folder of its own."""


@pytest.fixture(scope="module", params=MAKERS)
def detector(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Detector:
    """Each detector in turn."""
    return MAKERS[request.param](tmp_path_factory.mktemp("detector"))


def item(answer: str, *texts: str, question: str = "How long do refunds take?") -> CheckItem:
    """An item with the claims of ``answer`` and a passage per text."""
    return CheckItem(question, tuple(passage(text) for text in texts), answer, split_claims(answer))


LONG = "Refunds take 5 days after delivery, " * 6_000
ITEMS = [
    item("Refunds take 5 days. Hello! Shipping costs $9.", "Refunds take 5 days.", "Shipping is free of charge."),
    item("Refunds take 30 days.", "A refund is possible within 30 days of delivery."),
    item("Refunds take 30 days."),
    item("Refunds take 30 days.", "", " ", "\x00"),
    item("Rückzahlung dauert 5 Tage. 退款需要5天。 यह पाँच दिन लेता है।", "退款需要5天。", "Es dauert 5 Tage."),
    item("Text with \ud83d and \x00 in it.", "Text with \ud83d and \x00 in it.", question="\ud83d"),
    item("Hello! Can I help you?", "Some text."),
    item("", "Some text."),
]


@pytest.mark.parametrize("number", range(len(ITEMS)))
def test_one_judgement_per_claim(detector: Detector, number: int) -> None:
    """Factual claims have a support or an error, never both; the others have neither."""
    (judged,) = detector.judge([ITEMS[number]])

    assert len(ITEMS[number].claims) == len(judged)
    for claim, judgement in zip(ITEMS[number].claims, judged, strict=True):
        assert claim.is_factual == (judgement != ClaimJudgement())
        assert not claim.is_factual or (judgement.support is None) == (judgement.error is not None)


def test_no_items_give_no_judgements(detector: Detector) -> None:
    """An empty batch is answered with an empty list."""
    assert [] == detector.judge([])


def test_the_input_is_not_changed(detector: Detector) -> None:
    """Items are read only."""
    before = copy.deepcopy(ITEMS)

    detector.judge(ITEMS)

    assert before == ITEMS


def test_the_same_input_gives_the_same_answer(detector: Detector) -> None:
    """Nothing is remembered between calls, and nothing is left to chance."""
    assert detector.judge(ITEMS) == detector.judge(ITEMS)


def test_alone_is_as_in_a_batch_in_any_order(detector: Detector) -> None:
    """Batch mates do not matter."""
    alone = [detector.judge([single])[0] for single in ITEMS]

    assert alone == detector.judge(ITEMS)
    assert alone[::-1] == detector.judge(ITEMS[::-1])


def test_over_long_input_is_judged_or_named_an_error(detector: Detector) -> None:
    """A claim and a passage of 200 KB give one judgement each, without an exception."""
    long_claim = Claim(index=0, start=0, end=len(LONG), text=LONG)
    items = [
        CheckItem("?", (passage("Refunds take 5 days."),), LONG, (long_claim,)),
        item("Refunds take 5 days.", LONG),
    ]

    judged = detector.judge(items)

    assert [1, 1] == [len(judgements) for judgements in judged]
    assert all(judgement.support is not None or judgement.error is not None for (judgement,) in judged)


def test_evidence_points_into_its_passage(detector: Detector) -> None:
    """Where a span is given, it is a span of that passage."""
    for single, judged in zip(ITEMS, detector.judge(ITEMS), strict=True):
        for evidence in (judgement.evidence for judgement in judged if judgement.evidence):
            source: Passage = single.passages[evidence.passage]
            assert source.text[evidence.start : evidence.end] == evidence.text


def test_a_detector_names_itself_and_its_version(detector: Detector) -> None:
    """Both are short, and stay the same."""
    assert 0 < len(detector.name) <= 40
    assert 0 < len(detector.fingerprint) <= 200
    assert (detector.name, detector.fingerprint) == (detector.name, detector.fingerprint)
