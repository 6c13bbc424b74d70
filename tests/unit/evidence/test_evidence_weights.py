"""The committed weights: loadable, small, and with a record of where they come from."""

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from detectors.evidence.answers import sigmoid
from detectors.evidence.features import FEATURES
from detectors.evidence.weights import dump_weights, load_weights
from schemas.errors import ConfigError

_PATH = Path(str(files("detectors.evidence").joinpath("weights.json")))


def test_the_shipped_weights_carry_their_training_record() -> None:
    """Data hash, split, licences, date and out-of-fold metrics are in the file."""
    record = load_weights().record
    assert {"date", "data_sha256", "split", "licences", "metrics", "fingerprint"} <= set(record)
    assert len(record["data_sha256"]) == 64
    assert record["fingerprint"] == load_weights().fingerprint


def test_the_shipped_weights_are_small() -> None:
    """They stay under 1 MB."""
    assert _PATH.stat().st_size < 1_000_000


def test_writing_and_reading_keeps_every_number(tmp_path: Path) -> None:
    """A round trip through JSON gives the same fingerprint and the same scores."""
    weights = load_weights()
    dump_weights(weights, tmp_path / "weights.json")
    again = load_weights(tmp_path / "weights.json")
    rows = np.random.default_rng(1).random((20, len(FEATURES)))
    assert weights.fingerprint == again.fingerprint
    assert weights.support.probability(rows).tolist() == again.support.probability(rows).tolist()


def test_another_number_is_another_fingerprint() -> None:
    """The record does not count, the numbers do."""
    weights = load_weights()
    assert weights.fingerprint == replace(weights, record={}).fingerprint
    assert weights.fingerprint != replace(weights, support=replace(weights.support, slope=2.0)).fingerprint
    assert weights.fingerprint != replace(weights, answer=replace(weights.answer, slope=2.0)).fingerprint


@pytest.mark.parametrize("part", ["features", "answer_features"])
def test_weights_for_other_features_are_refused(tmp_path: Path, part: str) -> None:
    """A file that does not fit the code says so at start."""
    body = json.loads(_PATH.read_text(encoding="utf-8"))
    body[part] = body[part][:-1]
    (tmp_path / "old.json").write_text(json.dumps(body), encoding="utf-8")
    with pytest.raises(ConfigError, match="make train"):
        load_weights(tmp_path / "old.json")


def test_a_row_scores_the_same_beside_any_others() -> None:
    """Bits do not depend on how many rows are scored together."""
    rows = np.random.default_rng(2).random((64, len(FEATURES))) * 3
    support = load_weights().support
    assert support.raw(rows).tolist() == [float(support.raw(row[None])[0]) for row in rows]


def test_the_logistic_function_does_not_overflow() -> None:
    """Extreme scores give 0 and 1."""
    assert [0.0, 0.5, 1.0] == sigmoid(np.array([-1e6, 0.0, 1e6])).tolist()
