"""The support threshold at which a jump is found after the fewest answers (not that of the best balanced accuracy).

An answer is worth KL(p1 ‖ p0) nats against a rise of the apparent rate from p0 to p1, and about ten nats make a page
(the measured delays of the jump test). Both rates follow from hit rate and false alarms at the slice's human rate.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from alerts.power import Marks, divergence

NATS_TO_PAGE = 10.0
MOST_ANSWERS = 100_000.0
Array = np.ndarray


@dataclass(frozen=True, slots=True)
class Scored:
    """Answers of one intent: weakest support by weights that did not see the source, label and fold."""

    score: Array
    is_bad: Array
    fold: Array


@dataclass(frozen=True, slots=True)
class Jump:
    """The human rate of an intent before and after."""

    before: float
    after: float


def answers_needed(jump: Jump, hits: float, false_alarms: float) -> float:
    """Expected verified answers until the page, with the reference known."""
    marks = Marks(hits, false_alarms)
    before, after = marks.apparent(jump.before), marks.apparent(jump.after)
    if after <= before:
        return MOST_ANSWERS
    return min(NATS_TO_PAGE / divergence(after, before), MOST_ANSWERS)


def best_threshold(scored: Mapping[str, Scored], jumps: Mapping[str, Jump], held_out: int) -> float:
    """The threshold of the smallest mean need over the intents that jump, from all folds but ``held_out``."""
    grid = np.unique(np.quantile(_pooled(scored, held_out), np.linspace(0.005, 0.8, 120)))
    needs = [np.mean([_need(scored[intent], jump, held_out, t) for intent, jump in jumps.items()]) for t in grid]
    return float(grid[int(np.argmin(needs))])


def _pooled(scored: Mapping[str, Scored], held_out: int) -> Array:
    return np.concatenate([one.score[one.fold != held_out] for one in scored.values()])


def _need(one: Scored, jump: Jump, held_out: int, threshold: float) -> float:
    rows = one.fold != held_out
    flagged, bad = one.score[rows] < threshold, one.is_bad[rows]
    return answers_needed(jump, _share(flagged[bad]), _share(flagged[~bad]))


def _share(flags: Array) -> float:
    """Half an answer is added on either side: a threshold that few answers reach must not look free of errors."""
    return float((flags.sum() + 0.5) / (len(flags) + 1))
