"""The kernel against direct formulas, and far outside the range of a float."""

import math

import pytest

from alerts.jump import MINUS_INFINITY, exposure_per_answer, inject, log_add, log_factor, log_factor_in_day, log_sum


@pytest.mark.parametrize("odds_ratio", [0.5, 1.5, 2.0, 3.0, 5.0])
@pytest.mark.parametrize("rate", [0.001, 0.05, 0.6])
def test_factor_has_mean_one_at_the_reference(odds_ratio: float, rate: float) -> None:
    """The factor of one Bernoulli answer averages to exactly 1 when the reference is the truth."""
    exposure = exposure_per_answer(rate, odds_ratio)
    good, bad = (math.exp(log_factor(k, exposure, odds_ratio)) for k in (0, 1))
    assert math.isclose(1.0, (1 - rate) * good + rate * bad)


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 1.0])
def test_fractional_answers_keep_the_mean_below_one(share: float) -> None:
    """An answer that counts as ``share`` always has a factor of at most 1 + (R − 1) (y − p) / (1 + (R − 1) p)."""
    rate, odds_ratio = 0.05, 3.0
    factor = math.exp(log_factor(share, exposure_per_answer(rate, odds_ratio), odds_ratio))
    assert factor <= (1 + (odds_ratio - 1) * share) / (1 + (odds_ratio - 1) * rate) + 1e-12


def test_day_effect_makes_a_bad_day_speak_less() -> None:
    """Fifty too many in one day are less evidence when days differ by 10 % than when they do not."""
    exposure = 1000 * exposure_per_answer(0.05, 2.0)
    calm = log_factor(100, exposure, 2.0)
    restless = log_factor_in_day(100, exposure, 2.0, 1 / 0.1**2, (0.0, 0.0))
    assert restless < calm


def test_day_effect_has_mean_at_most_one_under_its_own_model() -> None:
    """Under a negative binomial day (gamma rate, Poisson counts) the factor averages to 1."""
    shape, exposure, odds_ratio = 100.0, 8.0, 2.0
    mean = 0.0
    for k in range(200):
        log_mass = (
            math.lgamma(shape + k)
            - math.lgamma(shape)
            - math.lgamma(k + 1)
            + shape * math.log(shape / (shape + exposure))
            + k * math.log(exposure / (shape + exposure))
        )
        mean += math.exp(log_mass + log_factor_in_day(k, exposure, odds_ratio, shape, (0.0, 0.0)))
    assert math.isclose(1.0, mean, rel_tol=1e-9)


def test_huge_bucket_does_not_overflow() -> None:
    """A bucket whose factor is beyond any float still gives a finite log statistic."""
    log = log_factor(1e6, 10.0, 5.0)
    assert math.isfinite(log_add(log, log))
    assert log > 1e6


def test_mass_is_spread_evenly_over_the_bets() -> None:
    """Injection into empty statistics gives each bet an equal share, and the sum is the mass."""
    after = inject((MINUS_INFINITY,) * 4, 0.2)
    assert pytest.approx([0.05] * 4) == [math.exp(one) for one in after]
    assert pytest.approx(0.2) == math.exp(log_sum(after))


def test_no_mass_changes_nothing() -> None:
    """Without a budget the statistics stay as they are."""
    assert (-1.0, -2.0) == inject((-1.0, -2.0), 0.0)
