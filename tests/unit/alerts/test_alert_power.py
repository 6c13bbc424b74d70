"""The formula behind operating points, against published figures and against the jump test itself."""

import math

import numpy as np
import pytest

from alerts.config import JumpConfig
from alerts.jump import exposure_per_answer, log_factor
from alerts.power import PERFECT, Marks, bet_growth, divergence, evidence_for_page, power_of

BETS = JumpConfig().odds_ratios
EVIDENCE = evidence_for_page(JumpConfig(), 200, 10)


def marks(sensitivity: float, specificity: float) -> Marks:
    """Of a yes-or-no detector."""
    return Marks(sensitivity, 1 - specificity)


@pytest.mark.parametrize(
    ("sensitivity", "specificity", "times"), [(0.73, 0.73, 16.2), (0.80, 0.97, 2.1), (0.35, 0.97, 7.8), (1.0, 1.0, 1.0)]
)
def test_a_weak_detector_needs_many_times_the_answers(sensitivity: float, specificity: float, times: float) -> None:
    """A true doubling of 5 %, relative to a perfect detector."""
    assert pytest.approx(times, rel=0.02) == power_of(marks(sensitivity, specificity), 0.05, BETS).times_true


@pytest.mark.parametrize(("base", "ratio"), [(0.0, 2.0), (0.5, 2.0), (0.6, 2.0), (0.1, 1.0)])
def test_a_rise_that_cannot_be_is_refused(base: float, ratio: float) -> None:
    """Nothing doubles beyond one, and a rise of one is none."""
    with pytest.raises(ValueError, match="cannot rise"):
        power_of(PERFECT, base, BETS, ratio)


def test_a_detector_that_is_wrong_more_than_right_finds_nothing() -> None:
    """Its apparent rate falls when the true one rises."""
    found = power_of(marks(0.3, 0.5), 0.05, BETS)
    assert (0.0, math.inf, math.inf) == (found.nats, found.times_true, found.answers(EVIDENCE))


def test_a_rise_smaller_than_every_bet_is_never_found() -> None:
    """16 times the answers would do for a test with a bet for it; the smallest bet is 1.5."""
    found = power_of(marks(0.73, 0.73), 0.05, BETS)
    assert 0 < found.ideal_nats < 0.002
    assert (0.0, math.inf) == (found.nats, found.answers(EVIDENCE))


def test_bets_gain_no_more_than_the_divergence() -> None:
    """Gibbs: no bet beats the likelihood ratio, and the bet at the true odds ratio attains it."""
    for before in (0.01, 0.05, 0.2, 0.4):
        for after in (before * 1.2, before * 2):
            odds = after / (1 - after) / (before / (1 - before))
            assert bet_growth(after, before, BETS) <= divergence(after, before) + 1e-12
            assert pytest.approx(divergence(after, before)) == bet_growth(after, before, (odds,))


def test_apparent_doublings_are_told_apart_from_true_ones() -> None:
    """False alarms make the apparent rate rise less; where it is above a half it cannot double."""
    found = power_of(marks(0.8, 0.8), 0.2, BETS)
    assert pytest.approx((0.32, 0.44)) == (found.apparent_before, found.apparent_after)
    assert found.times_apparent is not None
    assert found.times_apparent < 1 < found.times_true
    assert power_of(marks(0.9, 0.4), 0.2, BETS).times_apparent is None


def test_fractions_never_beat_the_best_threshold() -> None:
    """Growth is convex in the two means, which are linear in the marks: some yes-or-no marks are as good as any."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        good, bad = rng.dirichlet(np.ones(8)), rng.dirichlet(np.ones(8))
        order = np.argsort(bad / good)[::-1]
        cuts = [order[: number + 1] for number in range(8)]
        best = max(power_of(Marks(bad[cut].sum(), good[cut].sum()), 0.05, BETS).nats for cut in cuts)
        fraction = 0.05 * bad / (0.05 * bad + 0.95 * good)
        assert power_of(Marks(float(bad @ fraction), float(good @ fraction)), 0.05, BETS).nats <= best + 1e-12


@pytest.mark.parametrize("base", [0.05, 0.2])
@pytest.mark.parametrize(("sensitivity", "specificity"), [(1.0, 1.0), (0.9, 0.99), (0.8, 0.97), (0.6, 0.98)])
def test_the_jump_test_takes_as_many_answers_as_the_formula_says(
    base: float, sensitivity: float, specificity: float
) -> None:
    """Mean delay of the test's own statistic after a deploy with a known reference, within a fifth."""
    found = power_of(marks(sensitivity, specificity), base, BETS)
    rng = np.random.default_rng(7)
    steps = 5 * math.ceil(found.answers(EVIDENCE))
    hits = np.cumsum(rng.random((120, steps)) < found.apparent_after, axis=1)
    numbers = np.arange(1, steps + 1)
    logs = [
        log_factor(hits, numbers * exposure_per_answer(found.apparent_before, ratio), ratio)  # type: ignore[arg-type]  # it is arithmetic, for arrays too
        for ratio in BETS
    ]
    statistic = np.logaddexp.reduce(np.stack(logs), axis=0) - EVIDENCE
    assert (statistic.max(axis=1) >= 0).mean() > 0.95
    delays = np.argmax(statistic >= 0, axis=1)[statistic.max(axis=1) >= 0]
    assert pytest.approx(found.answers(EVIDENCE), rel=0.2) == delays.mean()
