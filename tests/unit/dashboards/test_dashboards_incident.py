"""An alert's page."""

from datetime import timedelta

from dashboards.views.answers import BAD
from dashboards.views.incident import examples, incident, window
from schemas.alert import AlertExample, VersionChange
from schemas.labels import AlertState, Outcome, RiskTier
from streams.store import Deploy, FlaggedAnswer
from tests.builders import FINGERPRINT, NOW, alert, draw, tally, trace, traffic_tally, verdict, versions

HOUR = timedelta(hours=1)
FIRING = alert(changes=(VersionChange(field="prompt", before="p-1", after="p-2", at=NOW - 2 * HOUR),))


def flagged(trace_id: str) -> FlaggedAnswer:
    """A hallucinated answer."""
    return FlaggedAnswer(trace=trace(trace_id), draw=draw(), verdict=verdict(trace_id, Outcome.HALLUCINATED))


def example(trace_id: str) -> AlertExample:
    """An example that the alert carries."""
    return AlertExample(trace_id=trace_id, ts=NOW, question="q", claim="c", label="unsupported", evidence="", doc_id="")


def test_window_shows_a_day_before_the_onset() -> None:
    """Short alerts are seen against a day, long ones against as much time as they last."""
    short = window(alert(since=NOW - 2 * HOUR), NOW)
    assert NOW - 26 * HOUR - short.step < short.start <= NOW - 26 * HOUR
    long = window(alert(since=NOW - timedelta(days=3)), NOW)
    assert long.start <= NOW - timedelta(days=6)


def test_window_ends_soon_after_an_alert_was_resolved() -> None:
    """An old alert's page shows its own time."""
    done = alert(since=NOW - timedelta(days=9), state=AlertState.RESOLVED, resolved_at=NOW - timedelta(days=8))
    assert window(done, NOW).end == NOW - timedelta(days=8) + 6 * HOUR


def test_chart_holds_the_alerts_own_slice_and_detector_alone() -> None:
    """Other tiers, intents and detectors stay out."""
    rows = [
        traffic_tally(bucket=NOW - HOUR),
        tally(30, 3, bucket=NOW - HOUR),
        tally(30, 30, bucket=NOW - HOUR, fingerprint="shadow"),
        tally(30, 30, bucket=NOW - HOUR, tier=RiskTier.LOW),
        tally(30, 30, bucket=NOW - HOUR, intent="billing"),
    ]
    page = incident(FIRING, window(FIRING, NOW), rows, [], [])
    (dot,) = page.chart.curve.dots
    assert (dot.point.rate.n, round(dot.point.rate.rate or 0, 2)) == (30, 0.1)


def test_rate_since_the_onset_leaves_earlier_steps_out() -> None:
    """It is about what happens since, and goes on."""
    rows = [tally(100, 0, bucket=NOW - 4 * HOUR), tally(50, 25, bucket=NOW - HOUR)]
    page = incident(FIRING, window(FIRING, NOW), rows, [], [])
    assert (page.since_then.n, page.since_then.rate) == (50, 0.5)


def test_versions_are_compared_by_the_field_that_changed() -> None:
    """The new value first."""
    rows = [
        tally(100, 5, versions=versions(prompt="p-1"), fingerprint=FINGERPRINT),
        tally(40, 10, versions=versions(prompt="p-2"), fingerprint=FINGERPRINT),
    ]
    page = incident(FIRING, window(FIRING, NOW), [], rows, [])
    assert [("p-2", 40, True), ("p-1", 100, False)] == [(one.value, one.rate.n, one.is_new) for one in page.versions]


def test_deploys_of_other_intents_are_not_marked() -> None:
    """Only what concerns the slice, and lies inside the chart."""
    deploys = [
        Deploy(at=NOW - HOUR, intent="billing", field="model", value="m-2"),
        Deploy(at=NOW - HOUR, field="app", value="a-2"),
        Deploy(at=NOW - timedelta(days=30), field="app", value="a-1"),
    ]
    page = incident(FIRING, window(FIRING, NOW), [], [], deploys)
    assert ["since", "fired", "prompt → p-2", "app → a-2"] == [mark.text for mark in page.chart.marks]


def test_examples_of_the_alert_come_first_and_others_fill_up() -> None:
    """No trace twice, five at most, and only bad claims."""
    found = examples([example("t-1"), example("t-2")], [flagged(f"t-{number}") for number in range(9)])
    assert ["t-1", "t-2", "t-0", "t-3", "t-4"] == [item.trace_id for item in found]
    assert {label.value for label in BAD} >= {item.label for item in found}


def test_page_without_tallies_has_an_empty_chart() -> None:
    """Rows past their retention leave the alert readable."""
    page = incident(alert(), window(alert(), NOW), [], [], [])
    assert page.chart.curve.dots == ()
    assert page.since_then.rate is None
    assert page.versions == ()
