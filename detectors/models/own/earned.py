"""How much of the network a kind of answer has earned: as much as gains most over L1, where no data set loses by it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from detectors.models.own.held_out import Answer
from detectors.models.stacking import KindWeights, log_odds

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
_STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)
_MOST = 1.0
"""Of the network in all, so that L1 never counts for less."""
_LEAST_ERROR = 1e-3
_CHANCE = 0.5


@dataclass(frozen=True, slots=True)
class Scored:
    """Labelled answers of one data set: of each its source and label, and the rows that its claims are.

    ``network`` is 0 and 0 where the network had nothing to read; ``supported`` is 1, 0, or -1 where nobody knows.
    """

    source: NDArray[np.str_]
    is_bad: Flags
    l1: Array
    network: Array
    supported: NDArray[np.int8]
    answer: NDArray[np.intp]

    def merit(self, own: float, own_mean: float, without: str = "") -> float:
        """Mean of two AUC, of answers by their weakest claim and of labelled claims, but for one source."""
        raw = self.l1 + self.network @ (own, own_mean)
        kept = self.source != without
        weakest = np.full(len(kept), np.inf)
        np.minimum.at(weakest, self.answer, raw)
        claims = kept[self.answer] & (self.supported >= 0)
        return 0.5 * (_auc(~self.is_bad[kept], weakest[kept]) + _auc(self.supported[claims] > 0, raw[claims]))

    def merits(self, own: float, own_mean: float) -> Array:
        """Of all, then without each source in turn."""
        return np.array([self.merit(own, own_mean, one) for one in ("", *np.unique(self.source))])


def scored(found: Sequence[Answer]) -> list[Scored]:
    """``found`` by data set; answers without a claim that L1 could judge are left out."""
    names = sorted({answer.record["dataset"] for answer in found})
    parts = [[answer for answer in found if answer.record["dataset"] == name and _has_score(answer)] for name in names]
    return [_table(part) for part in parts if part]


def earned(tables: Sequence[Scored]) -> KindWeights:
    """The weights that gain most on ``tables``, by the lower end of one standard error; L1 alone where none gains.

    A data set counts by the inverse of its variance (jackknife over sources) and holds a veto: where one loses, the
    weights are not taken.
    """
    alone = [table.merits(0.0, 0.0) for table in tables]
    best, most = KindWeights(), 0.0
    for own_mean, own in product(_STEPS, _STEPS):  # a claim's own word first: where both do the same, it is taken
        if not tables or not 0 < own + own_mean <= _MOST:
            continue
        gains = [table.merits(own, own_mean) - base for table, base in zip(tables, alone, strict=True)]
        lower = _lower_end(gains)
        if lower > most and all(gain[0] >= 0 for gain in gains):
            best, most = KindWeights(own, own_mean), lower
    return best


def _lower_end(gains: Sequence[Array]) -> float:
    """Of the gain of all data sets together, one standard error below."""
    errors = [max(_error(gain[1:]), _LEAST_ERROR) for gain in gains]
    weights = np.array([error**-2 for error in errors])
    return float(weights @ [gain[0] for gain in gains] / weights.sum() - weights.sum() ** -0.5)


def _error(without: Array) -> float:
    """Jackknife standard error (Quenouille 1956; Tukey 1958) from the figures without each source."""
    return float(np.sqrt((len(without) - 1) * np.var(without)))


def _auc(is_good: Flags, score: Array) -> float:
    return float(roc_auc_score(is_good, score)) if 0 < is_good.sum() < len(is_good) else _CHANCE


def _has_score(answer: Answer) -> bool:
    return any(first.support is not None for first in answer.first)


def _table(found: Sequence[Answer]) -> Scored:
    rows = [
        (number, log_odds(first.support), features, label)
        for number, answer in enumerate(found)
        for first, features, label in zip(answer.first, answer.features, answer.supported, strict=True)
        if first.support is not None
    ]
    return Scored(
        np.array([answer.source for answer in found]),
        np.array([bool(answer.record["hallucinated"]) for answer in found]),
        np.array([l1 for _, l1, _, _ in rows]),
        np.array([features[1:] if features else (0.0, 0.0) for _, _, features, _ in rows]),
        np.array([-1 if label is None else int(label) for *_, label in rows], dtype=np.int8),
        np.array([number for number, *_ in rows]),
    )
