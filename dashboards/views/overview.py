"""The overview: one row per intent and tier, worst first, under the alerts that hold now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from dashboards import series
from dashboards.charts import Curve, Frame, curve, top_of
from dashboards.periods import Period
from dashboards.views.corrected import CorrectedView
from dashboards.views.history import History, history_of
from dashboards.views.unmapped import share_of
from sampling.budget_report import PotReport
from schemas.alert import Alert, RateEstimate
from schemas.labels import AlertState, RiskTier
from schemas.slice import Slice
from schemas.tally import Tally
from streams.store.records import Deploy

SPARK_WIDTH, SPARK_HEIGHT = 168.0, 40.0
OPEN = (AlertState.FIRING, AlertState.PENDING, AlertState.STALE)
RECENT = timedelta(hours=24)
"""For this long a slice is called resolved; afterwards it is as any other."""
_URGENCY = (
    AlertState.FIRING,
    AlertState.PENDING,
    AlertState.STALE,
    AlertState.LEARNING,
    AlertState.RESOLVED,
    AlertState.INACTIVE,
)
_TIERS = (RiskTier.HIGH, RiskTier.MEDIUM, RiskTier.LOW)


@dataclass(frozen=True, slots=True)
class Spark:
    """A row's trend over the chosen period, ``step`` a point, with marks where a version of its intent changed."""

    frame: Frame
    step: timedelta
    curve: Curve
    marks: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class SliceRow:
    """One alert cell. ``rate`` and ``coverage`` are over the last 24 h, ``usual`` is the rate over the last 21 days."""

    slice: Slice
    state: AlertState
    rate: RateEstimate
    usual: RateEstimate
    coverage: series.Coverage
    spark: Spark | None
    last_traffic: datetime | None
    alert: Alert | None


@dataclass(frozen=True, slots=True)
class IntentGroup:
    """The rows of one intent, highest risk first."""

    intent: str
    rows: tuple[SliceRow, ...]


