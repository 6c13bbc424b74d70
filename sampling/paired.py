"""Two runs over the same cases: an exact test of what changed, and an interval for the difference of two paired shares.

Only cases whose result differs tell the runs apart; comparing the two shares as if they came from different cases would
throw away most of what a golden set of a hundred cases can show.
"""

from dataclasses import dataclass
from math import sqrt

from scipy.special import bdtr

from sampling.intervals import wilson


@dataclass(frozen=True, slots=True)
class PairedCounts:
    """Cases by their results in two runs; ``lost`` were good before and are not now, ``gained`` the other way round."""

    both: int = 0
    lost: int = 0
    gained: int = 0
    neither: int = 0

    @property
    def n(self) -> int:
        """All pairs."""
        return self.both + self.lost + self.gained + self.neither


def mcnemar_exact(lost: int, gained: int) -> float:
    """Two-sided p-value that changes go both ways alike (McNemar 1947; exact binomial); 1 when nothing changed.

    >>> round(mcnemar_exact(1, 7), 4)
    0.0703
    """
    n = lost + gained
    return min(1.0, 2 * float(bdtr(min(lost, gained), n, 0.5))) if n else 1.0


def paired_difference(counts: PairedCounts, level: float = 0.95) -> tuple[float, float, float]:
    """Share now minus share before, with its interval; (0, −1, 1) without a pair.

    Newcombe 1998 ("Improved confidence intervals for the difference between binomial proportions based on paired
    data", Statistics in Medicine 17), method 10: Wilson limits of both shares, joined by their correlation with a
    continuity correction. It holds where nothing changed and in small sets.

    >>> [round(value, 3) for value in paired_difference(PairedCounts(both=1, lost=1, gained=7, neither=12))]
    [0.286, 0.026, 0.507]
    """
    n = counts.n
    if not n:
        return 0.0, -1.0, 1.0
    now, before = (counts.both + counts.gained) / n, (counts.both + counts.lost) / n
    now_low, now_high = wilson(now * n, n, level)
    before_low, before_high = wilson(before * n, n, level)
    phi = _correlation(counts)
    down, up = (now - now_low, before_high - before), (now_high - now, before - before_low)
    difference = (counts.gained - counts.lost) / n
    low = difference - _joined(*down, phi)
    high = difference + _joined(*up, phi)
    return difference, max(low, -1.0), min(high, 1.0)


def _joined(one: float, other: float, phi: float) -> float:
    return sqrt(max(one * one - 2 * phi * one * other + other * other, 0.0))


def _correlation(counts: PairedCounts) -> float:
    """Phi with its numerator moved half a case towards none; 0 where a run has one result throughout."""
    both, lost, gained, neither = counts.both, counts.lost, counts.gained, counts.neither
    margins = (both + lost) * (gained + neither) * (both + gained) * (lost + neither)
    if not margins:
        return 0.0
    product = both * neither - lost * gained
    corrected = max(product - counts.n / 2, 0.0) if product > 0 else product
    return corrected / sqrt(margins)
