"""Fitting of the two models: claims with answer-level labels only are resolved by expectation-maximisation.

An answer is bad when at least one claim is (noisy-or); the posterior of each claim given that replaces its missing
label, for a few rounds (multiple-instance learning as in Dietterich et al. 1997, EM as in Zhang and Goldman 2001).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from detectors.evidence.answers import ANSWER_FEATURES, MORE_IS_BETTER, MORE_IS_WORSE, sigmoid
from detectors.evidence.conflicts import CONFLICTS
from detectors.evidence.features import FEATURES
from detectors.evidence.forest import Array, Forest
from detectors.evidence.weights import Model

_ROUNDS = 3
_INVERSE_RIDGE = 0.05
_OF_WEAKEST = 1 / 6
"""Of the weakest claim's log-odds beside what is learned of whole answers: on kinds of answers that were not trained on
it tells more than the rest does, and elsewhere it costs next to nothing."""
_NEWTON_STEPS, _SMALL_STEP = 20, 1e-5
_CLAIM_TREES = {"max_iter": 200, "max_leaf_nodes": 10, "min_samples_leaf": 60}
_ANSWER_TREES = {"max_iter": 120, "max_leaf_nodes": 6, "min_samples_leaf": 50}
_MORE_IS_BETTER = frozenset(
    ("best_coverage", "union_coverage", "window_coverage", "soft_coverage", "phrase_coverage", "pair_coverage")
)
_MORE_IS_WORSE = frozenset(
    (
        "missing_count",
        "missing_heaviest",
        "missing_share",
        "names_missing",
        "names_missing_share",
        "figures_missing",
        "figures_missing_share",
        "figures_conflicting",
        "names_outside_best",
        "figures_outside_best",
        "opposites",
        "negation_added",
        "negation_lost",
        "polarity_conflicts",
        "denied_keys",
        "names_in_close_copy",
        "figures_in_close_copy",
        "polarity_in_close_copy",
        "missing_in_close_copy",
        "place_opposite",
        "meaning_opposite",
        "antonym_in_best",
        "roles_reversed",
        "ends_reversed",
        *CONFLICTS,
    )
)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Claims as rows: features, the answer of each, P(positive) where known (NaN else), group and weight."""

    features: Array
    answer: NDArray[np.intp]
    target: Array
    group: NDArray[np.str_]
    weight: Array


def fit_model(table: Table, group_weights: Mapping[str, float], *, monotone: bool) -> Model:
    """A model of P(target = 1), uncalibrated; classes and groups are balanced to ``group_weights`` (default 1)."""
    known = ~np.isnan(table.target)
    sizes = np.bincount(table.answer)[table.answer]
    target = np.where(known, table.target, 1 - 1 / np.maximum(sizes, 1))
    for _ in range(_ROUNDS if not known.all() else 0):
        # The linear part alone resolves the missing labels; forests would take minutes and learn their own guesses.
        features, labels, weight = _doubled(table, target, group_weights)
        coefficients, constant = _fit_linear(features, labels, weight)
        probability = sigmoid(table.features @ coefficients + constant)
        all_good = np.exp(np.bincount(table.answer, weights=np.log(np.clip(probability, 1e-6, 1))))[table.answer]
        posterior = np.clip((1 - probability) / np.maximum(1 - all_good, 1e-6), 0, 1)
        target = np.where(known, table.target, 1 - posterior)
    features, labels, weight = _doubled(table, target, group_weights)
    coefficients, constant = _fit_linear(features, labels, weight)
    directions = [_direction(name) if monotone else 0 for name in FEATURES]
    forest = _fit_forest(features, labels, weight, directions, _CLAIM_TREES)
    return Model(np.round(coefficients, 6), round(constant, 6), forest)


def fit_answers(table: Table, group_weights: Mapping[str, float]) -> Model:
    """A model of P(every claim is supported), uncalibrated, of rows of ``ANSWER_FEATURES``; balanced as claims are."""
    features, labels, weight = _doubled(table, table.target, group_weights)
    coefficients, constant = _fit_linear(features, labels, weight)
    directions = [int(name in MORE_IS_BETTER) - int(name in MORE_IS_WORSE) for name in ANSWER_FEATURES]
    forest = _fit_forest(features, labels, weight, directions, _ANSWER_TREES)
    # A model's score is half the linear one's.
    coefficients[ANSWER_FEATURES.index("weakest")] += 2 * _OF_WEAKEST
    return Model(np.round(coefficients, 6), round(constant, 6), forest)


