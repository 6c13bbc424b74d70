"""Whether a score of 0.8 is right eight times in ten: bins, expected calibration error, Brier score."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """Scores of [low, high) (the last holds 1, too): how many, their mean, and how many of them people call good."""

    low: float
    high: float
    n: int
    mean_score: float
    good: int


@dataclass(frozen=True, slots=True)
class Reliability:
    """Bins with a score in them; ``ece`` is the mean gap between score and share, by answers (Naeini 2015).

    ``brier`` is the mean squared error, ``brier_of_mean`` that of always saying the overall share (Brier 1950).
    """

    n: int
    bins: tuple[Bin, ...]
    ece: float
    brier: float
    brier_of_mean: float


def reliability(scores: Sequence[float], are_good: Sequence[bool]) -> Reliability | None:
    """The figures of scores that claim to be P(good); None without any."""
    if not scores:
        return None
    score, good = np.array(scores, dtype=float), np.array(are_good, dtype=float)
    place = np.minimum((score * BINS).astype(int), BINS - 1)
    bins = []
    for number in np.unique(place):
        own = place == number
        hits = int(good[own].sum())
        bins.append(Bin(number / BINS, (number + 1) / BINS, int(own.sum()), float(score[own].mean()), hits))
    return Reliability(
        n=len(score),
        bins=tuple(bins),
        ece=sum(one.n * abs(one.mean_score - one.good / one.n) for one in bins) / len(score),
        brier=float(np.mean((score - good) ** 2)),
        brier_of_mean=float(good.mean() * (1 - good.mean())),
    )
