"""An alert's page: what broke, since when, for whom, after which change, and what it looks like."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from dashboards import series
from dashboards.charts import Curve, Frame, curve, top_of
from dashboards.periods import floor, step_for
from dashboards.views.answers import BAD
from schemas.alert import Alert, AlertExample, RateEstimate
from schemas.tally import Tally
from streams.store.records import Deploy, FlaggedAnswer

CHART_WIDTH, CHART_HEIGHT, CHART_LEFT, CHART_UPPER = 790.0, 190.0, 54.0, 22.0
CHART_POINTS = 36
LEAST_BEFORE, MOST_BEFORE = timedelta(hours=24), timedelta(days=7)
EXAMPLES = 5
VERSION_VALUES = 6


@dataclass(frozen=True, slots=True)
class Window:
    """The time that an alert's chart covers, around the onset, in steps of ``step``."""

    start: datetime
    end: datetime
    step: timedelta


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment on the chart."""

    x: float
    at: datetime
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Gridline:
    """A labelled line of the chart: horizontal at a rate, or vertical at a moment."""

    place: float
    share: float = 0.0
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """The rate around the onset, beside the reference that it is compared with."""

    frame: Frame
    step: timedelta
    curve: Curve
    marks: tuple[Mark, ...]
    rows: tuple[Gridline, ...]
    columns: tuple[Gridline, ...]
    reference: tuple[float, float, float] | None
    """Vertical places of the reference's upper end, value and lower end."""


@dataclass(frozen=True, slots=True)
class VersionRate:
    """The slice's rate under one value of the version field that changed, over the same days."""

    field: str
    value: str
    rate: RateEstimate
    is_new: bool


@dataclass(frozen=True, slots=True)
class IncidentPage:
    """Everything an alert's page shows; ``since_then`` is the rate over the whole steps after the onset."""

    alert: Alert
    chart: Chart
    since_then: RateEstimate
    versions: tuple[VersionRate, ...]
    examples: tuple[AlertExample, ...]


def window(alert: Alert, now: datetime) -> Window:
    """From a day to a week before the onset up to now, or to six hours after the alert was resolved."""
    end = now if alert.resolved_at is None else min(now, alert.resolved_at + timedelta(hours=6))
    end = max(end, alert.since + timedelta(hours=1))
    before = min(max(end - alert.since, LEAST_BEFORE), MOST_BEFORE)
    step = step_for(end - alert.since + before, points=CHART_POINTS)
    return Window(floor(alert.since - before, step), end, step)


def incident(
    alert: Alert, span: Window, tallies: Sequence[Tally], versions: Sequence[Tally], deploys: Sequence[Deploy]
) -> IncidentPage:
    """The page without examples; ``versions`` are tallies kept apart by version, ``tallies`` those of the chart."""
    own = _own(alert, tallies)
    end = alert.resolved_at or span.end
    return IncidentPage(
        alert=alert,
        chart=_chart(alert, span, own, deploys),
        since_then=series.rate_of([tally for tally in own if alert.since <= tally.bucket < end]),
        versions=_version_rates(alert, _own(alert, versions)),
        examples=(),
    )


def examples(recorded: Sequence[AlertExample], flagged: Sequence[FlaggedAnswer]) -> tuple[AlertExample, ...]:
    """The alert's own examples first, then one bad claim each of other flagged answers, up to five."""
    known = {example.trace_id for example in recorded}
    found = [
        AlertExample(
            trace_id=answer.trace.trace_id,
            ts=answer.trace.ts,
            question=answer.trace.question,
            claim=claim.claim.text,
            label=claim.label,
            evidence=claim.evidence.text if claim.evidence else "",
            doc_id=claim.evidence.doc_id if claim.evidence else "",
        )
        for answer in flagged
        if answer.trace.trace_id not in known
        for claim in [next((claim for claim in answer.verdict.claims if claim.label in BAD), None)]
        if claim is not None
    ]
    return (*recorded, *found)[:EXAMPLES]


def _own(alert: Alert, tallies: Sequence[Tally]) -> list[Tally]:
    """The alert's slice as its detector saw it."""
    cell = alert.slice
    rows = [tally for tally in tallies if tally.intent == cell.intent and tally.tier == cell.tier]
    return series.of_detector(rows, alert.fingerprint or series.current_fingerprint(rows))


def _chart(alert: Alert, span: Window, tallies: Sequence[Tally], deploys: Sequence[Deploy]) -> Chart:
    step = series.trend_step(tallies, span.step)
    points = series.points(tallies, step)
    top = max(top_of([point.rate for point in points]), top_of([alert.reference]))
    frame = Frame(span.start, span.end, top, CHART_WIDTH, CHART_HEIGHT, CHART_LEFT, CHART_UPPER)
    return Chart(
        frame=frame,
        step=step,
        curve=curve(points, frame, step),
        marks=_marks(alert, frame, deploys),
        rows=tuple(Gridline(frame.y(top * part / 4), share=top * part / 4) for part in range(5)),
        columns=_columns(frame),
        reference=_reference(alert.reference, frame),
    )


def _marks(alert: Alert, frame: Frame, deploys: Sequence[Deploy]) -> tuple[Mark, ...]:
    moments = [("onset", "since", alert.since), ("fired", "fired", alert.fired_at)]
    moments.append(("resolved", "resolved", alert.resolved_at))
    marks = [Mark(frame.x(at), at, kind, text) for kind, text, at in moments if at and frame.start <= at <= frame.end]
    changes = [(change.at, f"{change.field} → {change.after}") for change in alert.changes]
    changes += [(at, text) for at, text in _deploy_texts(alert, deploys) if (at, text) not in changes]
    marks += [Mark(frame.x(at), at, "change", text) for at, text in changes if frame.start <= at <= frame.end]
    return tuple(marks)


def _deploy_texts(alert: Alert, deploys: Sequence[Deploy]) -> list[tuple[datetime, str]]:
    concerned = [deploy for deploy in deploys if deploy.intent in {"*", alert.slice.intent}]
    return [(deploy.at, f"{deploy.field} → {deploy.value}") for deploy in concerned]


def _columns(frame: Frame) -> tuple[Gridline, ...]:
    """Five moments evenly spaced, on whole steps of an hour where the window is long enough."""
    gap = (frame.end - frame.start) / 5
    moments = [floor(frame.start + gap * part, min(timedelta(hours=1), gap)) for part in range(1, 5)]
    return tuple(Gridline(frame.x(moment), at=moment) for moment in moments)


def _reference(rate: RateEstimate, frame: Frame) -> tuple[float, float, float] | None:
    if rate.rate is None:
        return None
    return frame.y(rate.high), frame.y(rate.rate), frame.y(rate.low)


def _version_rates(alert: Alert, tallies: Sequence[Tally]) -> tuple[VersionRate, ...]:
    """Rates by value of the first changed field, the newest value first."""
    if not alert.changes:
        return ()
    change = alert.changes[0]
    groups = series.group(tallies, lambda tally: str(getattr(tally.versions, change.field, "")))
    rates = [
        VersionRate(change.field, value, series.rate_of(rows), is_new=value == change.after)
        for value, rows in groups.items()
    ]
    judged = [rate for rate in rates if rate.rate.n]
    return tuple(sorted(judged, key=lambda rate: (not rate.is_new, -rate.rate.n))[:VERSION_VALUES])
