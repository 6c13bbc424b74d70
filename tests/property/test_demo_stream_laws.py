"""What holds for the demo stream at any seed and any end of its window."""

from datetime import UTC, datetime, timedelta
from itertools import islice

from hypothesis import given, settings
from hypothesis import strategies as st

from demo.recipe import DEMO_RECIPE, BadDeploy, Recipe
from demo.stream import labelled_demo_traces, labelled_live_traces
from schemas.trace import Trace

SMALL: Recipe = DEMO_RECIPE.model_copy(
    update={
        "cells": tuple(cell.model_copy(update={"answers": 4}) for cell in DEMO_RECIPE.cells),
        "deploy": BadDeploy(
            intent=DEMO_RECIPE.deploy.intent,
            tier=DEMO_RECIPE.deploy.tier,
            before_now=DEMO_RECIPE.deploy.before_now,
            hallucinated_rate=0.2,
            answers_after=10,
        ),
    },
)
MOMENTS = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 Hypothesis wants naive bounds and adds the zone
SEEDS = st.integers(0, 2**32)


@settings(deadline=None, max_examples=40)
@given(now=MOMENTS, seed=SEEDS)
def test_a_stream_is_complete_ordered_unique_and_valid(now: datetime, seed: int) -> None:
    """Every trace decodes, lies in the window, shows no document from its future, and has an id of its own."""
    traces = [Trace.model_validate(labelled.trace) for labelled in labelled_demo_traces(now, seed, SMALL)]
    assert SMALL.total == len(traces)
    assert traces == sorted(traces, key=lambda trace: trace.ts)
    assert SMALL.total == len({trace.trace_id for trace in traces})
    # event times are cut to milliseconds
    assert now - SMALL.window - timedelta(milliseconds=1) <= traces[0].ts
    assert traces[-1].ts <= now
    for trace in traces:
        assert all(passage.updated_at and passage.updated_at <= trace.ts for passage in trace.passages or ())
        assert list(range(len(trace.passages or ()))) == [passage.rank for passage in trace.passages or ()]


@settings(deadline=None, max_examples=20)
@given(now=MOMENTS, seed=SEEDS)
def test_live_traffic_only_moves_forward(now: datetime, seed: int) -> None:
    """Event times rise from now on, and the label is that of the kind."""
    live = list(islice(labelled_live_traces(now, seed, SMALL), 50))
    times = [datetime.fromisoformat(labelled.trace["ts"]) for labelled in live]
    assert times == sorted(times)
    assert now - timedelta(milliseconds=1) <= times[0]
    assert all(labelled.is_hallucinated == labelled.kind.is_hallucinated for labelled in live)
