"""Late verdicts, restarts and backlog."""

from datetime import timedelta

import numpy as np
import pytest

from alerts.buckets import ClosedBucket
from alerts.fold import FoldState
from alerts.folder import Folder
from alerts.rules import jump_rule
from schemas.alert import Alert
from schemas.labels import AlertState
from tests.unit.alerts.worlds import CONFIG, DAY, HOUR, START, World, folded, in_state, rows

JUMP = START + 15 * DAY
WORLD = World(per_day=1000, ratio=4.0, jump_at=JUMP)


def stream(seed: int, until: timedelta = DAY, world: World = WORLD) -> list[ClosedBucket]:
    """Hourly buckets up to an hour before the jump, then five-minute ones until ``until`` after it."""
    rng = np.random.default_rng(seed)
    return [*world.buckets(rng, JUMP - HOUR, length=HOUR), *world.buckets(rng, JUMP + until, since=JUMP - HOUR)]


def live(folder: Folder[FoldState], buckets: list[ClosedBucket]) -> list[Alert]:
    """One bucket a call, each a minute after its end."""
    return [alert for bucket in buckets for alert in folder.advance([bucket], bucket.end + timedelta(minutes=1))]


def test_forward_fold_tells_what_the_fold_tells() -> None:
    """Without changes the folder adds nothing and leaves nothing out."""
    buckets = stream(1)
    assert folded(buckets)[1] == live(Folder(jump_rule(CONFIG)), buckets)


def test_late_change_within_six_hours_refolds_to_the_clean_state() -> None:
    """After a changed bucket the state is the one that folding the final buckets gives."""
    buckets = stream(2, until=3 * HOUR)
    folder = Folder(jump_rule(CONFIG))
    live(folder, buckets)
    number = len(buckets) - 40
    start = buckets[number].start
    changed = ClosedBucket(start, rows(start, 9, 1, intent="intent-0"))
    folder.advance([changed], buckets[-1].end)
    assert folded([*buckets[:number], changed, *buckets[number + 1 :]])[0] == folder.state
    assert 0 == folder.too_late


def test_equal_bucket_with_rows_in_another_order_changes_nothing() -> None:
    """A rebuild that gives the same rows is no change."""
    buckets = stream(3)
    folder = Folder(jump_rule(CONFIG))
    live(folder, buckets)
    before = folder.state
    again = ClosedBucket(buckets[-5].start, tuple(reversed(buckets[-5].tallies)))
    assert [] == folder.advance([again], buckets[-1].end)
    assert before is folder.state


def test_change_older_than_the_checkpoints_is_left_to_reports() -> None:
    """Twelve hours late does not reach the tests, and is counted."""
    buckets = stream(4)
    folder = Folder(jump_rule(CONFIG))
    live(folder, buckets)
    before = folder.state
    start = buckets[-1].start - 12 * HOUR
    assert [] == folder.advance([ClosedBucket(start, rows(start, 50, 50, intent="intent-0"))], buckets[-1].end)
    assert before is folder.state
    assert 1 == folder.too_late


def test_refolded_episode_keeps_the_id_that_was_sent() -> None:
    """More bad verdicts before the page move the episode's start; it stays one episode with one id."""
    buckets = stream(5, until=5 * HOUR)
    folder = Folder(jump_rule(CONFIG))
    alerts = live(folder, buckets)
    (fired,) = in_state(alerts, AlertState.FIRING)
    assert fired.pending_at is not None
    start = fired.pending_at - timedelta(minutes=40)
    worse = ClosedBucket(start, rows(start, 12, 12, intent="intent-0"))
    corrected = folder.advance([worse], buckets[-1].end)
    assert {fired.alert_id} == {alert.alert_id for alert in corrected}
    assert corrected[0].fired_at is not None
    assert fired.fired_at is not None
    assert corrected[0].fired_at < fired.fired_at


def test_episode_that_late_verdicts_take_back_is_withdrawn() -> None:
    """If nothing is bad after all, what was told as open is told as inactive, under its id."""
    buckets = stream(6, until=4 * HOUR)
    folder = Folder(jump_rule(CONFIG))
    alerts = live(folder, buckets)
    (fired,) = in_state(alerts, AlertState.FIRING)
    good = [ClosedBucket(bucket.start, rows(bucket.start, 4, 0, intent="intent-0")) for bucket in buckets[-4 * 12 :]]
    withdrawn = folder.advance(good, buckets[-1].end)
    assert [(fired.alert_id, AlertState.INACTIVE)] == [(alert.alert_id, alert.state) for alert in withdrawn]


def test_backlog_of_more_than_a_day_is_history() -> None:
    """What fired more than 24 hours ago is marked, and stays marked when it resolves within the last day."""
    world = World(per_day=2000, ratio=4.0, jump_at=JUMP, fixed_at=JUMP + 20 * HOUR)
    buckets = stream(7, until=30 * HOUR, world=world)
    alerts = Folder(jump_rule(CONFIG)).advance(buckets, JUMP + 30 * HOUR)
    ended = [alert for alert in alerts if alert.state in {AlertState.FIRING, AlertState.RESOLVED}]
    assert [(AlertState.FIRING, True), (AlertState.RESOLVED, True)] == [
        (alert.state, alert.is_historical) for alert in ended
    ]


def test_backlog_within_a_day_is_told_as_present() -> None:
    """A jump found ten hours late is no history."""
    buckets = stream(8, until=10 * HOUR)
    alerts = Folder(jump_rule(CONFIG)).advance(buckets, JUMP + 10 * HOUR)
    assert [False] == [alert.is_historical for alert in in_state(alerts, AlertState.FIRING)]


def test_restart_tells_nothing_twice() -> None:
    """A replay that knows what was told is silent until something new happens."""
    buckets = stream(9)
    told = live(Folder(jump_rule(CONFIG)), buckets)
    newest = {alert.alert_id: alert for alert in told}
    again = Folder(jump_rule(CONFIG), known=list(newest.values()))
    assert [] == again.advance(buckets, buckets[-1].end + 3 * DAY)


@pytest.mark.parametrize("size", [1, 7, 100])
def test_size_of_the_portions_does_not_matter(size: int) -> None:
    """However many buckets come in one call, the alerts are the same."""
    buckets = stream(10)
    folder = Folder(jump_rule(CONFIG))
    alerts = []
    for first in range(0, len(buckets), size):
        portion = buckets[first : first + size]
        alerts += folder.advance(portion[::-1], portion[-1].end)
    assert folded(buckets)[1] == [alert.model_copy(update={"is_historical": False}) for alert in alerts]


def test_memory_stays_bounded() -> None:
    """Checkpoints and buckets reach back a little more than six hours, whatever has been folded."""
    buckets = stream(11)
    folder = Folder(jump_rule(CONFIG))
    live(folder, buckets)
    assert len(folder._checkpoints) <= 8
    assert len(folder._recent) <= 8 * 12
