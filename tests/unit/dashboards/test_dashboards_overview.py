"""The overview: rows, their order and their states."""

from datetime import timedelta

import pytest

from dashboards.periods import USUAL, USUAL_SUMS, WEEK
from dashboards.views.history import History, history_of
from dashboards.views.overview import Overview, TallyReads, open_alerts, overview, state_of
from schemas.alert import Alert
from schemas.labels import AlertState, RiskTier
from schemas.slice import Slice
from schemas.tally import Tally
from streams.store import Deploy
from tests.builders import NOW, alert, tally, traffic_tally

DAY = timedelta(days=1)
STEADY = History(age=20 * DAY, last_traffic=NOW, traces_per_second=0.1, positives=200)


def view(rows: list[Tally], alerts: list[Alert] | None = None, deploys: list[Deploy] | None = None) -> Overview:
    """The overview of rows that are at once the day, the trend and the usual."""
    reads = TallyReads(day=rows, trend=rows, usual=rows, usual_step=USUAL_SUMS.step)
    return overview(WEEK, reads, alerts or [], deploys or [], NOW)


def test_intents_with_an_open_alert_come_first_then_by_traffic() -> None:
    """The row that matters at night is on top."""
    rows = [
        traffic_tally(5, intent="small"),
        traffic_tally(900, intent="large"),
        traffic_tally(50, intent="refunds"),
    ]
    assert ["refunds", "large", "small"] == [group.intent for group in view(rows, [alert()]).groups]


def test_tiers_of_an_intent_stand_together_highest_first() -> None:
    """An intent is one group."""
    rows = [traffic_tally(tier=tier) for tier in (RiskTier.LOW, RiskTier.HIGH, RiskTier.MEDIUM)]
    (group,) = view(rows).groups
    assert [RiskTier.HIGH, RiskTier.MEDIUM, RiskTier.LOW] == [row.slice.tier for row in group.rows]


def test_slice_without_judged_answers_has_no_rate() -> None:
    """Traffic alone gives no rate, and never a rate of zero."""
    (group,) = view([traffic_tally()]).groups
    assert group.rows[0].rate.rate is None
    assert group.rows[0].spark is not None
    assert group.rows[0].spark.curve.last is None


def test_slice_with_an_open_alert_and_no_traffic_is_still_shown() -> None:
    """Silence does not take an alert from the page."""
    (group,) = view([], [alert()]).groups
    assert group.rows[0].state is AlertState.FIRING
    assert group.rows[0].coverage.traffic == 0


def test_verdicts_of_other_detectors_are_counted_and_not_mixed_in() -> None:
    """A shadow detector's verdicts do not change the rate."""
    rows = [traffic_tally(), tally(100, 10), tally(40, 40, fingerprint="shadow")]
    shown = view(rows)
    assert shown.other_verdicts == 40
    assert round(shown.groups[0].rows[0].rate.rate or 0, 3) == 0.1


def test_deploys_mark_the_trend_of_their_intent_alone() -> None:
    """``*`` concerns all intents; what is older than the trend marks nothing."""
    rows = [traffic_tally(intent="refunds"), traffic_tally(intent="billing")]
    deploys = [
        Deploy(at=NOW - DAY, intent="billing", field="model", value="m-2"),
        Deploy(at=NOW - 2 * DAY, field="app", value="a-2"),
        Deploy(at=NOW - 20 * DAY, field="app", value="a-1"),
    ]
    shown = view(rows, deploys=deploys)
    marks = {group.intent: len(group.rows[0].spark.marks) for group in shown.groups if group.rows[0].spark}
    assert marks == {"refunds": 1, "billing": 2}
    assert [release.value for release in shown.releases] == ["m-2", "a-2", "a-1"]


def test_empty_store_is_told_apart() -> None:
    """No slice at all."""
    assert view([]).is_empty
    assert not view([traffic_tally()]).is_empty


