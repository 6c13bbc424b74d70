"""How long layers are expected to take."""

from schemas.labels import Layer
from schemas.layers import LayerReason, LayerRun
from streams.inline.pace import Pace


def ran(layer: Layer, ms: float, cached: int = 0) -> LayerRun:
    """A row of a layer that ran."""
    return LayerRun(layer=layer, ran=True, why=LayerReason.ROUTED, took_ms=ms, cached=cached)


def test_a_layer_that_never_ran_is_tried() -> None:
    """Nothing is known, so nothing speaks against it."""
    assert {} == Pace().needs_seconds()


def test_steady_times_are_expected_again() -> None:
    """The deviation goes to nothing."""
    pace = Pace()
    for _ in range(60):
        pace.note([ran(Layer.L2, 200.0)])
    assert 0.2 <= pace.needs_seconds()[Layer.L2] < 0.201


def test_the_dearest_must_leave_time_for_what_runs_after_it() -> None:
    """L4 is left out before L3 although it runs first."""
    pace = Pace()
    for _ in range(60):
        pace.note([ran(Layer.L3, 300.0), ran(Layer.L4, 400.0)])
    needs = pace.needs_seconds()
    assert (0.3, 0.7) == (round(needs[Layer.L3], 2), round(needs[Layer.L4], 2))


def test_a_layer_that_is_left_out_is_tried_again_after_a_while() -> None:
    """One bad minute is not for ever."""
    pace = Pace()
    pace.note([ran(Layer.L2, 5_000.0)])
    for _ in range(100):
        pace.note([LayerRun(layer=Layer.L2, ran=False, why=LayerReason.OUT_OF_TIME)])
    assert pace.needs_seconds()[Layer.L2] < 0.1


def test_a_layer_that_was_cut_short_is_expected_to_take_twice_as_long() -> None:
    """It ran for all the time that it was given: how long it would have taken is not known, as of one that hangs."""
    pace = Pace()
    cut = ran(Layer.L3, 400.0).model_copy(update={"why": LayerReason.OUT_OF_TIME})
    pace.note([ran(Layer.L3, 100.0), cut])
    assert pace.needs_seconds()[Layer.L3] >= 0.8


def test_what_came_from_a_cache_says_nothing_of_the_next_call() -> None:
    """Nor does a layer that had no cause to run."""
    pace = Pace()
    pace.note([ran(Layer.L3, 0.1, cached=1), LayerRun(layer=Layer.L4, ran=False, why=LayerReason.NO_CAUSE)])
    assert {} == pace.needs_seconds()
