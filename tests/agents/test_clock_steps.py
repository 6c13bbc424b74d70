"""A clock that jumps: nothing expires, closes or loses patience by it, and nothing waits for ever."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from schemas.labels import AlertState
from streams.broker.topics import DEADLETTER, POLICY
from streams.store import MessageFate, SourceFate, Stretch
from tests.agents.flow import Flow, native, policies
from tests.agents.test_alert_step import HOUR, TS, Clock, mark, step_on
from tests.builders import NOW, alert

ALL = Stretch("traces", 0, 0, 100)


async def fates_of(flow: Flow, ts: datetime, *, now: datetime, settled: datetime) -> set[SourceFate]:
    """What becomes of one trace where the wall clock and the settled time differ."""
    flow.known = policies(now=max(now, NOW))
    admission = replace(flow.admission, now=lambda: now, settled_now=lambda: settled)
    ingest = replace(flow.ingest, admission=admission, record=_recording(flow))
    await ingest.handle([flow.message(native("t-1", ts=ts.isoformat()), recorded_at=max(ts, NOW))])
    return set(flow.store.fates.counts(ALL, since=TS - 999 * HOUR, kept_since=TS - 999 * HOUR))


def _recording(flow: Flow) -> Callable[[Sequence[MessageFate]], Awaitable[None]]:
    """The ledger's method, without its thread."""

    async def record(rows: Sequence[MessageFate]) -> None:
        flow.store.fates.insert(rows, NOW)

    return record


async def test_step_forward_expires_nothing() -> None:
    """A trace of 89 days ago stays one while the clock shows three days more."""
    old = NOW - timedelta(days=89)
    assert {SourceFate.STORED} == await fates_of(Flow(), old, now=NOW + timedelta(days=3), settled=NOW)
    assert {SourceFate.EXPIRED} == await fates_of(Flow(), old, now=NOW, settled=NOW + timedelta(days=3))


async def test_trace_of_after_a_pause_is_not_ahead() -> None:
    """A machine that slept eight hours: the wall clock knows, the settled time does not yet."""
    awake = NOW + 8 * HOUR
    assert {SourceFate.STORED} == await fates_of(Flow(), awake, now=awake, settled=NOW)


async def test_trace_from_a_wrong_clock_moves_no_watermark() -> None:
    """It is a dead letter, since its record time is in the future as well."""
    flow = Flow()
    ingest = flow.ingest
    future = NOW + 5 * HOUR
    await ingest.handle(
        [
            flow.message(native("good", ts=TS.isoformat())),
            flow.message(native("ahead", ts=future.isoformat()), recorded_at=future),
        ]
    )
    assert 1 == len(flow.publisher.sent[DEADLETTER])
    assert [TS] == [row.event_time for row in ingest.watermarks.rows({("traces", 0): None}, NOW)]


@pytest.mark.parametrize("jump", [7 * HOUR, -7 * HOUR])
async def test_alert_step_keeps_patience_and_says_what_is_so_by_the_wall_clock(jump: timedelta) -> None:
    """A missing verdict is waited for by the settled time; heartbeats of the policy log go by the wall clock."""
    flow = Flow()
    wall, settled = Clock(), Clock()
    step = replace(step_on(flow, wall), settled_now=settled)
    await flow.ingest.handle([flow.message(native("t-1", ts=TS.isoformat()))])
    mark(flow, NOW - timedelta(minutes=1))
    await step.tick()
    wall.moment = NOW + jump
    settled.moment = NOW + timedelta(minutes=1)
    await step.tick()
    assert step.folder.state.until is None
    assert 2 == len(flow.publisher.sent[POLICY])
    await flow.verify_and_sink()
    await step.tick()
    assert NOW - timedelta(minutes=5) == step.folder.state.until
    assert 3 == step.pulse.ticks


async def test_what_is_open_is_shown_after_the_tick() -> None:
    """For metrics; an alert that was resolved, and one of the past, are not open."""
    flow = Flow()
    past = alert("a-2", state=AlertState.FIRING, is_historical=True)
    flow.store.insert_alerts([alert("a-1", state=AlertState.FIRING), past, alert("a-3", state=AlertState.RESOLVED)])
    step = step_on(flow, Clock())
    await step.tick()
    assert ["a-1"] == [one.alert_id for one in step.pulse.open]
    assert (2, 1) == (step.pulse.states[AlertState.FIRING], step.pulse.states[AlertState.RESOLVED])
