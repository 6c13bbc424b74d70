"""Labelled scores as counts per source and score bin, so that folds and resamples are sums of rows.

Thresholds are the 99 hundredths: a policy is read by people, and no set of labels tells finer ones apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from detectors.calibration.pairs import Pair

Array = NDArray[np.float64]
GRID: Array = np.arange(1, 100) / 100
"""The thresholds that are tried."""
BINS = len(GRID) + 1


@dataclass(frozen=True, slots=True)
class Counts:
    """Answers at one threshold: flagged ones that people call hallucinated (``caught``) or not (``false_alarms``)."""

    caught: float
    false_alarms: float
    missed: float
    cleared: float

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.caught + other.caught,
            self.false_alarms + other.false_alarms,
            self.missed + other.missed,
            self.cleared + other.cleared,
        )

    @property
    def bad(self) -> float:
        """Answers that people call hallucinated."""
        return self.caught + self.missed

    @property
    def good(self) -> float:
        """Answers that people call grounded."""
        return self.false_alarms + self.cleared

    @property
    def flagged(self) -> float:
        """Answers below the threshold."""
        return self.caught + self.false_alarms


@dataclass(frozen=True, slots=True)
class Curve:
    """Counts of hallucinated and grounded answers per score bin; bin i holds scores of [GRID[i - 1], GRID[i])."""

    bad_bins: Array
    good_bins: Array

    @property
    def flagged_bad(self) -> Array:
        """Hallucinated answers below each threshold."""
        return np.cumsum(self.bad_bins)[:-1]

    @property
    def flagged_good(self) -> Array:
        """Grounded answers below each threshold."""
        return np.cumsum(self.good_bins)[:-1]

    @property
    def bad(self) -> float:
        """All hallucinated answers."""
        return float(self.bad_bins.sum())

    @property
    def good(self) -> float:
        """All grounded answers."""
        return float(self.good_bins.sum())

    @property
    def has_both(self) -> bool:
        """False when people found all answers alike: then no threshold can be chosen."""
        return self.bad > 0 and self.good > 0

    def at(self, place: int) -> Counts:
        """The counts at the threshold ``GRID[place]``."""
        caught, alarms = float(self.flagged_bad[place]), float(self.flagged_good[place])
        return Counts(caught, alarms, self.bad - caught, self.good - alarms)


@dataclass(frozen=True, slots=True)
class ScoreCounts:
    """Counts by source (rows, in the order of ``sources``) and score bin."""

    sources: tuple[str, ...]
    bad: Array
    good: Array

    def curve(self, weights: Array | None = None) -> Curve:
        """All sources together, each counted ``weights`` times; once when left out."""
        rows = np.ones(len(self.sources)) if weights is None else weights
        return Curve(rows @ self.bad, rows @ self.good)


def counted(pairs: Sequence[Pair]) -> ScoreCounts:
    """Pairs as counts; a score on a threshold is not below it."""
    sources = tuple(sorted({pair.source for pair in pairs}))
    row = {source: number for number, source in enumerate(sources)}
    bad, good = np.zeros((len(sources), BINS)), np.zeros((len(sources), BINS))
    for pair in pairs:
        (bad if pair.is_bad else good)[row[pair.source], np.searchsorted(GRID, pair.score, side="right")] += 1
    return ScoreCounts(sources, bad, good)


def place_of(threshold: float) -> int:
    """The place in ``GRID`` nearest to a threshold."""
    return int(np.abs(GRID - threshold).argmin())
