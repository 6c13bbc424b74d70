"""Rates as SVG geometry."""

from datetime import timedelta

from dashboards.charts import Frame, Point, curve, top_of
from schemas.alert import RateEstimate
from tests.builders import NOW, rate

HOUR = timedelta(hours=1)
FRAME = Frame(NOW, NOW + 4 * HOUR, 0.5, 100, 50)
NONE = RateEstimate(rate=None, low=0, high=1, n=0)


def test_steps_without_judged_answers_break_the_line() -> None:
    """A gap is a gap, not a line down to zero."""
    points = [Point(NOW, rate()), Point(NOW + HOUR, rate()), Point(NOW + 2 * HOUR, NONE), Point(NOW + 3 * HOUR, rate())]
    drawn = curve(points, FRAME, HOUR)
    assert len(drawn.lines) == 2
    assert len(drawn.dots) == 3


def test_points_lie_in_the_middle_of_their_step() -> None:
    """Rate 0.25 on an axis of 0.5 is half way up, half an hour of four is an eighth of the width."""
    drawn = curve([Point(NOW, rate(0.25))], FRAME, HOUR)
    assert (12.5, 25.0) == (drawn.dots[0].x, drawn.dots[0].y)


def test_a_lone_step_has_a_band_with_area() -> None:
    """Its interval covers the whole step."""
    drawn = curve([Point(NOW, rate(0.1, 0.0, 0.5))], FRAME, HOUR)
    assert drawn.bands == ("M0,0L25,0L25,50L0,50Z",)


def test_what_is_outside_the_frame_is_held_at_its_edge() -> None:
    """No coordinate leaves the plot."""
    assert FRAME.x(NOW - HOUR) == 0.0
    assert FRAME.x(NOW + 9 * HOUR) == 100.0
    assert FRAME.y(0.9) == 0.0


def test_no_points_give_an_empty_curve() -> None:
    """Nothing judged is nothing drawn."""
    drawn = curve([Point(NOW, NONE)], FRAME, HOUR)
    assert not drawn.lines
    assert not drawn.bands
    assert not drawn.dots
    assert drawn.last is None


def test_axis_has_room_for_rates_but_not_for_the_widest_intervals() -> None:
    """One wide interval of a small sample does not flatten the rest."""
    assert top_of([rate(0.05, 0.03, 0.08, 400)] * 9 + [rate(0.5, 0.01, 0.99, 2)]) == 0.1
    assert top_of([rate(0.38, 0.3, 0.45, 400)]) == 0.5
    assert top_of([]) == 0.1
