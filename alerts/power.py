"""How many answers the jump test needs through a detector that errs; what an operating point is chosen by.

The detector's marks, not the truth, are what the test sees: a true rate p shows as p · se + (1 − p)(1 − sp). An answer
is worth E ln(R^y / (1 + (R − 1) p0)) nats to the bet R of ``alerts.jump``, and a page needs a fixed sum of them (Wald
1945; Lorden 1971 for change points). Were there a bet for every odds ratio, the best one would bring the Kullback-
Leibler divergence of the two apparent rates. Both are linear in y, so a calibrated fraction counts by its mean alone;
and both are convex in the means, so the best marks are those of some threshold.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr

from alerts.config import JumpConfig

Rates = NDArray[np.float64] | np.float64
DOUBLING = 2.0


@dataclass(frozen=True, slots=True)
class Marks:
    """The mean mark, in [0, 1], that a detector gives hallucinated answers (``bad``) and grounded ones (``good``).

    For a yes-or-no detector they are its sensitivity and one minus its specificity.
    """

    bad: float
    good: float

    def apparent(self, rate: float) -> float:
        """What a true rate of hallucinated answers shows as."""
        return rate * self.bad + (1 - rate) * self.good


PERFECT = Marks(bad=1.0, good=0.0)


@dataclass(frozen=True, slots=True)
class Power:
    """A rise of the true rate from ``base`` to ``base`` · ratio as the test sees it.

    ``nats`` an answer to the test's own bets and ``ideal_nats`` to the best of all bets; 0 when the rise is too small
    to be found. ``times_true``: answers relative to a perfect detector, by the best bets, when the *true* rate rises
    so; ``times_apparent``: when the *apparent* rate does. inf for never, None where no such rise exists.
    """

    base: float
    apparent_before: float
    apparent_after: float
    nats: float
    ideal_nats: float
    times_true: float
    times_apparent: float | None

    def answers(self, evidence_nats: float) -> float:
        """Expected judged answers from the rise to the page with the test's own bets; inf when it never comes."""
        return evidence_nats / self.nats if self.nats > 0 else math.inf


def divergence(after: float, before: float) -> float:
    """Kullback-Leibler divergence of two Bernoulli rates in nats; inf when ``before`` rules ``after`` out.

    >>> round(divergence(0.1, 0.05), 4)
    0.0207
    """
    return float(_divergence(np.float64(after), np.float64(before)))


def bet_growth(after: float, before: float, odds_ratios: Sequence[float]) -> float:
    """Expected log growth an answer, in nats, of the best bet at reference ``before``; 0 when none of them grows.

    >>> round(bet_growth(0.1, 0.05, (1.5, 2.0, 3.0, 5.0)), 4)
    0.0205
    >>> bet_growth(0.316, 0.293, (1.5, 2.0, 3.0, 5.0))      # a rise smaller than the smallest bet is never found
    0.0
    """
    return float(_growth(np.float64(after), np.float64(before), odds_ratios))


def power_of(marks: Marks, base: float, odds_ratios: Sequence[float], ratio: float = DOUBLING) -> Power:
    """What a rise of the true rate ``base`` by ``ratio`` is worth to the test through a detector with these marks.

    Raises ValueError unless 0 < base and base · ratio < 1.

    >>> [round(power_of(marks, 0.05, (2.0,)).times_true) for marks in (Marks(0.73, 0.27), Marks(0.8, 0.03))]
    [16, 2]
    """
    if not 0 < base < base * ratio < 1:
        message = f"a base rate of {base} cannot rise {ratio}-fold; give one between 0 and {1 / ratio:.2f}"
        raise ValueError(message)
    before, after = marks.apparent(base), marks.apparent(base * ratio)
    rises = after > before
    ideal = divergence(after, before) if rises else 0.0
    perfect = divergence(base * ratio, base)
    can_rise = before > 0 and before * ratio < 1
    return Power(
        base=base,
        apparent_before=before,
        apparent_after=after,
        nats=bet_growth(after, before, odds_ratios) if rises else 0.0,
        ideal_nats=ideal,
        times_true=perfect / ideal if ideal > 0 else math.inf,
        times_apparent=perfect / divergence(before * ratio, before) if can_rise else None,
    )


def fastest(
    bad: Sequence[float], good: Sequence[float], base: float, odds_ratios: Sequence[float], ratio: float = DOUBLING
) -> int:
    """The place of the marks (``bad[i]``, ``good[i]``) that find a rise after the fewest answers.

    Most nats to the test's own bets; where none of them grows at any marks, most to the best of all bets.

    >>> fastest([0.8, 0.73, 0.2], [0.03, 0.27, 0.001], 0.05, (1.5, 2.0, 3.0, 5.0))
    0
    """
    marked, unmarked = np.asarray(bad), np.asarray(good)
    before, after = (rate * marked + (1 - rate) * unmarked for rate in (base, base * ratio))
    nats = _growth(after, before, odds_ratios)
    if nats.max() <= 0:
        nats = np.where(after > before, _divergence(after, before), 0.0)
    return int(nats.argmax())


def evidence_for_page(config: JumpConfig, slices: int, deploys_per_month: float) -> float:
    """Nats that one of the bets must gather after a deploy until the page, beginning with its part of the budget.

    A slice's deploys share half of its budget; see ``alerts.deploys``.

    >>> round(evidence_for_page(JumpConfig(), 200, 10), 1)
    10.2
    """
    lump = 0.5 * config.budget(slices) / max(deploys_per_month, 1.0)
    return math.log(len(config.odds_ratios) / lump)


def _growth(after: Rates, before: Rates, odds_ratios: Sequence[float]) -> Rates:
    bets = [after * math.log(ratio) - np.log1p((ratio - 1) * before) for ratio in odds_ratios]
    return np.asarray(np.maximum(np.max(bets, axis=0), 0.0))


def _divergence(after: Rates, before: Rates) -> Rates:
    return np.asarray(rel_entr(after, before) + rel_entr(1 - after, 1 - before))
