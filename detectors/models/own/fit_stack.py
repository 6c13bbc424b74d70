"""Fits the stack on unseen sources: ``python -m detectors.models.own.fit_stack`` (needs scikit-learn, minutes).

How much of the network counts is learned from all data sets of a kind of answer, calibration from natural claims whose
wrong words people marked, as L1's is; a kind without enough of them is brought back to L1's scale.
"""

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from detectors.evidence import EvidenceDetector, load_weights
from detectors.evidence.examples import build_examples
from detectors.evidence.train import DATA_FILE, read_records, train_examples
from detectors.evidence.weights import Weights, dump_weights
from detectors.models.answerkinds import AnswerKind
from detectors.models.options import ModelOptions
from detectors.models.own.base import base_folder
from detectors.models.own.earned import earned, scored
from detectors.models.own.held_out import Answer, answers
from detectors.models.own.human import Row
from detectors.models.own.loading import RECORD, load_from
from detectors.models.own.stages import HELD_OUT, fold_of_record
from detectors.models.stacking import Features, KindWeights, StackWeights
from schemas.errors import ConfigError

Array = NDArray[np.float64]
_NATURAL = "ragtruth"
_LEAST_BAD = 30
"""Wrong natural claims that a kind of answer needs for a calibration of its own."""
_DECIMALS = 5


def fit(found: Sequence[Answer]) -> StackWeights:
    """Weights from ``found``: what each kind of answer has earned, and its calibration."""
    return StackWeights({kind: _of_kind(kind, found) for kind in AnswerKind})


def _of_kind(kind: AnswerKind, found: Sequence[Answer]) -> KindWeights:
    here = [answer for answer in found if answer.kind is kind]
    weights = earned(scored(here))
    if not weights.has_network:
        return weights
    natural = [answer for answer in here if answer.record["dataset"] == _NATURAL]
    features, supported = claims_of(natural)
    if (~supported).sum() >= _LEAST_BAD:
        slope, intercept = platt(np.array([weights.raw(one) for one in features]), supported)
    else:
        slope, intercept = as_l1(weights, [one for answer in natural or here for one in answer.features if one])
    return replace(weights, slope=slope, intercept=intercept)


def as_l1(weights: KindWeights, features: Sequence[Features]) -> tuple[float, float]:
    """Slope and intercept that give the sum the mean and the spread of L1's log-odds, which are calibrated."""
    raw, l1 = np.array([weights.raw(one) for one in features]), np.array([one[0] for one in features])
    slope = float(l1.std() / raw.std())
    return round(slope, _DECIMALS), round(float(l1.mean() - slope * raw.mean()), _DECIMALS)


def claims_of(found: Sequence[Answer]) -> tuple[list[Features], NDArray[np.bool_]]:
    """Claims with a label and a score of both layers."""
    rows = [
        (features, label)
        for answer in found
        for features, label in zip(answer.features, answer.supported, strict=True)
        if features is not None and label is not None
    ]
    return [features for features, _ in rows], np.array([label for _, label in rows], dtype=bool)


def platt(raw: Array, supported: NDArray[np.bool_]) -> tuple[float, float]:
    """Slope and intercept (Platt 1999)."""
    model = LogisticRegression(C=1e6, max_iter=1000)
    model.fit(raw[:, None], supported)
    return round(float(model.coef_[0, 0]), _DECIMALS), round(float(model.intercept_[0]), _DECIMALS)


def dump(weights: StackWeights, path: Path) -> None:
    """Write ``weights`` in the form that ``load_stack_weights`` reads."""
    body = {kind.value: asdict(one) for kind, one in weights.kinds.items()}
    path.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")


def unseen_l1(records: Sequence[Row], kept: Path) -> EvidenceDetector:
    """L1 without the held-out sources, trained once and kept in ``kept``."""
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        weights: Weights = train_examples(build_examples(records), HELD_OUT)
        dump_weights(weights, kept)
    return EvidenceDetector(load_weights(kept))


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, write ``stack.json``, and put the calibration of the network alone into its record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("GROUNDWATCH_DATA"), help=f"folder of {DATA_FILE}")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent, help="of the weights")
    parser.add_argument(
        "--l1", type=Path, default=Path("data/train-l2/l1.json"), help="L1 without the held-out sources"
    )
    options = parser.parse_args(arguments)
    if options.data is None or not (Path(options.data) / DATA_FILE).exists():
        raise ConfigError(f"no data at {options.data}; set GROUNDWATCH_DATA to the folder of {DATA_FILE}")
    records = read_records(Path(options.data) / DATA_FILE)
    path = options.folder / RECORD
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    model = load_from(options.folder, base_folder(), ModelOptions())
    unseen = [one for one in records if fold_of_record(one) == HELD_OUT]
    found = answers(unseen, unseen_l1(records, options.l1), model)
    dump(fit(found), options.folder / "stack.json")
    features, supported = claims_of([answer for answer in found if answer.record["dataset"] == _NATURAL])
    slope, intercept = platt(np.array([own for _, own, _ in features]), supported)
    record["calibration"] = {"slope": slope, "intercept": intercept}
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
