"""The reverse test by itself."""

import math

import pytest

from alerts.recovery import Recovery, fed, reviewed, started

NO_DAY_EFFECT = 1e12


@pytest.mark.parametrize(
    ("judged", "hallucinated", "expected"),
    [(1000, 200, 2.0), (1000, 60, 1.25), (0, 0, 5.0), (1000, 1000, math.sqrt(20))],
)
def test_bar_is_the_root_of_the_ratio_since_the_onset(judged: int, hallucinated: int, expected: float) -> None:
    """Half of the rise on the log scale, at least 1.25 and with a ratio of at most 25."""
    assert pytest.approx(expected) == started(0.05, judged, hallucinated, 0).bar


def test_factor_is_fair_at_the_bar() -> None:
    """With the rate just at the bar, the evidence of one answer averages to 1, so it is an e-value above it."""
    test = started(0.05, 1000, 200, 0)
    good, bad = (math.exp(fed(test, 1, k, NO_DAY_EFFECT, 0).log_evidence) for k in (0, 1))
    assert pytest.approx(1.0, rel=1e-3) == (1 - test.held) * good + test.held * bad


def test_evidence_is_never_owed() -> None:
    """A bad week is no debt: the evidence starts at one again and again."""
    test = fed(Recovery(2.0, 0.1), 100, 60, 400.0, 0)
    assert test.log_evidence < 0
    assert fed(test, 100, 0, 400.0, 60).log_evidence > 0


@pytest.mark.parametrize(
    ("hallucinated", "bar", "evidence"), [(300, math.sqrt(6), 1.0), (190, 2.0, 1.0), (100, math.sqrt(2), 0.0)]
)
def test_new_day_reads_the_ratio_again(hallucinated: int, bar: float, evidence: float) -> None:
    """A higher bar keeps the evidence, a slightly lower ratio keeps the bar, a much lower one starts anew."""
    after = reviewed(Recovery(2.0, 0.095, 1.0, exposure=9.0), 0.05, 1000, hallucinated)
    assert pytest.approx((bar, evidence, 0.0)) == (after.bar, after.log_evidence, after.exposure)
