"""The fold from closed buckets to alerts, on seeded streams."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from alerts.baselines import local_day
from alerts.buckets import ClosedBucket, DeployMark, SeriesKey
from alerts.config import JumpConfig
from alerts.fold import FoldState, fold, statuses
from schemas.labels import AlertState, RiskTier
from schemas.tally import BUCKET
from tests.unit.alerts.worlds import (
    CONFIG,
    DAY,
    FINGERPRINT,
    HOUR,
    NEW,
    START,
    World,
    baseline,
    folded,
    in_state,
    rows,
)

JUMP = START + 21 * DAY
KEY = SeriesKey("intent-0", RiskTier.MEDIUM, FINGERPRINT)


@pytest.mark.parametrize("seed", range(4))
def test_fourfold_rate_on_300_a_day_is_found_within_about_100_answers(seed: int) -> None:
    """The alert fires soon after the deploy, and names its bucket and its version change."""
    rng = np.random.default_rng(seed)
    world = World(per_day=300, ratio=4.0, jump_at=JUMP)
    state = baseline(rng, world)
    _, alerts = folded(world.buckets(rng, JUMP + 2 * DAY, since=JUMP), state=state)
    (fired, *_) = in_state(alerts, AlertState.FIRING)
    assert fired.samples <= 130
    assert timedelta(0) <= fired.since - JUMP <= 3 * BUCKET
    assert [("model", "m-1", "m-2")] == [(change.field, change.before, change.after) for change in fired.changes]
    assert fired.changes[0].posterior >= 0.8
    assert fired.rate.low <= 0.2 <= fired.rate.high
    assert fired.rate.rate is not None
    assert fired.rate.n == fired.samples


def test_stationary_slices_page_nobody() -> None:
    """Twenty-five slices over two months, first day included, raise no alert that fires."""
    world = World(per_day=150, slices=25)
    _, alerts = folded(world.buckets(np.random.default_rng(3), START + 60 * DAY, length=8 * HOUR))
    assert [] == in_state(alerts, AlertState.FIRING)


def test_jump_away_from_any_deploy_dates_from_its_own_start() -> None:
    """Without a version change the onset is estimated, and nothing is blamed."""
    rng = np.random.default_rng(5)
    world = World(per_day=1000, ratio=3.0, jump_at=JUMP + 5 * HOUR, is_deploy=False)
    state = baseline(rng, world)
    _, alerts = folded(world.buckets(rng, JUMP + DAY, since=JUMP), state=state)
    (fired, *_) = in_state(alerts, AlertState.FIRING)
    assert abs(fired.since - (JUMP + 5 * HOUR)) <= HOUR
    assert () == fired.changes


def test_marked_deploy_speeds_up_and_is_named() -> None:
    """A deploy that traces do not show counts when somebody marks it."""
    rng = np.random.default_rng(6)
    world = World(per_day=1000, ratio=2.0, jump_at=JUMP, is_deploy=False)
    state = baseline(rng, world)
    plain = list(world.buckets(rng, JUMP + 2 * DAY, since=JUMP))
    told = [DeployMark(JUMP, "index", "2026-01-26")]
    marked = [replace(plain[0], deploys=told), *plain[1:]]
    unmarked_fire = in_state(folded(plain, state=state)[1], AlertState.FIRING)[0]
    marked_fire = in_state(folded(marked, state=state)[1], AlertState.FIRING)[0]
    assert marked_fire.samples < unmarked_fire.samples
    assert JUMP == marked_fire.since
    assert ["index"] == [change.field for change in marked_fire.changes]


def test_alert_goes_pending_firing_resolved_after_a_fix() -> None:
    """One episode, one id; resolved by evidence, at least an hour after firing."""
    rng = np.random.default_rng(7)
    world = World(per_day=2000, ratio=4.0, jump_at=JUMP, fixed_at=JUMP + DAY)
    state = baseline(rng, world)
    _, alerts = folded(world.buckets(rng, JUMP + 2 * DAY, since=JUMP), state=state)
    assert [AlertState.PENDING, AlertState.FIRING, AlertState.RESOLVED] == [alert.state for alert in alerts][:3]
    assert 1 == len({alert.alert_id for alert in alerts[:3]})
    resolved = alerts[2]
    assert resolved.fired_at is not None
    assert resolved.resolved_at is not None
    assert JUMP + DAY < resolved.resolved_at <= JUMP + DAY + 8 * HOUR
    assert resolved.resolved_at - resolved.fired_at >= HOUR


def test_bad_days_do_not_become_the_reference() -> None:
    """Counts from the onset on stay out of the history, so the reference is the old rate after the episode too."""
    rng = np.random.default_rng(8)
    world = World(per_day=2000, ratio=4.0, jump_at=JUMP, fixed_at=JUMP + 8 * DAY)
    state = baseline(rng, world)
    state, _ = folded(world.buckets(rng, JUMP + 20 * DAY, since=JUMP, length=HOUR), state=state)
    assert state.series[KEY].baseline.belief.mean < 0.06


def test_firing_series_keeps_the_reference_that_it_fired_on() -> None:
    """Midnights pass, the reference stays."""
    rng = np.random.default_rng(9)
    world = World(per_day=1000, ratio=4.0, jump_at=JUMP)
    state, alerts = folded(world.buckets(rng, JUMP + DAY, since=JUMP), state=baseline(rng, world))
    frozen = state.series[KEY].baseline
    state, later = folded(world.buckets(rng, JUMP + 6 * DAY, since=JUMP + DAY, length=HOUR), state=state)
    assert frozen == state.series[KEY].baseline
    assert AlertState.FIRING is [*alerts, *later][-1].state


def test_replay_gives_the_same_alerts() -> None:
    """Same buckets, same alerts, ids included."""
    world = World(per_day=1000, ratio=4.0, jump_at=START + 10 * DAY)
    first, second = (
        folded(world.buckets(np.random.default_rng(10), START + 12 * DAY, length=HOUR))[1] for _ in range(2)
    )
    assert first
    assert first == second


def test_each_detector_has_its_own_series() -> None:
    """A second fingerprint starts learning while the first goes on, whatever the second says."""
    state = baseline(np.random.default_rng(11), World(), days=20)
    at = START + 20 * DAY
    tallies = [*rows(at, 5, 0, intent="intent-0"), *rows(at, 5, 5, intent="intent-0", fingerprint="other")[1:]]
    alone, _ = fold(state, ClosedBucket(at, tallies[:2]), CONFIG)
    both, _ = fold(state, ClosedBucket(at, tallies), CONFIG)
    assert alone.series[KEY].runs == both.series[KEY].runs
    found = {status.key.fingerprint: status.state for status in statuses(both, CONFIG)}
    assert AlertState.LEARNING is found["other"]
    assert AlertState.LEARNING is not found[FINGERPRINT]


def test_first_day_is_learning_at_the_cautious_quantile() -> None:
    """The prior of the expected rate is read at 95 %."""
    state, _ = folded([ClosedBucket(START, rows(START, 5, 0))])
    (status,) = statuses(state, CONFIG)
    assert (AlertState.LEARNING, 0.95) == (status.state, status.reference_level)
    assert status.reference > 2 * CONFIG.expected_rate[RiskTier.MEDIUM]


def test_silence_is_stale_and_never_recovery() -> None:
    """A firing slice without data is told as stale once; with data again it is firing as before."""
    rng = np.random.default_rng(12)
    world = World(per_day=1000, ratio=4.0, jump_at=JUMP)
    state, _ = folded(world.buckets(rng, JUMP + DAY, since=JUMP), state=baseline(rng, world))
    empty = [ClosedBucket(JUMP + DAY + number * HOUR, length=HOUR) for number in range(72)]
    state, silent = folded(empty, state=state)
    assert [AlertState.STALE] == [alert.state for alert in silent]
    assert [AlertState.STALE] == [status.state for status in statuses(state, CONFIG)]
    back = ClosedBucket(JUMP + 4 * DAY, rows(JUMP + 4 * DAY, 5, 1, intent="intent-0"))
    _, again = fold(state, back, CONFIG)
    assert [(AlertState.FIRING, silent[0].alert_id)] == [(alert.state, alert.alert_id) for alert in again]


def test_left_out_buckets_count_as_empty_ones() -> None:
    """Skipping buckets without rows gives the state that folding them gives, to the last bit but for summing time."""
    first, last = ClosedBucket(START, rows(START, 5, 1)), ClosedBucket(START + HOUR, rows(START + HOUR, 5, 1))
    between = [ClosedBucket(START + number * BUCKET) for number in range(1, 12)]
    with_gap, without = folded([first, last])[0], folded([first, *between, last])[0]
    assert pytest.approx(with_gap.mass) == without.mass
    assert with_gap.series.keys() == without.series.keys()
    for key, series in with_gap.series.items():
        assert pytest.approx(series.log_statistics) == without.series[key].log_statistics


def test_bucket_out_of_order_is_refused() -> None:
    """The past is changed by a refold, not by folding backwards."""
    state, _ = folded([ClosedBucket(START + HOUR)])
    with pytest.raises(ValueError, match="begins before"):
        fold(state, ClosedBucket(START), CONFIG)


def test_budget_is_what_time_and_slices_make_it() -> None:
    """Ten slices share 0.6 pages a month; half of it comes by the clock."""
    world = World(per_day=3000, slices=10)
    state, _ = folded(
        world.buckets(np.random.default_rng(13), START + 30 * DAY, length=12 * HOUR), JumpConfig(minimum_slices=1)
    )
    assert pytest.approx(0.6 / 10 / 2) == state.mass


@pytest.mark.parametrize(("month", "day", "hours"), [(3, 29, 23), (10, 25, 25), (7, 1, 24)])
def test_local_day_has_23_or_25_hours_where_clocks_change(month: int, day: int, hours: int) -> None:
    """Midnight is local midnight on both sides of the change."""
    noon = datetime(2026, month, day, 12, tzinfo=UTC)
    found = local_day(noon, ZoneInfo("Europe/Berlin"))
    assert hours * HOUR == found.end - found.start
    assert (0, 0) == tuple(moment.astimezone(ZoneInfo("Europe/Berlin")).hour for moment in (found.start, found.end))


def test_day_effect_starts_anew_at_local_midnight_of_a_25_hour_day() -> None:
    """Today's counts are kept through the doubled hour and dropped at midnight."""
    config = JumpConfig(timezone="Europe/Berlin", minimum_slices=100)
    midnight = datetime(2026, 10, 24, 22, tzinfo=UTC)
    buckets = [ClosedBucket(midnight + hour * HOUR, rows(midnight + hour * HOUR, 4, 1)) for hour in range(26)]
    states = [FoldState()]
    for bucket in buckets:
        states.append(fold(states[-1], bucket, config)[0])
    counts = [state.series[SeriesKey("refunds", RiskTier.MEDIUM, FINGERPRINT)].day_hallucinated for state in states[1:]]
    assert [float(hour) for hour in range(1, 26)] == counts[:25]
    assert 1.0 == counts[25]


def test_state_is_not_touched_by_folding_on() -> None:
    """A checkpoint taken earlier still gives the same future."""
    rng = np.random.default_rng(14)
    buckets = list(World(ratio=4.0, jump_at=START + 3 * DAY).buckets(rng, START + 5 * DAY, length=HOUR))
    checkpoint, _ = folded(buckets[:60])
    first = folded(buckets[60:], state=checkpoint)
    assert first == folded(buckets[60:], state=checkpoint)


def test_rows_without_nested_answers_move_no_test() -> None:
    """Draws outside the nested subsample serve the estimate, not the statistic."""
    state, _ = folded([ClosedBucket(START, rows(START, 5, 1))])
    outside = [
        row.model_copy(update={"nested_judged": 0, "nested_hallucinated": 0.0})
        for row in rows(START + BUCKET, 50, 50, versions=NEW)
    ]
    after, _ = fold(state, ClosedBucket(START + BUCKET, outside), CONFIG)
    (before,), (now,) = state.series.values(), after.series.values()
    assert pytest.approx(before.statistic + after.mass - state.mass) == now.statistic
    assert 55 == now.totals["rest"].judged
