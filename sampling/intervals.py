"""Confidence intervals for a share: textbook ones for simple samples, Korn-Graubard for stratified weighted ones.

All take fractional counts, because calibrated verdicts are fractions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

from scipy.special import betaincinv, ndtri


def clopper_pearson(k: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Exact interval of ``k`` hits among ``n`` (Clopper and Pearson 1934); [0, 1] when nothing was observed.

    >>> low, high = clopper_pearson(5, 100)
    >>> round(low, 4), round(high, 4)
    (0.0164, 0.1128)
    """
    if n <= 0:
        return 0.0, 1.0
    k = min(max(k, 0.0), n)
    tail = (1 - level) / 2
    low = float(betaincinv(k, n - k + 1, tail)) if k > 0 else 0.0
    high = float(betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0
    return low, high


def wilson(k: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Score interval of ``k`` hits among ``n`` (Wilson 1927); [0, 1] when nothing was observed.

    >>> low, high = wilson(5, 100)
    >>> round(low, 4), round(high, 4)
    (0.0215, 0.1118)
    """
    if n <= 0:
        return 0.0, 1.0
    z = float(ndtri((1 + level) / 2))
    p = min(max(k / n, 0.0), 1.0)
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(middle - half, 0.0), min(middle + half, 1.0)


@dataclass(frozen=True, slots=True)
class Part:
    """One stratum of a share: ``weight`` W_h (all sum to 1), ``rate`` p_h over an effective sample of ``size`` n_h.

    ``domain_share`` q_h is the part of the stratum's sample that the share is about; below 1, W_h itself is estimated.
    ``population`` N_h is how many units of all traffic the stratum stands for.
    """

    weight: float
    rate: float
    size: float
    domain_share: float = 1.0
    population: float = inf


def korn_graubard(parts: Sequence[Part], level: float = 0.95) -> tuple[float, float, float]:
    """The post-stratified share p = Σ W_h p_h and its interval: Clopper-Pearson at the effective sample size.

    Korn and Graubard 1998: n_eff = p(1 - p) / v with v = Σ W_h² [p̃_h(1 - p̃_h) + (1 - q_h)(p_h - p)²] / n_h. Inside
    each stratum p̃_h = (k_h + 2p) / (n_h + 2), so that a small stratum without a hit is not taken for certain; the
    second term is the linearised variance of estimated weights. The rate is that of the process behind the traffic, not
    of the traffic that happened to come: Σ W_h (p_h - p)² / N is what chance does to the sizes of the strata (the
    superpopulation view of survey sampling), so a fully drawn slice keeps its binomial interval. Parts need a positive
    size; at least one part.
    """
    p, n_eff = effective_sample(parts)
    low, high = clopper_pearson(p * n_eff, n_eff, level)
    return p, low, high


def effective_sample(parts: Sequence[Part]) -> tuple[float, float]:
    """The share p = Σ W_h p_h and the size n_eff of a simple sample that knows it as well; see ``korn_graubard``."""
    p = min(max(sum(part.weight * part.rate for part in parts), 0.0), 1.0)
    kish = 1 / sum(part.weight**2 / part.size for part in parts)
    variance = sum(part.weight**2 * _variance(part, p) / part.size for part in parts) + _traffic_variance(parts, p)
    # All hits or none say nothing about the spread; then only the weights count.
    return p, (p * (1 - p) / variance if 0 < p < 1 and variance > 0 else kish)


def _traffic_variance(parts: Sequence[Part], p: float) -> float:
    return sum(part.weight * (part.rate - p) ** 2 for part in parts) / sum(part.population for part in parts)


def _variance(part: Part, p: float) -> float:
    shrunk = (part.rate * part.size + 2 * p) / (part.size + 2)
    return shrunk * (1 - shrunk) + (1 - part.domain_share) * (part.rate - p) ** 2
