"""Fits the stack on unseen sources: ``python -m detectors.models.own.fit_stack`` (needs scikit-learn, minutes).

Ranking is learned from all data sets, calibration from natural claims whose wrong words people marked, as L1's is; a
kind of answer without any takes the calibration of all of them together.
"""

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from detectors.models.own.held_out import PARTS, Answer, answers
from detectors.models.own.human import Row
from detectors.models.own.loading import RECORD, load_from
from detectors.models.own.stages import HELD_OUT, fold_of_record
from detectors.models.stacking import FEATURES, StackWeights
from schemas.errors import ConfigError

Array = NDArray[np.float64]
_INVERSE_RIDGE = 1.0
_NATURAL = "ragtruth"
_LEAST_BAD = 30
"""Wrong natural claims that a kind of answer needs for a calibration of its own."""
_DECIMALS = 5


@dataclass(frozen=True, slots=True)
class Claims:
    """Labelled claims as rows."""

    features: Array
    supported: NDArray[np.bool_]
    group: NDArray[np.str_]
    kind: NDArray[np.str_]
    part: NDArray[np.intp]

    def rows(self, rows: NDArray[np.bool_]) -> "Claims":
        """Some of them."""
        return Claims(self.features[rows], self.supported[rows], self.group[rows], self.kind[rows], self.part[rows])


def claims_of(found: Sequence[Answer]) -> Claims:
    """Claims with a label and a score of both layers."""
    rows = [
        (features, label, answer)
        for answer in found
        for features, label in zip(answer.features, answer.supported, strict=True)
        if features is not None and label is not None
    ]
    return Claims(
        np.array([features for features, _, _ in rows]),
        np.array([label for _, label, _ in rows]),
        np.array([f"{answer.record['dataset']}/{answer.record['task']}" for _, _, answer in rows]),
        np.array([answer.kind.value for _, _, answer in rows]),
        np.array([answer.part for _, _, answer in rows]),
    )


def fit(claims: Claims) -> StackWeights:
    """Weights from ``claims``; the calibration rests on scores of sources that the regression was not fitted on."""
    raw = np.zeros(len(claims.supported))
    for number in range(PARTS):
        here = claims.part == number
        part = fitted(claims.rows(~here))
        raw[here] = [part.raw(features) for features in claims.features[here]]
    natural = np.char.startswith(claims.group, _NATURAL)
    overall = platt(raw[natural], claims.supported[natural])
    calibration = {}
    for kind in AnswerKind:
        rows = natural & (claims.kind == kind.value)
        has_own = (~claims.supported[rows]).sum() >= _LEAST_BAD
        calibration[kind] = platt(raw[rows], claims.supported[rows]) if has_own else overall
    return replace(fitted(claims), calibration=calibration)


def fitted(claims: Claims) -> StackWeights:
    """The regression alone; classes are even within a group, and groups count by the root of their size."""
    mean, spread = claims.features.mean(axis=0), claims.features.std(axis=0) + 1e-9
    weight = np.zeros(len(claims.supported))
    for group in np.unique(claims.group):
        for label in (False, True):
            rows = (claims.group == group) & (claims.supported == label)
            weight[rows] = (claims.group == group).sum() ** 0.5 / max(rows.sum(), 1)
    model = LogisticRegression(C=_INVERSE_RIDGE, max_iter=1000)
    model.fit((claims.features - mean) / spread, claims.supported, sample_weight=weight * len(weight) / weight.sum())
    slopes = model.coef_[0] / spread
    coefficients = {name: round(float(value), _DECIMALS) for name, value in zip(FEATURES, slopes, strict=True)}
    return StackWeights(coefficients, round(float(model.intercept_[0] - slopes @ mean), _DECIMALS), {})


def platt(raw: Array, supported: NDArray[np.bool_]) -> tuple[float, float]:
    """Slope and intercept (Platt 1999)."""
    model = LogisticRegression(C=1e6, max_iter=1000)
    model.fit(raw[:, None], supported)
    return round(float(model.coef_[0, 0]), _DECIMALS), round(float(model.intercept_[0]), _DECIMALS)


def dump(weights: StackWeights, path: Path) -> None:
    """Write ``weights`` in the form that ``load_stack_weights`` reads."""
    body = {
        "coefficients": dict(weights.coefficients),
        "constant": weights.constant,
        "calibration": {kind.value: list(numbers) for kind, numbers in weights.calibration.items()},
    }
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
    claims = claims_of(answers(unseen, unseen_l1(records, options.l1), model))
    dump(fit(claims), options.folder / "stack.json")
    natural = claims.rows(np.char.startswith(claims.group, _NATURAL))
    slope, intercept = platt(natural.features[:, FEATURES.index("own")], natural.supported)
    record["calibration"] = {"slope": slope, "intercept": intercept}
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
