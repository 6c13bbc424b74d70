"""The rate that a jump is measured against: an upper quantile of a Beta posterior over old counts.

An upper quantile and not the mean, because the error of the baseline, not the detector, is the weak point of small
slices. Counts of the most recent days stay out (the lag), or a slow rise would teach the reference its own error.
"""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from scipy.special import betaincinv

DAY = timedelta(days=1)
PRIOR_ANSWERS = 10.0
"""What the expected rate of a tier is worth, in answers."""
PRIOR_STRENGTH = (2.0, 300.0)
"""Bounds of the prior's strength."""
SMALLEST_A = 0.5
"""That of Jeffreys' prior."""
FEWEST_CELLS = 3
FEWEST_ANSWERS = 20
CV_FLOOR = 0.03
CV_FLOOR_BUSY = 0.05
BUSY_PER_DAY = 5000.0
CV_GUESS = 0.05
CV_CEILING = 0.3
_CV2_SPREAD = 0.005
"""Prior standard deviation of the squared day CV around ``CV_GUESS``²: 10 % is usual, 20 % is rare."""
KEPT = timedelta(days=104)
"""How long counts are kept: the longest window and the longest lag."""
SHORTEST_CV_BLOCK = timedelta(hours=20)
"""Shorter blocks share their day's effect with others and say nothing about its spread."""


class Counts(NamedTuple):
    """Judged and hallucinated answers of the nested subsample."""

    judged: float
    hallucinated: float


class Block(NamedTuple):
    """Counts of one local day, or of one hour while a slice is in its first two days."""

    start: datetime
    end: datetime
    judged: float
    hallucinated: float


class Beta(NamedTuple):
    """A Beta distribution."""

    a: float
    b: float

    @property
    def mean(self) -> float:
        """Its mean."""
        return self.a / (self.a + self.b)

    def quantile(self, level: float) -> float:
        """The value that it stays below with probability ``level``."""
        return float(betaincinv(self.a, self.b, level))


def lag(answers_per_day: float, age: timedelta) -> timedelta:
    """Age that counts must have: 7 days at ≥ 300 answers a day, else 14, but never more than half the slice's age.

    Half the age is what a young slice has instead: its older half is the reference of its newer half, read at the
    cautious quantile of ``cautious_level``.
    """
    full = timedelta(days=7) if answers_per_day >= 300 else timedelta(days=14)  # noqa: PLR2004 - named in the docstring
    return min(full, age / 2)


def window(answers_per_day: float) -> timedelta:
    """How far back counts are used: 60 days, 90 for slices below 50 answers a day."""
    return timedelta(days=60 if answers_per_day >= 50 else 90)  # noqa: PLR2004 - named in the docstring


def cautious_level(age: timedelta, positives: float) -> float:
    """Quantile of the reference: 0.95 until 7 days and 50 hallucinated answers, 0.9 until 14 days, then 0.7.

    >>> cautious_level(timedelta(days=20), 10), cautious_level(timedelta(days=9), 80), cautious_level(15 * DAY, 80)
    (0.95, 0.9, 0.7)
    """
    if age < 7 * DAY or positives < 50:  # noqa: PLR2004 - named in the docstring
        return 0.95
    return 0.9 if age < 14 * DAY else 0.7


def usable(history: Sequence[Block], now: datetime, age: timedelta) -> Counts:
    """The counts of ``history`` that are old enough, and not too old, at ``now``."""
    per_day = sum(block.judged for block in history) / max(age / DAY, 1.0)
    newest = now - lag(per_day, age)
    oldest = newest - window(per_day)
    chosen = [block for block in history if block.end <= newest and block.start >= oldest]
    return Counts(math.fsum(block.judged for block in chosen), math.fsum(block.hallucinated for block in chosen))


