"""Folds and resamples by source, since answers about one page are alike and would flatter or hide the error."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from detectors.calibration.counts import Counts, Curve, ScoreCounts


def folds_of(sources: Sequence[str], folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The fold of every source, as even as can be, by chance."""
    found = np.arange(len(sources)) % folds
    rng.shuffle(found)
    return found


def cross_fitted(counts: ScoreCounts, fold: NDArray[np.int64], choose: Callable[[Curve], int | None]) -> Counts | None:
    """Counts at thresholds that were each chosen without the answers they are measured on (Stone 1974).

    None when some part alone tells of no threshold, because all its answers are alike.
    """
    total = Counts(0, 0, 0, 0)
    for number in np.unique(fold):
        place = choose(counts.curve((fold != number).astype(float)))
        if place is None:
            return None
        total += counts.curve((fold == number).astype(float)).at(place)
    return total


def resampled(counts: ScoreCounts, rounds: int, rng: np.random.Generator) -> Iterator[Curve]:
    """Curves of as many sources drawn with replacement (the cluster bootstrap; Davison and Hinkley 1997, 3.8)."""
    number = len(counts.sources)
    for weights in rng.multinomial(number, np.full(number, 1 / number), size=rounds):
        yield counts.curve(weights.astype(float))
