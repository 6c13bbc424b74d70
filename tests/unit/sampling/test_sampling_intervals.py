"""Intervals against published and exact values."""

import pytest
from scipy import stats

from sampling.intervals import Part, clopper_pearson, korn_graubard, wilson


@pytest.mark.parametrize(("k", "n"), [(0, 10), (1, 10), (5, 100), (10, 10), (37, 1000)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_intervals_equal_those_of_scipy(k: int, n: int, level: float) -> None:
    """An independent implementation agrees."""
    test = stats.binomtest(k, n)
    exact, score = test.proportion_ci(level, "exact"), test.proportion_ci(level, "wilson")
    assert (exact.low, exact.high) == pytest.approx(clopper_pearson(k, n, level))
    assert (score.low, score.high) == pytest.approx(wilson(k, n, level), abs=1e-12)


def test_nothing_observed_leaves_everything_possible() -> None:
    """An empty sample says nothing."""
    assert (0.0, 1.0) == clopper_pearson(0, 0)
    assert (0.0, 1.0) == wilson(0, 0)


def test_fractional_counts_lie_between_whole_ones() -> None:
    """Calibrated verdicts add up to fractions."""
    lows, highs = zip(*(clopper_pearson(k, 50) for k in (2, 2.5, 3)), strict=True)
    assert lows == tuple(sorted(lows))
    assert highs == tuple(sorted(highs))


@pytest.mark.parametrize(("k", "n"), [(0, 40), (3, 40), (40, 40)])
def test_one_unweighted_stratum_is_clopper_pearson(k: int, n: int) -> None:
    """The general interval reduces to the exact one."""
    assert (k / n, *clopper_pearson(k, n)) == pytest.approx(korn_graubard([Part(1.0, k / n, n)]))


def test_stratified_interval_matches_the_formula() -> None:
    """Two strata by hand: p = .7 · .02 + .3 · .2, v with two borrowed answers each."""
    found = [Part(0.7, 0.02, 100), Part(0.3, 0.2, 50)]
    p = 0.074
    first, second = (2 + 2 * p) / 102, (10 + 2 * p) / 52
    v = 0.49 * first * (1 - first) / 100 + 0.09 * second * (1 - second) / 50
    n_eff = p * (1 - p) / v
    assert (p, *clopper_pearson(p * n_eff, n_eff)) == pytest.approx(korn_graubard(found))


def test_estimated_weights_widen_the_interval() -> None:
    """Where only part of the sample is in the domain, the strata's shares are estimates too."""
    known = korn_graubard([Part(0.5, 0.02, 100), Part(0.5, 0.3, 100)])
    estimated = korn_graubard([Part(0.5, 0.02, 100, 0.5), Part(0.5, 0.3, 100, 0.5)])
    assert known[0] == estimated[0]
    assert estimated[2] - estimated[1] > known[2] - known[1]


def test_stratum_without_a_hit_is_not_taken_for_certain() -> None:
    """Three clean answers that stand for half the traffic leave much open."""
    _, _, high = korn_graubard([Part(0.5, 0.0, 3), Part(0.5, 0.1, 500)])
    assert high > 0.12