def calibrate(model: Model, raw: Array, target: Array, weight: Array) -> Model:
    """``model`` with slope and intercept fitted on held-out raw scores (Platt 1999, without shrinking the targets)."""
    platt = LogisticRegression(C=1e6, max_iter=1000)
    platt.fit(raw[:, None], target, sample_weight=weight)
    return Model(model.coefficients, model.constant, model.forest, float(platt.coef_[0, 0]), float(platt.intercept_[0]))


def _doubled(table: Table, target: Array, group_weights: Mapping[str, float]) -> tuple[Array, Array, Array]:
    """Each row once as positive and once as negative, weighted by its target, classes and groups balanced."""
    features = np.vstack([table.features, table.features])
    labels = np.r_[np.ones(len(target)), np.zeros(len(target))]
    weight = np.r_[table.weight * target, table.weight * (1 - target)]
    groups = np.r_[table.group, table.group]
    for group in np.unique(table.group):
        rows = groups == group
        size = weight[rows].sum() ** 0.5
        for label in (0, 1):
            part = rows & (labels == label)
            weight[part] *= group_weights.get(str(group), 1.0) * size / max(weight[part].sum(), 1e-9)
    kept = weight > 0
    return features[kept], labels[kept], weight[kept] * (kept.sum() / weight.sum())


def _fit_linear(features: Array, labels: Array, weight: Array) -> tuple[Array, float]:
    """Logistic regression with a ridge on standardised features, by Newton's method: a tenth of the time of L-BFGS."""
    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    rows = np.c_[(features - mean) / spread, np.ones(len(features))]
    ridge = np.diag([*([1 / _INVERSE_RIDGE] * features.shape[1]), 0.0])
    found = np.zeros(rows.shape[1])
    for _ in range(_NEWTON_STEPS):
        probability = sigmoid(rows @ found)
        gradient = rows.T @ (weight * (labels - probability)) - ridge @ found
        curvature = (rows * (weight * probability * (1 - probability))[:, None]).T @ rows + ridge
        step = np.linalg.solve(curvature, gradient)
        found += step
        if np.abs(step).max() < _SMALL_STEP:
            break
    coefficients = found[:-1] / spread
    return coefficients, float(found[-1] - coefficients @ mean)


def _fit_forest(
    features: Array, labels: Array, weight: Array, directions: Sequence[int], size: Mapping[str, int]
) -> Forest:
    boosted = HistGradientBoostingClassifier(
        **size,
        learning_rate=0.06,
        l2_regularization=5.0,
        max_features=0.5,
        monotonic_cst=directions,
        early_stopping=False,
        random_state=0,
    )
    boosted.fit(features, labels, sample_weight=weight)
    return export_forest(boosted)


def _direction(name: str) -> int:
    return int(name in _MORE_IS_BETTER) - int(name in _MORE_IS_WORSE)


def export_forest(boosted: Any) -> Forest:
    """The trees of a fitted sklearn model as arrays; a test holds them to the original's scores."""
    nodes = [trees[0].nodes for trees in boosted._predictors]  # noqa: SLF001 - there is no public access to the trees
    shape = (len(nodes), max(len(tree) for tree in nodes))
    feature, left, right = (np.zeros(shape, dtype=np.intp) for _ in range(3))
    threshold, value = np.zeros(shape), np.zeros(shape)
    for row, tree in enumerate(nodes):
        here, is_leaf = np.arange(len(tree)), tree["is_leaf"].astype(bool)
        feature[row, : len(tree)] = np.where(is_leaf, 0, tree["feature_idx"])
        threshold[row, : len(tree)] = np.where(is_leaf, 0.0, tree["num_threshold"])
        left[row, : len(tree)] = np.where(is_leaf, here, tree["left"])
        right[row, : len(tree)] = np.where(is_leaf, here, tree["right"])
        value[row, : len(tree)] = np.where(is_leaf, np.round(tree["value"], 6), 0.0)
    depth = int(max(tree["depth"].max() for tree in nodes))
    return Forest(feature, threshold, left, right, value, depth, float(boosted._baseline_prediction.item()))  # noqa: SLF001
