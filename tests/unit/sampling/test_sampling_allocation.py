"""Allocation of a budget of checks over strata."""

from itertools import pairwise

import numpy as np
import pytest

from sampling.allocation import StratumSize, allocate, multi_level, neyman
from schemas.errors import ConfigError
from schemas.labels import RiskTier

LOW, HIGH = RiskTier.LOW, RiskTier.HIGH
SIZES = (
    StratumSize("big", LOW, "weak", 2_000, 0.2),
    StratumSize("big", LOW, "rest", 18_000, 0.02),
    StratumSize("big", HIGH, "rest", 3_000, 0.05),
    StratumSize("small", LOW, "weak", 60, 0.2),
    StratumSize("small", LOW, "rest", 400, 0.02),
)


def checks(sizes: tuple[StratumSize, ...], found: tuple[float, ...]) -> float:
    """Expected number of checks."""
    return sum(size.traffic * pi for size, pi in zip(sizes, found, strict=True))


@pytest.mark.parametrize("budget", [10, 500, 5_000, 20_000])
@pytest.mark.parametrize("max_spread", [None, 3.0])
def test_budget_is_spent_exactly(budget: float, max_spread: float | None) -> None:
    """Floors, caps and spreads hand what they take or leave to the others."""
    found = allocate(SIZES, budget, max_spread=max_spread)
    assert checks(SIZES, found) == pytest.approx(budget, rel=1e-6)


def test_neyman_shares_follow_size_times_deviation() -> None:
    """n_h ~ N_h sqrt(p(1 - p))."""
    assert list(neyman(SIZES[:2])) == pytest.approx([2_000 * 0.4, 18_000 * 0.14])


def test_multi_level_serves_small_slices() -> None:
    """By hand for two equal strata of one cell: S · sqrt(4 (N / bad)²); a small intent gets more than its share."""
    pair = (StratumSize("a", LOW, "x", 100, 0.1), StratumSize("a", LOW, "y", 100, 0.1))
    assert list(multi_level(pair)) == pytest.approx([0.3 * np.sqrt(4 * (100 / 20) ** 2)] * 2)
    wish = multi_level(SIZES)
    assert wish[3] / wish.sum() > 60 / 23_460


def test_probabilities_stay_within_the_spread_of_their_cell() -> None:
    """Strata of one intent and tier differ by that factor at most, where they would differ by more."""
    found = allocate(SIZES, 2_000, max_spread=2.0)
    free = allocate(SIZES, 2_000, max_spread=None)
    assert free[0] > 2 * free[1]
    assert found[0] == pytest.approx(2 * found[1])


def test_floor_count_is_met_or_everything_taken() -> None:
    """A stratum of 60 gives 60 at most."""
    found = allocate(SIZES, 5_000, floor_count=100, max_spread=None)
    for size, pi in zip(SIZES, found, strict=True):
        assert pi * size.traffic >= min(100, size.traffic) - 1e-6


def test_more_budget_than_traffic_checks_everything() -> None:
    """The cap holds."""
    assert (1.0,) * 5 == allocate(SIZES, 10**6)
    assert (0.5,) * 5 == allocate(SIZES, 10**6, cap=0.5)


def test_budget_below_the_floors_is_refused_with_what_they_need() -> None:
    """The message says how much would do."""
    with pytest.raises(ConfigError, match="budget = 100 checks is below what the floors need, 460"):
        allocate(SIZES, 100, floor_count=100, max_spread=None)


def test_stratum_without_traffic_has_a_probability() -> None:
    """It may appear tomorrow; inside a cell it gets what the spread asks for."""
    sizes = (*SIZES, StratumSize("big", LOW, "new", 0, 0.05))
    found = allocate(sizes, 2_000)
    assert found[5] == pytest.approx(max(found[:2]) / 3)


def test_nothing_to_allocate_is_nothing() -> None:
    """No strata, no probabilities."""
    assert () == allocate((), 100)


def test_only_empty_strata_have_the_smallest_probability() -> None:
    """Without any traffic there is no wish to scale."""
    assert (1e-6,) == allocate((StratumSize("a", LOW, "rest", 0, 0.05),), 100)


def test_more_budget_never_lowers_a_probability() -> None:
    """Raising the budget only adds traces."""
    for less, more in pairwise(allocate(SIZES, budget, floor_count=5) for budget in (100, 300, 1_000, 4_000, 20_000)):
        assert all(small <= large * (1 + 1e-9) for small, large in zip(less, more, strict=True))