def tier_prior(cells: Sequence[Counts], expected_rate: float) -> Beta:
    """Empirical-Bayes prior of a tier by moments over its cells, ``expected_rate`` counting as ten more answers.

    The strength follows from the variance between cells that binomial noise does not explain. With fewer than three
    cells of twenty answers it is ``expected_rate`` alone: a cell's own counts must not serve as its prior as well.
    """
    telling = [cell for cell in cells if cell.judged >= FEWEST_ANSWERS]
    if len(telling) < FEWEST_CELLS:
        return _beta(expected_rate, PRIOR_ANSWERS)
    judged = math.fsum(cell.judged for cell in cells) + PRIOR_ANSWERS
    mean = (math.fsum(cell.hallucinated for cell in cells) + PRIOR_ANSWERS * expected_rate) / judged
    return _beta(mean, _strength(telling))


def posterior(prior: Beta, counts: Counts) -> Beta:
    """The Beta posterior after ``counts``; fractional hallucinated answers are allowed."""
    good = max(counts.judged - counts.hallucinated, 0.0)
    return Beta(prior.a + counts.hallucinated, prior.b + good)


def pooled_day_cv(histories: Sequence[Sequence[Block]]) -> float:
    """Day-to-day coefficient of variation of the rate by moments, pooled over slices; not floored.

    Each slice's days are compared with its own mean; binomial noise is taken off. Shrunk to 5 % as far as the
    estimate is noisier than what is known beforehand, so a handful of thin slices cannot make the test deaf.
    """
    excess = weight = noise = 0.0
    for history in histories:
        days = [block for block in history if block.end - block.start >= SHORTEST_CV_BLOCK and block.judged > 0]
        judged = math.fsum(day.judged for day in days)
        if len(days) < FEWEST_CELLS or judged <= 0:
            continue
        rate = math.fsum(day.hallucinated for day in days) / judged
        for day in days:
            expected = day.judged * rate
            freed = 1.0 - day.judged / judged  # the mean was estimated from the same days
            excess += (day.hallucinated - expected) ** 2 - expected * (1.0 - rate) * freed
            weight += expected * expected * freed
            noise += 2.0 * expected * expected + expected
    if weight <= 0.0:
        return CV_GUESS
    error2 = noise / (weight * weight)
    trust = _CV2_SPREAD**2 / (_CV2_SPREAD**2 + error2)
    squared = trust * excess / weight + (1.0 - trust) * CV_GUESS**2
    return min(math.sqrt(max(squared, 0.0)), CV_CEILING)


def day_shape(pooled_cv: float, answers_per_day: float) -> float:
    """Shape s = 1 / CV² of the day effect, with the floor of 3 %, or 5 % for slices of 5,000 answers a day.

    >>> round(day_shape(0.0, 100)), round(day_shape(0.0, 6000))
    (1111, 400)
    """
    floor = CV_FLOOR_BUSY if answers_per_day >= BUSY_PER_DAY else CV_FLOOR
    return 1.0 / max(pooled_cv, floor) ** 2


def _beta(mean: float, strength: float) -> Beta:
    """The Beta of this mean and strength, but never with a vanishing ``a``: its upper quantiles would be near 0."""
    mean = min(max(mean, 1e-4), 0.95)
    return Beta(max(mean * strength, SMALLEST_A), (1.0 - mean) * strength)


def _strength(cells: Sequence[Counts]) -> float:
    """a0 + b0 by moments, from the variance between cells beyond the binomial one."""
    judged = math.fsum(cell.judged for cell in cells)
    mean = math.fsum(cell.hallucinated for cell in cells) / judged
    within = mean * (1.0 - mean)
    spread = math.fsum(cell.judged * (cell.hallucinated / cell.judged - mean) ** 2 for cell in cells)
    free = judged - math.fsum(cell.judged**2 for cell in cells) / judged
    between = (spread - (len(cells) - 1) * within) / free
    low, high = PRIOR_STRENGTH
    if between <= 0.0 or within <= 0.0:
        return high
    return min(max(within / between - 1.0, low), high)
