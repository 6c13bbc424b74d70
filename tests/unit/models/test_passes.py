"""Answers and contexts that a span tagger cannot read at once."""

from pathlib import Path

import pytest

from detectors.evidence.passages import index_passage
from detectors.models import ModelOptions, load_model
from detectors.models.passes import groups, parts, written
from detectors.models.premises import Context
from detectors.models.tokens import TextEncoder
from schemas.claim import CheckItem, Claim
from schemas.labels import Outcome
from tests import tiny_models
from tests.builders import passage

ANSWER = "Refunds take 5 days. The warranty covers 24 months. Shipping is free of charge."
UNRELATED = "The choir met in the old mill on Thursday evenings."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tagger with a window that one prompt fills to a half."""
    return tiny_models.tagger(tmp_path_factory.mktemp("tagger"), window=512)


@pytest.fixture(scope="module")
def encoder(folder: Path) -> TextEncoder:
    """Its tokenizer."""
    return TextEncoder(folder / "tokenizer.json", has_types=False)


def test_a_short_answer_is_read_whole(encoder: TextEncoder) -> None:
    """One pass, as published."""
    (part,) = parts(tiny_models.item(ANSWER), encoder, 1_000)

    assert ANSWER == part.text
    assert [claim.text for claim in tiny_models.item(ANSWER).claims] == [part.text[a:b] for _, a, b in part.claims]


def test_a_long_answer_is_read_in_whole_claims(encoder: TextEncoder) -> None:
    """Every claim is in one part, at its place, and none is cut."""
    item = tiny_models.item(ANSWER)

    found = parts(item, encoder, 12)

    assert len(found) > 1
    read = {number: part.text[start:end] for part in found for number, start, end in part.claims}
    assert {claim.index: claim.text for claim in item.claims} == read


def test_a_claim_that_stands_elsewhere_is_read_by_itself(encoder: TextEncoder) -> None:
    """A claim whose place in the answer does not hold it, as one that a language model wrote."""
    stray = Claim(index=0, start=3, end=9, text="The seal is broken.", subject="He says:")

    found = parts(CheckItem("?", (), ANSWER, (stray, *tiny_models.item(ANSWER).claims[1:])), encoder, 1_000)

    assert ["He says: The seal is broken.", ANSWER] == [part.text for part in found]


def test_passages_are_grouped_in_order_and_long_ones_cut(encoder: TextEncoder) -> None:
    """No group above the room, every word in one."""
    texts = ["Refunds take 5 days.", " ".join(f"days{number}" for number in range(60)), "Shipping is free."]
    indexed = [(index_passage(text), text) for text in texts]
    context = Context([passage(text) for text in texts], indexed, range(3))

    found = list(groups(context, encoder, 60, 10))

    assert len(found) > 1
    assert all(encoder.length(written("", group)) <= 60 + encoder.length(written("", [""])) for group in found)
    words = {word for text in texts for word in text.split()}
    assert words <= {word for group in found for text in group for word in text.split()}
    assert texts[0] == found[0][0]
    assert texts[2] == found[-1][-1]


def test_the_group_that_supports_best_counts(folder: Path) -> None:
    """Groups far from the evidence take nothing away: support is the highest of the groups, each read alone."""
    detector = load_model(folder, ModelOptions(window_tokens=256))
    texts = ["Refunds take 5 days after delivery. " * 8, *[f"{UNRELATED} {UNRELATED}"] * 3]
    item = tiny_models.item("Refunds take 5 days.", *texts, question="")

    ((judgement,),) = detector.judge([item])

    context = detector._premises.context(item)
    room = 256 - len(detector._model.encoder.pair(written("", [""]), item.answer).ids) - 8
    read = list(groups(context, detector._model.encoder, room, 64))
    assert len(read) > 1
    alone = [detector.judge([tiny_models.item("Refunds take 5 days.", *group, question="")])[0][0] for group in read]
    assert judgement.support == pytest.approx(max(one.support or 0.0 for one in alone), abs=1e-4)


def test_a_claim_that_leaves_no_room_is_too_long(folder: Path) -> None:
    """The others are judged; evidence is shown for them, and the words that the model doubts."""
    long = f"Refunds take {' '.join(['days'] * 500)}."
    answer = f"Refunds take 5 days. {long}"
    claims = (
        Claim(index=0, start=0, end=20, text=answer[:20]),
        Claim(index=1, start=21, end=len(answer), text=long),
    )

    (judged,) = load_model(folder).judge([CheckItem("", (passage("Refunds take 5 days."),), answer, claims)])

    assert judged[0].support is not None
    assert judged[0].evidence is not None
    assert "Refunds take 5 days." == judged[0].evidence.text
    assert judged[0].why.startswith("the model doubts")
    assert Outcome.ERROR_TOO_LONG is judged[1].error