@pytest.mark.parametrize("state", [AlertState.FIRING, AlertState.PENDING, AlertState.STALE])
def test_open_alert_gives_the_state_whatever_the_traffic(state: AlertState) -> None:
    """Silence is never recovery."""
    silent = History(age=20 * DAY, last_traffic=None, traces_per_second=1, positives=200)
    assert state_of(alert(state=state), silent, NOW) is state


def test_missing_traffic_is_stale_only_where_it_was_to_be_expected() -> None:
    """Two hours of silence: 36 missed traces at one in 200 s, two at one an hour."""
    last = NOW - timedelta(hours=2)
    assert state_of(None, History(20 * DAY, last, 1 / 200, 200), NOW) is AlertState.STALE
    assert state_of(None, History(20 * DAY, last, 1 / 3600, 200), NOW) is AlertState.INACTIVE
    assert state_of(None, History(timedelta(0), None, 0.0, 0), NOW) is AlertState.STALE


@pytest.mark.parametrize(("age", "positives"), [(6 * DAY, 500), (20 * DAY, 49)])
def test_young_slice_is_learning(age: timedelta, positives: float) -> None:
    """Until a week and fifty hallucinated answers."""
    assert state_of(None, History(age, NOW, 0.1, positives), NOW) is AlertState.LEARNING


def test_resolved_is_said_for_a_day() -> None:
    """Afterwards the slice is as any other."""
    fresh = alert(state=AlertState.RESOLVED, resolved_at=NOW - timedelta(hours=2))
    old = alert(state=AlertState.RESOLVED, resolved_at=NOW - 3 * DAY)
    assert state_of(fresh, STEADY, NOW) is AlertState.RESOLVED
    assert state_of(old, STEADY, NOW) is AlertState.INACTIVE


def test_history_before_the_shown_time_makes_a_slice_old() -> None:
    """Its hallucinated answers count too."""
    usual = [traffic_tally(bucket=NOW - 2 * DAY), tally(100, 10, bucket=NOW - 2 * DAY)]
    before = [traffic_tally(bucket=NOW - 40 * DAY), tally(400, 45, bucket=NOW - 40 * DAY)]
    assert history_of([], usual, [], DAY, NOW).is_young
    assert not history_of([], usual, before, DAY, NOW).is_young


def test_open_alerts_are_firing_first_and_never_historical() -> None:
    """What nobody was paged for is not on top of the page."""
    alerts = [
        alert("pending", state=AlertState.PENDING),
        alert("old", since=NOW - DAY),
        alert("new"),
        alert("done", state=AlertState.RESOLVED),
        alert("past", is_historical=True),
    ]
    assert ["new", "old", "pending"] == [item.alert_id for item in open_alerts(alerts)]


def test_most_urgent_alert_speaks_for_a_slice() -> None:
    """A newer one that was resolved does not hide one that fires."""
    cell = Slice(intent="refunds", tier=RiskTier.MEDIUM)
    alerts = [alert("a", slice=cell, since=NOW - DAY), alert("b", slice=cell, state=AlertState.RESOLVED)]
    (group,) = view([traffic_tally()], alerts).groups
    assert group.rows[0].alert is not None
    assert group.rows[0].alert.alert_id == "a"


def test_longest_period_is_the_same_however_it_is_read() -> None:
    """Its sums and its trend cover the same days."""
    assert USUAL.span == USUAL_SUMS.span


def test_one_release_seen_in_several_intents_is_listed_once() -> None:
    """Each slice sees the same release for itself; the list says when it was first seen, and where."""
    early, late = NOW - timedelta(hours=3), NOW - timedelta(hours=2)
    deploys = [
        Deploy(at=late, intent="a", field="app", value="2", source="detected"),
        Deploy(at=early, intent="b", field="app", value="2", source="detected"),
    ]
    (release,) = view([], deploys=deploys).releases
    assert (release.at, release.intents, release.is_detected) == (early, ("a", "b"), True)
