"""How many checks each stratum gets for a budget: half for the overall rate, half for the rates of small slices.

Neyman's allocation serves the overall rate and leaves small intents without a sample; the multi-level one serves every
tier, intent and cell alike and wastes the overall rate. Half of each loses little on either side.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from sampling.effective import SMALLEST_PROBABILITY
from schemas.errors import ConfigError
from schemas.labels import RiskTier

Floats = NDArray[np.float64]
_RATE_RANGE = (1e-3, 1 - 1e-3)
"""A rate of exactly 0 or 1 would end the sampling that could refute it."""
_NO_TRAFFIC = 1e-6
"""Fewer traces than this in a period are none: squares of smaller numbers leave the range of a double."""


@dataclass(frozen=True, slots=True)
class StratumSize:
    """A stratum to allocate to: ``traffic`` N per period, ``rate`` p expected (smoothed, never a raw 0)."""

    intent: str
    tier: RiskTier
    stratum: str
    traffic: float
    rate: float


_Level = Callable[[StratumSize], Hashable]
_LEVELS: tuple[_Level, ...] = (
    lambda _: "overall",
    lambda size: size.tier,
    lambda size: size.intent,
    lambda size: (size.intent, size.tier),
)


def allocate(  # noqa: PLR0913  # each is a knob of the design with a default
    sizes: Sequence[StratumSize],
    budget: float,
    *,
    overall_share: float = 0.5,
    floor_count: float = 0.0,
    cap: float = 1.0,
    max_spread: float | None = 3.0,
) -> tuple[float, ...]:
    """Inclusion probabilities, in the order of ``sizes``, whose expected number of checks is ``budget`` per period.

    ``overall_share`` of the wish is Neyman's, the rest multi-level; every stratum gets at least ``floor_count`` checks
    (or all it has) and at most ``cap`` of its traffic; inside an intent and tier, probabilities differ by at most
    ``max_spread`` (None: any), so the floor of a small stratum can raise its whole cell.
    A budget above what ``cap`` allows gives ``cap`` everywhere; one below the floors is a ConfigError.
    """
    if not sizes:
        return ()
    traffic = _traffic(sizes)
    # What no traffic was seen for has no wish; the floor or the spread of its cell gives it a probability.
    per_trace = np.divide(_wish(sizes, overall_share), traffic, out=np.zeros(len(sizes)), where=traffic > 0)
    floor = np.clip(
        np.divide(floor_count, traffic, out=np.zeros(len(sizes)), where=traffic > 0), SMALLEST_PROBABILITY, cap
    )
    cells = _codes([(size.intent, size.tier) for size in sizes])

    def at(scale: float) -> Floats:
        wanted = np.clip(scale * per_trace, floor, cap)
        if max_spread is not None:
            wanted = np.maximum(wanted, _group_max(wanted, cells) / max_spread)
        return np.asarray(wanted)

    def excess(scale: float) -> float:
        return float(at(scale) @ traffic) - budget

    if excess(0.0) > 0:
        message = f"budget = {budget} checks is below what the floors need, {excess(0.0) + budget:.0f}; raise it"
        raise ConfigError(message)
    # The cost grows with the scale, so water-filling the floors, caps and spreads is one search for the scale.
    largest = cap / per_trace[per_trace > 0].min() if (per_trace > 0).any() else 0.0
    scale = largest if excess(largest) <= 0 else float(brentq(excess, 0.0, largest, xtol=1e-12 * largest))
    return tuple(float(probability) for probability in at(scale))


def neyman(sizes: Sequence[StratumSize]) -> Floats:
    """Relative sample sizes for the overall rate: n_h ~ N_h S_h (Neyman 1934), S² = p(1 - p)."""
    return _traffic(sizes) * _deviations(sizes)


def multi_level(sizes: Sequence[StratumSize]) -> Floats:
    """Relative sample sizes for equal relative precision on all levels: overall, tier, intent, cell.

    n_h ~ S_h sqrt(sum over slices s that contain h of a_s W_{h|s}² / p_s²), a_s = 1 / slices on that level; W is the
    stratum's share of the slice's traffic (power allocation, Bankier 1988, over nested levels).
    """
    traffic = _traffic(sizes)
    bad = traffic * _rates(sizes)
    inner = np.zeros(len(sizes))
    for level in _LEVELS:
        codes = _codes([level(size) for size in sizes])
        slice_bad = np.bincount(codes, bad)[codes]
        # W / p = (N_h / N_s) / (bad_s / N_s): the slice's traffic cancels.
        inner += np.divide(traffic, slice_bad, out=np.zeros(len(sizes)), where=slice_bad > 0) ** 2 / (codes.max() + 1)
    return np.asarray(_deviations(sizes) * np.sqrt(inner))


def _wish(sizes: Sequence[StratumSize], overall_share: float) -> Floats:
    return overall_share * _normalised(neyman(sizes)) + (1 - overall_share) * _normalised(multi_level(sizes))


def _normalised(weights: Floats) -> Floats:
    total = weights.sum()
    return np.asarray(weights / total) if total > 0 else weights


def _traffic(sizes: Sequence[StratumSize]) -> Floats:
    traffic: Floats = np.array([size.traffic for size in sizes], float)
    return np.where(traffic < _NO_TRAFFIC, 0.0, traffic)


def _rates(sizes: Sequence[StratumSize]) -> Floats:
    return np.asarray(np.clip(np.array([size.rate for size in sizes], float), *_RATE_RANGE))


def _deviations(sizes: Sequence[StratumSize]) -> Floats:
    rates = _rates(sizes)
    return np.asarray(np.sqrt(rates * (1 - rates)))


def _codes(keys: Sequence[Hashable]) -> NDArray[np.intp]:
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return np.array([numbers[key] for key in keys], np.intp)


def _group_max(values: Floats, codes: NDArray[np.intp]) -> Floats:
    largest: Floats = np.zeros(codes.max() + 1)
    np.maximum.at(largest, codes, values)
    return np.asarray(largest[codes])
