"""Answers and contexts that a span tagger cannot read at once."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from detectors.evidence.passages import index_passage
from detectors.models import ModelOptions, load_model
from detectors.models.batching import Encoded
from detectors.models.engine import Array, Engine, Forward
from detectors.models.passes import groups, parts, written
from detectors.models.premises import Context
from detectors.models.spans import SpanDetector
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


def test_a_claim_that_joins_two_groups_is_read_with_both(folder: Path) -> None:
    """By a tagger that doubts numbers which its context lacks: neither group supports both halves, together they do."""
    loaded = load_model(folder, ModelOptions(window_tokens=256))
    assert isinstance(loaded, SpanDetector)
    model = replace(loaded._model, engine=Engine(_doubting_numbers(loaded._model.encoder), 512, 10_000, 512))
    detector = SpanDetector(model, loaded._premises, loaded._options)
    texts = ["Refunds take 5 days.", f"{UNRELATED} " * 4, "The warranty covers 24 months."]
    joining, wrong = "Refunds take 5 days and the warranty covers 24 months.", "Refunds take 9 days."

    (judged,) = detector.judge([tiny_models.item(f"{joining} {wrong}", *texts, question="")])
    (halved,) = detector.judge([tiny_models.item(joining, *texts[:2], question="")])

    assert [pytest.approx(0.9), pytest.approx(0.1)] == [one.support for one in judged]
    assert [pytest.approx(0.1)] == [one.support for one in halved]
    assert ["the model doubts no word of it", "the model doubts: 9"] == [one.why for one in judged]


def _doubting_numbers(encoder: TextEncoder) -> Forward:
    """0.9 for a number in the second text that the first does not hold, 0.1 for all else."""
    end = encoder.one("").ids[-1]
    numbers = {encoded for text in ("5", " 24", "9") for encoded in encoder.one(text).ids[1:-1]}

    def doubts(encoded: Encoded, length: int) -> Array:
        parted = encoded.ids.index(end)
        missing = numbers - set(encoded.ids[:parted])
        wrong = [0.9 if at > parted and one in missing else 0.1 for at, one in enumerate(encoded.ids)]
        padded = np.array(wrong + [0.1] * (length - len(wrong)), dtype=np.float32)
        return np.stack([1 - padded, padded], axis=1)

    return lambda inputs, length, _rows: [doubts(encoded, length) for encoded in inputs]


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
