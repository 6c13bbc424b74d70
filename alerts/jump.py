"""The kernel of the jump test: a Shiryaev-Roberts e-detector with odds-ratio bets and a gamma day effect.

All arithmetic is on logarithms, because one bucket of a busy slice can hold a factor beyond the range of a float.
Shin, Ramdas, Rinaldo (e-detectors, 2022); the bets are Bernoulli likelihood ratios, exact for any rate in [0, 1).
"""

import math
from collections.abc import Sequence

MINUS_INFINITY = -math.inf


def exposure_per_answer(rate: float, odds_ratio: float) -> float:
    """Exposure of one judged answer at reference ``rate``: ln(1 + (R − 1) p) / (R − 1).

    >>> round(exposure_per_answer(0.05, 2.0), 6) == round(math.log(1.05), 6)
    True
    """
    return math.log1p((odds_ratio - 1.0) * rate) / (odds_ratio - 1.0)


def log_factor(hallucinated: float, exposure: float, odds_ratio: float) -> float:
    """Log of the e-factor without a day effect: R^k exp(−(R − 1) x), the Bernoulli likelihood ratio.

    E-value for every conditional mean at or below the reference, since R^y ≤ 1 + (R − 1) y for y in [0, 1].

    >>> direct = 2**3 / 1.05**20                 # k = 3 of n = 20 at p = 0.05
    >>> math.isclose(math.exp(log_factor(3, 20 * exposure_per_answer(0.05, 2.0), 2.0)), direct)
    True
    """
    return hallucinated * math.log(odds_ratio) - (odds_ratio - 1.0) * exposure


def log_factor_in_day(
    hallucinated: float, exposure: float, odds_ratio: float, shape: float, day: tuple[float, float]
) -> float:
    """Log of the e-factor when days have a common gamma effect of mean 1 and CV ``shape`` ** −½.

    ``day`` is (K, E) of today before this bucket. The product over a day's buckets is the factor of the whole day:

    >>> whole = log_factor_in_day(7, 4.0, 2.0, 400.0, (0.0, 0.0))
    >>> parts = log_factor_in_day(3, 1.5, 2.0, 400.0, (0.0, 0.0)) + log_factor_in_day(4, 2.5, 2.0, 400.0, (3.0, 1.5))
    >>> math.isclose(whole, parts)
    True

    It is the formula as published, and without dispersion it is ``log_factor``:

    >>> k, x, s, R, K, E = 4, 2.5, 400.0, 2.0, 3.0, 1.5
    >>> direct = (k * math.log(R) - (s + K + k) * math.log((s + R * (E + x)) / (s + E + x))
    ...           + (s + K) * math.log((s + R * E) / (s + E)))
    >>> math.isclose(log_factor_in_day(k, x, R, s, (K, E)), direct)
    True
    >>> math.isclose(log_factor_in_day(k, x, R, 1e12, (K, E)), log_factor(k, x, R), rel_tol=1e-4)
    True
    """
    seen, before = day
    gain = odds_ratio - 1.0
    after = before + exposure
    return (
        hallucinated * math.log(odds_ratio)
        - (shape + seen + hallucinated) * math.log1p(gain * after / (shape + after))
        + (shape + seen) * math.log1p(gain * before / (shape + before))
    )


def inject(log_statistics: Sequence[float], mass: float) -> tuple[float, ...]:
    """The statistics M_j with ``mass`` spread evenly over them; wall-clock budget and deploy lumps enter here.

    >>> [round(math.exp(m), 3) for m in inject((MINUS_INFINITY, math.log(0.1)), 0.2)]
    [0.1, 0.2]
    """
    if mass <= 0.0:
        return tuple(log_statistics)
    share = math.log(mass / len(log_statistics))
    return tuple(log_add(one, share) for one in log_statistics)


def log_add(one: float, other: float) -> float:
    """Log of the sum of two numbers given by their logs.

    >>> round(math.exp(log_add(math.log(2.0), math.log(3.0))), 12)
    5.0
    >>> log_add(MINUS_INFINITY, MINUS_INFINITY)
    -inf
    """
    low, high = (one, other) if one < other else (other, one)
    if low == MINUS_INFINITY:
        return high
    return high + math.log1p(math.exp(low - high))


def log_sum(logs: Sequence[float]) -> float:
    """Log of the sum of numbers given by their logs; −inf for none."""
    total = MINUS_INFINITY
    for one in logs:
        total = log_add(total, one)
    return total
