"""The settled time: never back, and a step forward counts once it has lasted."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

import streams.clock
from streams.clock import LASTING_SECONDS, SMALL_STEP, Settled, settled
from tests.builders import NOW

HOUR = timedelta(hours=1)


def after(*shown: tuple[float, timedelta]) -> Settled:
    """What is settled after the wall clock was read at these seconds, off the true time by so much."""
    known = Settled(NOW, 0.0)
    for elapsed, off in shown:
        known = settled(known, NOW + timedelta(seconds=elapsed) + off, elapsed)
    return known


def test_without_steps_it_is_the_wall_clock() -> None:
    """Reading often or seldom makes no difference."""
    assert NOW + timedelta(seconds=500) == after((1.0, HOUR * 0), (2.5, HOUR * 0), (500.0, HOUR * 0)).time


def test_clock_set_back_changes_nothing() -> None:
    """For as long as it may be behind, time goes on by the second."""
    assert NOW + timedelta(days=1) == after((10.0, -5 * HOUR), (86_400.0, -5 * HOUR)).time


def test_short_step_forward_changes_nothing() -> None:
    """A wrong time that is mended within a quarter of an hour never was."""
    late = LASTING_SECONDS - 1
    known = after((10.0, 7 * HOUR), (late, 7 * HOUR), (late + 1, HOUR * 0), (2000.0, 7 * HOUR), (2800.0, 7 * HOUR))
    assert NOW + timedelta(seconds=2800) == known.time


def test_lasting_step_forward_is_believed() -> None:
    """A machine that slept: after a quarter of an hour the new time holds."""
    known = after((10.0, 7 * HOUR), (10.0 + LASTING_SECONDS, 7 * HOUR))
    assert NOW + timedelta(seconds=10 + LASTING_SECONDS) + 7 * HOUR == known.time


def test_small_steps_are_followed_at_once() -> None:
    """As time servers make them; after one back, time stands still for a moment."""
    second = timedelta(seconds=1)
    assert NOW + 10 * second + SMALL_STEP == after((10.0, SMALL_STEP)).time
    assert NOW + 10 * second == after((10.0, 0 * second), (12.0, -5 * second)).time
    assert NOW + 15 * second == after((10.0, 0 * second), (12.0, -5 * second), (20.0, -5 * second)).time


@given(st.lists(st.tuples(st.floats(0, 4000), st.integers(-(10**6), 10**6)), max_size=30))
def test_settled_time_never_goes_back(readings: list[tuple[float, int]]) -> None:
    """Whatever the wall clock shows."""
    known = Settled(NOW, 0.0)
    elapsed = 0.0
    for pause, off_seconds in readings:
        elapsed += pause
        later = settled(known, NOW + timedelta(seconds=elapsed + off_seconds), elapsed)
        assert later.time >= known.time
        known = later


def test_our_two_times_agree_on_an_honest_clock() -> None:
    """And the present time is never behind the settled one."""
    assert streams.clock.settled_now() <= streams.clock.utc_now()
    assert abs(streams.clock.clock_step()) < SMALL_STEP
