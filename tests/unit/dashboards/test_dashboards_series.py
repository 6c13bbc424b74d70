"""Tallies to what a row needs."""

from datetime import timedelta

from dashboards import series
from dashboards.periods import EPOCH, floor, step_for
from schemas.labels import Outcome
from tests.builders import NOW, tally, traffic_tally

HOUR = timedelta(hours=1)


def test_current_detector_is_the_one_that_judged_most_in_the_newest_step() -> None:
    """An older detector's large past does not count."""
    rows = [tally(500, fingerprint="old", bucket=NOW - HOUR), tally(9, fingerprint="new"), tally(3, fingerprint="old")]
    assert series.current_fingerprint(rows) == "new"
    assert series.current_fingerprint([traffic_tally()]) == ""


def test_verdicts_of_another_detector_are_left_out() -> None:
    """A fingerprint is a series of its own; traffic belongs to all."""
    rows = [traffic_tally(), tally(fingerprint="new"), tally(fingerprint="old")]
    assert rows[:2] == series.of_detector(rows, "new")


def test_rate_is_weighted_by_the_traffic_of_the_strata() -> None:
    """Two strata judged alike, one with nine times the traffic."""
    rows = [
        traffic_tally(900, stratum="rest"),
        tally(100, 0, stratum="rest"),
        traffic_tally(100, stratum="low"),
        tally(100, 50, stratum="low"),
    ]
    assert round(series.rate_of(rows).rate or 0, 3) == 0.05


def test_trend_takes_longer_steps_where_few_answers_were_judged() -> None:
    """A point should rest on twenty answers."""
    assert series.trend_step([tally(30)], HOUR) == HOUR
    assert series.trend_step([tally(12), tally(12, bucket=NOW + HOUR)], HOUR) == 2 * HOUR
    assert series.trend_step([tally(1)], HOUR) == 4 * HOUR
    assert series.trend_step([], HOUR) == 4 * HOUR


def test_points_sum_the_tallies_of_a_step() -> None:
    """Two hours in one step of two hours are one point."""
    rows = [traffic_tally(), tally(10, 0), traffic_tally(bucket=NOW + HOUR), tally(10, 10, bucket=NOW + HOUR)]
    found = series.points(rows, 2 * HOUR)
    assert len(found) == 1
    assert found[0].at == NOW
    assert (found[0].rate.n, found[0].rate.rate) == (20, 0.5)


def test_coverage_counts_outcomes_once_and_bounds_the_missing() -> None:
    """Pending and failed answers widen what the rate could be."""
    outcomes = dict.fromkeys(Outcome, 0) | {
        Outcome.GROUNDED: 8,
        Outcome.HALLUCINATED: 2,
        Outcome.ERROR_TIMEOUT: 3,
        Outcome.ABSTAINED: 4,
        Outcome.NO_CLAIMS: 1,
        Outcome.UNRESOLVED_NO_ANSWER: 2,
    }
    rows = [traffic_tally(100, drawn=22, pending=2), tally(10, 2, outcomes=tuple(outcomes.values()), traffic=0)]
    found = series.coverage(rows)
    assert (100, 22, 10) == (found.traffic, found.drawn, found.judged)
    assert (2, 3, 4, 1, 2) == (found.pending, found.errors, found.abstained, found.other, found.unresolved)
    assert found.bounds.missing == 5
    assert found.bounds.low < 0.2 < found.bounds.high
    assert found.is_thin


def test_steps_are_aligned_from_the_epoch() -> None:
    """As the store aligns them."""
    assert floor(EPOCH + 7 * HOUR, 6 * HOUR) == EPOCH + 6 * HOUR


def test_chart_step_is_the_finest_that_fits() -> None:
    """At most so many points; never finer than a bucket, never coarser than a day."""
    assert step_for(4 * HOUR, points=48) == timedelta(minutes=5)
    assert step_for(48 * HOUR, points=48) == HOUR
    assert step_for(timedelta(days=900), points=48) == timedelta(days=1)