@dataclass(frozen=True, slots=True)
class Release:
    """One version that came into use; ``at`` is its first sight in any of ``intents``."""

    at: datetime
    field: str
    value: str
    intents: tuple[str, ...]
    is_detected: bool
    note: str

    @property
    def is_everywhere(self) -> bool:
        """True when somebody marked it for all intents."""
        return "*" in self.intents


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything the overview shows; ``other_verdicts`` counts those by detectors whose series is not shown."""

    period: Period
    groups: tuple[IntentGroup, ...]
    open_alerts: tuple[Alert, ...]
    releases: tuple[Release, ...]
    fingerprint: str
    other_verdicts: int
    top: float
    unmapped_share: float = 0.0
    """Share of the last 24 h's traces without an intent."""
    corrected: CorrectedView | None = None
    """None for a reader of some tenants only."""
    budgets: tuple[PotReport, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True when no trace was seen in any slice."""
        return not self.groups

    def in_state(self, state: str) -> int:
        """How many slices are in a state."""
        return sum(row.state == state for group in self.groups for row in group.rows)


@dataclass(frozen=True, slots=True)
class SliceReads:
    """Tallies by slice, of one detector."""

    day: Mapping[Slice, Sequence[Tally]]
    usual: Mapping[Slice, Sequence[Tally]]
    older: Mapping[Slice, Sequence[Tally]]
    usual_step: timedelta


@dataclass(frozen=True, slots=True)
class TallyReads:
    """Tallies of the last 24 h, of the chosen period, of the last 21 days in ``usual_step``, and of the time before."""

    day: Sequence[Tally]
    trend: Sequence[Tally]
    usual: Sequence[Tally]
    usual_step: timedelta
    older: Sequence[Tally] = ()


def overview(
    period: Period, reads: TallyReads, alerts: Sequence[Alert], deploys: Sequence[Deploy], now: datetime
) -> Overview:
    """The page's content from tallies, alerts and version changes."""
    fingerprint = series.current_fingerprint([*reads.day, *reads.usual])
    day, trend, usual, older = (
        series.by_slice(series.of_detector(tallies, fingerprint))
        for tallies in (reads.day, reads.trend, reads.usual, reads.older)
    )
    newest = _newest_alerts(alerts)
    sparks = _sparks(period, trend, deploys, now)
    rows = [
        _row(cell, SliceReads(day, usual, older, reads.usual_step), newest.get(cell), sparks.get(cell), now)
        for cell in {**usual, **day, **{cell: [] for cell, alert in newest.items() if alert.state in OPEN}}
    ]
    return Overview(
        period=period,
        groups=_grouped(rows),
        open_alerts=open_alerts(alerts),
        releases=_releases(deploys),
        fingerprint=fingerprint,
        other_verdicts=sum(tally.judged for tally in reads.usual if tally.fingerprint not in {"", fingerprint}),
        unmapped_share=share_of(reads.day),
        top=next((spark.frame.top for spark in sparks.values()), 1.0),
    )


def _releases(deploys: Sequence[Deploy]) -> tuple[Release, ...]:
    """Deploys by version, since one release is seen in each intent for itself; newest first."""
    by_version: dict[tuple[str, str], list[Deploy]] = {}
    for deploy in sorted(deploys, key=lambda deploy: deploy.at):
        by_version.setdefault((deploy.field, deploy.value), []).append(deploy)
    found = [
        Release(
            at=same[0].at,
            field=name,
            value=value,
            intents=tuple(sorted({deploy.intent for deploy in same})),
            is_detected=all(deploy.source == "detected" for deploy in same),
            note=next((deploy.note for deploy in same if deploy.note), ""),
        )
        for (name, value), same in by_version.items()
    ]
    return tuple(sorted(found, key=lambda release: release.at, reverse=True))


def open_alerts(alerts: Sequence[Alert]) -> tuple[Alert, ...]:
    """Alerts that somebody should know of now, the most urgent first, then the newest; none that is historical."""
    held = [alert for alert in alerts if alert.state in OPEN and not alert.is_historical]
    newest_first = sorted(held, key=lambda alert: alert.since, reverse=True)
    return tuple(sorted(newest_first, key=lambda alert: _URGENCY.index(alert.state)))


def state_of(alert: Alert | None, history: History, now: datetime) -> AlertState:
    """The slice's state: an open alert's, else ``stale``, ``learning``, or what is left.

    Silence is never recovery: an open alert stays what it is, and a slice without the traffic it should have is stale.
    """
    if alert and alert.state in OPEN:
        return alert.state
    if history.is_silent(now):
        return AlertState.STALE
    if history.is_young:
        return AlertState.LEARNING
    resolved_at = alert.resolved_at if alert else None
    return AlertState.RESOLVED if resolved_at and now - resolved_at < RECENT else AlertState.INACTIVE


def _row(cell: Slice, slices: SliceReads, alert: Alert | None, spark: Spark | None, now: datetime) -> SliceRow:
    day, usual = slices.day.get(cell, []), slices.usual.get(cell, [])
    history = history_of(day, usual, slices.older.get(cell, []), slices.usual_step, now)
    return SliceRow(
        slice=cell,
        state=state_of(alert, history, now),
        rate=series.rate_of(day),
        usual=series.rate_of(usual),
        coverage=series.coverage(day),
        spark=spark,
        last_traffic=history.last_traffic,
        alert=alert,
    )


def _sparks(
    period: Period, trend: Mapping[Slice, Sequence[Tally]], deploys: Sequence[Deploy], now: datetime
) -> dict[Slice, Spark]:
    """The trends, all with the same vertical axis, so that rows compare."""
    steps = {cell: series.trend_step(rows, period.step) for cell, rows in trend.items()}
    points = {cell: series.points(rows, steps[cell]) for cell, rows in trend.items()}
    top = top_of([point.rate for members in points.values() for point in members])
    frame = Frame(period.start(now), now, top, SPARK_WIDTH - 8, SPARK_HEIGHT - 8, left=2, upper=4)
    return {
        cell: Spark(
            frame=frame,
            step=steps[cell],
            curve=curve(points[cell], frame, steps[cell]),
            marks=tuple(
                frame.x(deploy.at) for deploy in deploys if _concerns(deploy, cell) and deploy.at >= frame.start
            ),
        )
        for cell in trend
    }


def _newest_alerts(alerts: Sequence[Alert]) -> Mapping[Slice, Alert]:
    """The alert that speaks for each slice: the most urgent, then the newest."""
    ranked = sorted(alerts, key=lambda alert: (-_URGENCY.index(alert.state), alert.since))
    return {alert.slice: alert for alert in ranked if alert.is_of_slice and not alert.is_historical}


def _grouped(rows: Sequence[SliceRow]) -> tuple[IntentGroup, ...]:
    by_intent: dict[str, list[SliceRow]] = {}
    for row in rows:
        by_intent.setdefault(row.slice.intent, []).append(row)
    groups = [
        IntentGroup(intent, tuple(sorted(members, key=lambda row: _TIERS.index(row.slice.tier))))
        for intent, members in by_intent.items()
    ]
    return tuple(sorted(groups, key=_rank))


def _rank(group: IntentGroup) -> tuple[int, int, str]:
    """Intents with an open alert first, then by traffic."""
    open_rank = min(min(_URGENCY.index(row.state), _URGENCY.index(AlertState.STALE)) for row in group.rows)
    return open_rank, -sum(row.coverage.traffic for row in group.rows), group.intent


def _concerns(deploy: Deploy, cell: Slice) -> bool:
    return deploy.intent in {"*", cell.intent}
