"""What a jump is measured against, and from which days."""

import math
from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import pytest
from scipy.stats import beta

from alerts.reference import (
    Beta,
    Block,
    Counts,
    cautious_level,
    day_shape,
    lag,
    pooled_day_cv,
    posterior,
    tier_prior,
    usable,
    window,
)
from tests.unit.alerts.worlds import DAY, START


def days(counts: Sequence[tuple[float, float]]) -> list[Block]:
    """One block a day from the start of the world on."""
    return [Block(START + i * DAY, START + (i + 1) * DAY, n, k) for i, (n, k) in enumerate(counts)]


@pytest.mark.parametrize(
    ("per_day", "age_days", "expected"), [(300, 30, 7), (299, 30, 14), (300, 10, 5), (20, 10, 5), (20, 0, 0)]
)
def test_lag_is_seven_or_fourteen_days_but_at_most_half_the_age(per_day: float, age_days: int, expected: float) -> None:
    """Busy slices use counts older than a week, thin ones older than two, young ones their older half."""
    assert expected * DAY == lag(per_day, age_days * DAY)


def test_thin_slices_look_further_back() -> None:
    """Ninety days below fifty answers a day, else sixty."""
    assert (90 * DAY, 60 * DAY) == (window(49), window(50))


@pytest.mark.parametrize(
    ("age_days", "positives", "expected"),
    [(1, 500, 0.95), (8, 49, 0.95), (8, 50, 0.9), (13.9, 500, 0.9), (14, 500, 0.7), (60, 10, 0.95)],
)
def test_quantile_follows_the_cold_start_schedule(age_days: float, positives: int, expected: float) -> None:
    """Cautious while young or while little has been seen, whatever comes later."""
    assert expected == cautious_level(age_days * DAY, positives)


def test_recent_days_do_not_teach_the_reference() -> None:
    """At 300 a day, the last seven days of a 30-day history stay out."""
    history = days([(300, 15)] * 23 + [(300, 60)] * 7)
    assert Counts(23 * 300, 23 * 15) == usable(history, START + 30 * DAY, 30 * DAY)


def test_days_beyond_the_window_are_left_out() -> None:
    """At 300 a day only 60 days before the lag count."""
    history = days([(300, 90)] * 13 + [(300, 15)] * 67)
    assert Counts(60 * 300, 60 * 15) == usable(history, START + 80 * DAY, 80 * DAY)


def test_upper_quantile_agrees_with_scipy() -> None:
    """The reference is the quantile of the Beta posterior."""
    belief = posterior(Beta(2.0, 38.0), Counts(1000, 50))
    assert pytest.approx(beta.ppf(0.7, 52.0, 988.0)) == belief.quantile(0.7)


def test_prior_of_a_tier_with_few_cells_is_the_expected_rate() -> None:
    """A cell alone in its tier does not become its own prior."""
    prior = tier_prior([Counts(500, 0)], 0.05)
    assert (0.05, 10.0) == pytest.approx((prior.mean, prior.a + prior.b))


def test_prior_of_equal_cells_is_strong_and_of_unequal_ones_weak() -> None:
    """The less the cells differ, the more a thin one is told by the others."""
    equal = tier_prior([Counts(1000, 50)] * 10, 0.05)
    unequal = tier_prior([Counts(1000, 10), Counts(1000, 200)] * 5, 0.05)
    assert unequal.a + unequal.b < 50 < equal.a + equal.b


def test_prior_finds_the_spread_that_made_the_cells() -> None:
    """Rates drawn from Beta(4, 76) give a prior of about that mean and strength."""
    rng = np.random.default_rng(1)
    rates = rng.beta(4, 76, 400)
    prior = tier_prior([Counts(500, int(rng.binomial(500, rate))) for rate in rates], 0.5)
    assert pytest.approx(0.05, rel=0.1) == prior.mean
    assert pytest.approx(80, rel=0.3) == prior.a + prior.b


def test_prior_never_lets_an_upper_quantile_vanish() -> None:
    """Cells without a single hallucinated answer still leave a reference above zero."""
    prior = tier_prior([Counts(50, 0)] * 5, 0.001)
    assert posterior(prior, Counts(50, 0)).quantile(0.95) > 0.005


@pytest.mark.parametrize("cv", [0.0, 0.1, 0.2])
def test_day_spread_is_found_by_moments(cv: float) -> None:
    """Pooled over slices, the estimate comes close to the truth."""
    rng = np.random.default_rng(2)
    histories = []
    for _ in range(20):
        effects = rng.gamma(cv**-2, cv**2, 60) if cv else np.ones(60)
        histories.append(days([(1000, int(rng.binomial(1000, 0.05 * effect))) for effect in effects]))
    assert pytest.approx(cv, abs=0.035) == pooled_day_cv(histories)


def test_hourly_blocks_say_nothing_of_the_day_spread() -> None:
    """Without whole days the usual 5 % is assumed."""
    hours = [Block(START + timedelta(hours=i), START + timedelta(hours=i + 1), 10, i % 9) for i in range(40)]
    assert pooled_day_cv([hours]) == 0.05


def test_spread_has_a_floor() -> None:
    """Three per cent, and five for slices of 5,000 answers a day."""
    assert pytest.approx((0.03, 0.05, 0.2)) == tuple(
        1 / math.sqrt(day_shape(cv, per_day)) for cv, per_day in ((0.0, 100), (0.0, 5000), (0.2, 5000))
    )
