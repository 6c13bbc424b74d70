"""The trained numbers: term weights, three small models and their calibration, as one JSON file with its record.

Each model is the mean of a linear score and a small forest of regression trees, evaluated with numpy alone, so that
serving needs no training library.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from detectors.evidence.anchoring import (
    LEAST_CONTRADICTION_IN_CONFLICT,
    MOST_SUPPORT_IN_CONFLICT,
    Flags,
    moved,
    shifts,
)
from detectors.evidence.answers import ANSWER_FEATURES, answer_features, log_odds, sigmoid
from detectors.evidence.features import FEATURE_VERSION, FEATURES
from detectors.evidence.forest import Array, Forest
from detectors.evidence.terms import Terms
from schemas.errors import ConfigError

_PACKAGED = "weights.json"
_DECISIVE = FEATURES.index("conflict_decisive")


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A calibrated probability: slope · (linear + forest) / 2 + intercept, through the logistic function."""

    coefficients: Array
    constant: float
    forest: Forest
    slope: float = 1.0
    intercept: float = 0.0

    def raw(self, features: Array) -> Array:
        """Uncalibrated log-odds; columns beyond those of the model are not read."""
        # Row sums, not a matrix product: the last bits of that depend on how many rows there are.
        own = features[:, : len(self.coefficients)]
        linear = (own * self.coefficients).sum(axis=1) + self.constant
        scores: Array = (linear + self.forest.score(features)) / 2
        return scores

    def probability(self, features: Array) -> Array:
        """Calibrated probabilities, one a row."""
        return sigmoid(self.slope * self.raw(features) + self.intercept)


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """All that decides a score; ``record`` says where the numbers come from and does not.

    ``anchor`` is added to the log-odds of an answer's score, which is one of whole answers, to get to those of claims.
    """

    terms: Terms
    support: Model
    contradiction: Model
    answer: Model
    anchor: float
    record: Mapping[str, Any]

    def judge(self, features: Array) -> tuple[Array, Array]:
        """Support and contradiction, one a row; a decisive conflict bounds both."""
        is_decided = decided(features)
        support = bounded(features, self.support.probability(features))
        # The second model tells contradicted from merely unsupported, given that a claim is not supported.
        contradiction = self.contradiction.probability(features) * (1 - support)
        least = np.where(is_decided, LEAST_CONTRADICTION_IN_CONFLICT, 0.0)
        return support, np.maximum(contradiction, least)

    def score_answers(self, rows: Array, support: Array, sizes: Sequence[int]) -> Array:
        """P(every claim is supported), one an answer, from the features of its claims and their support."""
        return self.answer.probability(answer_features(rows, support, sizes))

    def shifts(self, rows: Array, support: Array, contradiction: Array, sizes: Sequence[int], scores: Array) -> Array:
        """How far the claims of each answer move in log-odds to stand where ``scores`` put it."""
        return shifts(support, contradiction, decided(rows), sizes, log_odds(scores) + self.anchor)

    def judge_answers(self, rows: Array, sizes: Sequence[int]) -> tuple[Array, Array, Array]:
        """Support and contradiction of claims with one match each, in the light of their answer, and its score."""
        support, contradiction = self.judge(rows)
        scores = self.score_answers(rows, support, sizes)
        by = np.repeat(self.shifts(rows, support, contradiction, sizes, scores), sizes)
        return *moved(support, contradiction, decided(rows), by), scores

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits over the numbers and the feature version; the record does not count."""
        bounds = [MOST_SUPPORT_IN_CONFLICT, LEAST_CONTRADICTION_IN_CONFLICT]
        body = {"features": FEATURE_VERSION, "bounds": bounds, **_numbers(self)}
        text = json.dumps(body, sort_keys=True, separators=(",", ":"))
        return blake2b(text.encode(), digest_size=8).hexdigest()


def bounded(features: Array, support: Array) -> Array:
    """``support`` as a decisive conflict leaves it."""
    bounds: Array = np.where(decided(features), np.minimum(support, MOST_SUPPORT_IN_CONFLICT), support)
    return bounds


def decided(features: Array) -> Flags:
    """Which rows carry a decisive conflict."""
    found: Flags = features[:, _DECISIVE] > 0
    return found


def dump_weights(weights: Weights, path: Path) -> None:
    """Write ``weights`` as JSON, in the form that ``load_weights`` reads."""
    body = {
        "record": dict(weights.record),
        "feature_version": FEATURE_VERSION,
        "features": FEATURES,
        "answer_features": ANSWER_FEATURES,
        **_numbers(weights),
    }
    path.write_text(json.dumps(body, indent=None, separators=(",", ":"), ensure_ascii=True) + "\n", encoding="utf-8")


def load_weights(path: Path | None = None) -> Weights:
    """The weights at ``path``, or those shipped with the package. Raises ConfigError when they fit other features."""
    source = path if path is not None else files("detectors.evidence").joinpath(_PACKAGED)
    body = json.loads(source.read_text(encoding="utf-8"))
    names = tuple(body["features"]), tuple(body.get("answer_features", ()))
    if body["feature_version"] != FEATURE_VERSION or names != (FEATURES, ANSWER_FEATURES):
        raise ConfigError(
            f"evidence weights are for feature version {body['feature_version']}, the code has {FEATURE_VERSION}; "
            "train them again with `make train`"
        )
    terms = Terms(body["terms"]["table"], body["terms"]["unknown"], body["terms"]["figure"])
    support, contradiction, answer = (_model(body[name]) for name in ("support", "contradiction", "answer"))
    return Weights(terms, support, contradiction, answer, body["anchor"], body["record"])


def _numbers(weights: Weights) -> dict[str, Any]:
    terms = weights.terms
    return {
        "support": _model_body(weights.support),
        "contradiction": _model_body(weights.contradiction),
        "answer": _model_body(weights.answer),
        "anchor": weights.anchor,
        "terms": {"unknown": terms.unknown, "figure": terms.figure, "table": terms.table},
    }


def _model_body(model: Model) -> dict[str, Any]:
    forest = model.forest
    return {
        "slope": model.slope,
        "intercept": model.intercept,
        "constant": model.constant,
        "coefficients": model.coefficients.tolist(),
        "forest": {
            "base": forest.base,
            "depth": forest.depth,
            "feature": forest.feature.tolist(),
            "threshold": forest.threshold.tolist(),
            "left": forest.left.tolist(),
            "right": forest.right.tolist(),
            "value": forest.value.tolist(),
        },
    }


def _model(body: Mapping[str, Any]) -> Model:
    tree = body["forest"]
    forest = Forest(
        feature=np.array(tree["feature"], dtype=np.intp),
        threshold=np.array(tree["threshold"], dtype=np.float64),
        left=np.array(tree["left"], dtype=np.intp),
        right=np.array(tree["right"], dtype=np.intp),
        value=np.array(tree["value"], dtype=np.float64),
        depth=int(tree["depth"]),
        base=float(tree["base"]),
    )
    coefficients = np.array(body["coefficients"], dtype=np.float64)
    return Model(coefficients, body["constant"], forest, body["slope"], body["intercept"])
