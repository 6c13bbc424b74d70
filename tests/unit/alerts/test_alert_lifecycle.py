"""The state machine by itself, and what an episode says."""

import math
from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.baselines import Shared, first_baseline
from alerts.buckets import SeriesKey, Totals
from alerts.config import JumpConfig
from alerts.deploys import DeployEvent
from alerts.explain import changes, onset, ranked
from alerts.jump import log_sum
from alerts.lifecycle import RESOLVED, WARM, alert_id, moved, next_state
from alerts.recovery import Recovery
from alerts.series import Run, Seen, Series, Trail, born, injected
from schemas.labels import AlertState, RiskTier
from tests.unit.alerts.worlds import FINGERPRINT, HOUR, START

KEY = SeriesKey("refunds", RiskTier.MEDIUM, FINGERPRINT)
SINCE = START + 10 * HOUR
AT = START + 20 * HOUR


def series(statistic: float, warmth: float = WARM) -> Series:
    """A series whose statistic is all in its first bet and whose runs have gone on since ``SINCE``."""
    plain = born(START, 0.0, first_baseline(Shared(), KEY, JumpConfig()))
    logs = (math.log(statistic), *(-math.inf,) * 3)
    run = Run(warmth, SINCE, {})
    totals = {"rest": Totals(100, 30, 100, 30, 100, 100, 30)}
    return replace(plain, log_statistics=logs, runs=(run,) * 4, totals=totals)


def firing(log_evidence: float = 0.0) -> Series:
    """A series that fires since ``AT``, with so much evidence of recovery."""
    fired, _ = moved(series(2.0), KEY, AT)
    assert fired.episode is not None
    recovery = Recovery(2.0, 0.1, log_evidence)
    return replace(fired, episode=replace(fired.episode, recovery=recovery))


@pytest.mark.parametrize(
    ("statistic", "warmth", "expected"),
    [
        (9e-4, WARM, AlertState.INACTIVE),
        (1e-3, WARM, AlertState.PENDING),
        (0.9, WARM - 0.1, AlertState.INACTIVE),
        (0.9, WARM, AlertState.PENDING),
        (1.0, WARM, AlertState.FIRING),
        (1.0, 0.0, AlertState.FIRING),
    ],
)
def test_quiet_series_moves_by_its_statistic(statistic: float, warmth: float, expected: AlertState) -> None:
    """Pending needs evidence from data as well as M ≥ 0.001; firing is M ≥ 1."""
    assert expected is next_state(series(statistic, warmth), AT)


@pytest.mark.parametrize(("statistic", "expected"), [(2.6e-4, AlertState.PENDING), (2.4e-4, AlertState.INACTIVE)])
def test_pending_is_released_below_a_quarter_of_its_bar(statistic: float, expected: AlertState) -> None:
    """The gap between the bars keeps an alert from flapping."""
    pending, _ = moved(series(0.01), KEY, AT)
    assert expected is next_state(replace(pending, log_statistics=series(statistic).log_statistics), AT)


@pytest.mark.parametrize(
    ("log_evidence", "after", "expected"),
    [
        (RESOLVED, HOUR, AlertState.RESOLVED),
        (RESOLVED, HOUR - timedelta(minutes=5), AlertState.FIRING),
        (RESOLVED - 0.1, timedelta(days=9), AlertState.FIRING),
    ],
)
def test_resolved_takes_evidence_and_an_hour(log_evidence: float, after: timedelta, expected: AlertState) -> None:
    """Neither time nor evidence alone resolves."""
    assert expected is next_state(firing(log_evidence), AT + after)


def test_series_that_fires_at_once_was_pending_too() -> None:
    """A single bucket can be enough; both times are then its end."""
    after, alert = moved(series(2.0), KEY, AT)
    assert alert is not None
    assert (AlertState.FIRING, AT, AT) == (alert.state, alert.pending_at, alert.fired_at)
    assert after.is_firing


def test_alert_says_rate_reference_ratio_and_samples_since_the_onset() -> None:
    """30 of 100 since the onset, against the reference's mean."""
    _, alert = moved(series(2.0), KEY, AT)
    assert alert is not None
    assert (SINCE, 100, 100, 0.3) == (alert.since, alert.samples, alert.rate.n, alert.rate.rate)
    assert alert.reference.rate is not None
    assert pytest.approx(0.3 / alert.reference.rate) == alert.ratio


def test_resolved_series_starts_from_nothing() -> None:
    """No evidence is carried into the next episode."""
    after, alert = moved(firing(RESOLVED), KEY, AT + HOUR)
    assert alert is not None
    assert (AlertState.RESOLVED, AT + HOUR) == (alert.state, alert.resolved_at)
    assert (None, 0.0) == (after.episode, after.statistic)


def test_deploy_brings_its_budget_once() -> None:
    """A deploy from before the resolved alert does not bring its lump again."""
    old = deploy(3, "m-2", 0.0).event
    after, _ = moved(firing(RESOLVED), KEY, AT + HOUR)
    seen = Seen(AT + HOUR, 0, {}, 0.0, [old])
    fresh, _ = injected(born(START, 0.0, after.baseline), seen)
    assert pytest.approx(old.lump) == math.exp(log_sum(fresh))
    assert ((-math.inf,) * 4, ()) == injected(after, seen)


def test_id_is_made_from_rule_slice_detector_and_start() -> None:
    """Equal parts give the equal id, any other part another one."""
    others = [KEY._replace(intent="orders"), KEY._replace(tier=RiskTier.HIGH), KEY._replace(fingerprint="x")]
    ids = [alert_id(key, AT) for key in (KEY, *others)] + [alert_id(KEY, AT + HOUR)]
    assert ids[0] == alert_id(KEY, AT)
    assert 5 == len(set(ids))


def deploy(at_hour: int, name: str, log_factor: float) -> Trail:
    """A confirmed deploy of model ``name`` whose first bet has this log factor since then."""
    event = DeployEvent(START + at_hour * HOUR, (("model", name),), ("m-1",), lump=0.004, is_confirmed=True)
    return Trail(event, (log_factor, *(-math.inf,) * 3), {})


def test_likely_deploy_is_named_alone_and_dates_the_onset() -> None:
    """With nearly all of M coming from one deploy, it alone is given."""
    share = 0.004 / 4
    found = replace(
        series(1.0), trails=(deploy(3, "m-2", math.log(0.05 / share)), deploy(12, "m-3", math.log(0.9 / share)))
    )
    assert START + 12 * HOUR == onset(found)[0]
    assert [("m-3", 0.9)] == [(change.after, change.posterior) for change in changes(found)]


def test_unclear_deploys_are_listed_by_posterior() -> None:
    """Two that share the evidence are both given, the likelier first; the negligible one is not."""
    share = 0.004 / 4
    trails = [
        deploy(hour, name, math.log(part / share))
        for hour, name, part in ((3, "a", 0.3), (4, "b", 0.6), (5, "c", 0.01))
    ]
    found = replace(series(1.0), trails=tuple(trails))
    assert ["b", "a"] == [change.after for change in changes(found)]
    assert pytest.approx([0.6, 0.3, 0.01]) == [posterior for posterior, _ in ranked(found)]


def test_unknown_time_leaves_the_onset_to_the_run() -> None:
    """When the deploy explains little, the rise dates from where the data begin to speak."""
    found = replace(series(1.0), trails=(deploy(3, "m-2", math.log(0.02 / 0.001)),))
    assert (SINCE, ()) == (onset(found)[0], changes(found))
