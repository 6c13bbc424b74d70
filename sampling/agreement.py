"""How well two reviewers agree beyond chance: Cohen's kappa with an interval that holds for small sets."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt

from scipy.special import ndtri


@dataclass(frozen=True, slots=True)
class Agreement:
    """Kappa of ``n`` pairs in [low, high]; ``observed`` is the share that agrees, ``kappa`` None where it says nothing.

    Kappa needs two labels to occur; where both reviewers gave one and the same label throughout it is not defined.
    """

    n: int
    observed: float | None
    kappa: float | None
    low: float
    high: float


def cohen_kappa(pairs: Sequence[tuple[Hashable, Hashable]], level: float = 0.95) -> Agreement:
    """Kappa = (p_o − p_e) / (1 − p_e), with the standard error of Fleiss, Cohen and Everitt (1969).

    The interval is that of the counts with half a pair added to each cell, widened to hold kappa itself: a small set
    without a disagreement is not taken for certain agreement.

    >>> found = cohen_kappa([("a", "a")] * 20 + [("a", "b")] * 5 + [("b", "a")] * 10 + [("b", "b")] * 15)
    >>> round(found.kappa, 2), found.n
    (0.4, 50)
    """
    n = len(pairs)
    if not n:
        return Agreement(0, None, None, -1.0, 1.0)
    counts = Counter(pairs)
    labels = sorted({label for pair in pairs for label in pair}, key=str)
    observed = sum(counts[label, label] for label in labels) / n
    if len(labels) == 1:
        return Agreement(n, observed, None, -1.0, 1.0)
    cells = {(one, other): float(counts[one, other]) for one in labels for other in labels}
    smooth = {cell: number + 0.5 for cell, number in cells.items()}
    kappa, _ = _kappa(cells, labels)
    middle, error = _kappa(smooth, labels)
    half = float(ndtri((1 + level) / 2)) * error
    return Agreement(n, observed, kappa, max(min(middle - half, kappa), -1.0), min(max(middle + half, kappa), 1.0))


def _kappa(cells: dict[tuple[Hashable, Hashable], float], labels: Sequence[Hashable]) -> tuple[float, float]:
    """Kappa and its standard error from a square table of counts."""
    n = sum(cells.values())
    p = {cell: number / n for cell, number in cells.items()}
    rows = {label: sum(p[label, other] for other in labels) for label in labels}
    columns = {label: sum(p[other, label] for other in labels) for label in labels}
    agreed = sum(p[label, label] for label in labels)
    chance = sum(rows[label] * columns[label] for label in labels)
    kappa = (agreed - chance) / (1 - chance)
    on = sum(p[label, label] * (1 - (rows[label] + columns[label]) * (1 - kappa)) ** 2 for label in labels)
    off = (1 - kappa) ** 2 * sum(
        p[one, other] * (columns[one] + rows[other]) ** 2 for one in labels for other in labels if one != other
    )
    rest = (kappa - chance * (1 - kappa)) ** 2
    return kappa, sqrt(max(on + off - rest, 0.0) / n) / (1 - chance)
