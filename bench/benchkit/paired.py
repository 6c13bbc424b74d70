"""Comparison of two scores of the same answers, with sources as the unit that is drawn again."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Counts:
    """What a threshold gives: faulty answers are the positive class."""

    balanced: float
    precision: float
    recall: float
    f1: float


def auc(is_bad: Flags, score: Array) -> float:
    """The chance that a good answer scores above a bad one, ties half."""
    good = ~is_bad
    count = int(good.sum())
    above = rankdata(score)[good].sum() - count * (count + 1) / 2
    return float(above / (count * (len(score) - count)))


def lower_bounds(
    is_bad: Flags, source: Sequence[str], own: Array, others: Sequence[Array], draws: int = 1000
) -> list[float]:
    """Lower 95 % bounds of the difference in AUC to each of ``others``; sources are drawn with replacement."""
    names, part = np.unique(np.array(source), return_inverse=True)
    members = [np.flatnonzero(part == one) for one in range(len(names))]
    rng = np.random.default_rng(7)
    differences = []
    for _ in range(draws):
        rows = np.concatenate([members[one] for one in rng.integers(len(names), size=len(names))])
        bad = is_bad[rows]
        if 0 < bad.sum() < len(bad):
            base = auc(bad, own[rows])
            differences.append([base - auc(bad, other[rows]) for other in others])
    return [float(bound) for bound in np.percentile(differences, 2.5, axis=0)]


def intervals(
    is_bad: Flags, source: Sequence[str], own: Array, other: Array, draws: int = 1000
) -> tuple[tuple[float, float], tuple[float, float]]:
    """95 % intervals of ``own``'s AUC, and of its difference to ``other``'s; sources are drawn with replacement."""
    names, part = np.unique(np.array(source), return_inverse=True)
    members = [np.flatnonzero(part == one) for one in range(len(names))]
    rng = np.random.default_rng(7)
    found = []
    for _ in range(draws):
        rows = np.concatenate([members[one] for one in rng.integers(len(names), size=len(names))])
        bad = is_bad[rows]
        if 0 < bad.sum() < len(bad):
            value = auc(bad, own[rows])
            found.append((value, value - auc(bad, other[rows])))
    (low, less), (high, more) = np.percentile(found, [2.5, 97.5], axis=0)
    return (float(low), float(high)), (float(less), float(more))


def counts(is_bad: Flags, is_flagged: Flags) -> Counts:
    """Balanced accuracy, precision, recall and F1 of the flagged answers."""
    found, flagged = int((is_bad & is_flagged).sum()), int(is_flagged.sum())
    precision, recall = found / max(flagged, 1), found / max(int(is_bad.sum()), 1)
    spared = float((~is_flagged[~is_bad]).mean())
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return Counts((recall + spared) / 2, precision, recall, f1)
