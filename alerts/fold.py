"""The fold over closed buckets: state in, bucket in, state and changed alerts out, with no clock but bucket time.

Series without rows cost nothing: the budget that time brings is read off one clock when a series is next touched,
which is exact because a bucket without data has the factor 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from alerts.baselines import DROPPED, LocalDay, Shared, counted, first_baseline, local_day, next_renewal, renewed
from alerts.buckets import CellKey, ClosedBucket, SeriesKey, totals_of
from alerts.config import MONTH, JumpConfig
from alerts.deploys import DeployEvent, SliceTraffic, mark, observe
from alerts.lifecycle import moved, told
from alerts.series import Seen, Series, born, with_counts, with_recovery
from schemas.alert import Alert
from schemas.labels import AlertState
from schemas.tally import Tally

ACTIVE = timedelta(days=7)
"""The budget is split over the series that had data within this time."""


@dataclass(frozen=True, slots=True)
class FoldState:
    """Everything that the fold remembers; share it freely, nothing in it ever changes.

    ``until`` is the end of the last bucket, ``mass`` the budget clock (what one slice has been given so far).
    """

    until: datetime | None = None
    mass: float = 0.0
    active: int = 0
    day: LocalDay | None = None
    renew_at: datetime | None = None
    shared: Shared = field(default_factory=Shared)
    series: Mapping[SeriesKey, Series] = field(default_factory=dict)
    cells: Mapping[CellKey, SliceTraffic] = field(default_factory=dict)


def fold(state: FoldState, bucket: ClosedBucket, config: JumpConfig) -> tuple[FoldState, tuple[Alert, ...]]:
    """The state after ``bucket`` and the alerts whose state changed in it, by slice and detector.

    Buckets come in order; left-out ones count as empty. Raises ValueError for a bucket that begins before the end of
    the last one: change the past with ``Folder``.
    """
    if state.until is not None and bucket.start < state.until:
        message = f"the bucket of {bucket.start.isoformat()} begins before {state.until.isoformat()}, the fold's end"
        raise ValueError(message)
    traffic, verdicts = _grouped(bucket.tallies)
    state = _prepared(state, bucket, verdicts, config)
    cells = _cells(state, bucket, traffic, config)
    series = dict(state.series)
    alerts: list[Alert] = []
    for key in sorted(verdicts):
        cell = cells.get(key.cell)
        series[key], alert = _touched(
            _Touch(series[key], key, verdicts[key], () if cell is None else cell.events), state, bucket, config
        )
        alerts += [] if alert is None else [alert]
    for key, alert in _newly_stale(series, bucket, config):
        series[key] = replace(series[key], is_stale=True)
        alerts.append(alert)
    return replace(state, series=series, cells=cells), tuple(alerts)


@dataclass(frozen=True, slots=True)
class _Touch:
    """A series, its rows in one bucket and the deploys of its slice."""

    series: Series
    key: SeriesKey
    rows: Sequence[Tally]
    events: tuple[DeployEvent, ...]


def _grouped(tallies: Iterable[Tally]) -> tuple[dict[CellKey, list[Tally]], dict[SeriesKey, list[Tally]]]:
    traffic: dict[CellKey, list[Tally]] = {}
    verdicts: dict[SeriesKey, list[Tally]] = {}
    for row in tallies:
        if row.fingerprint:
            verdicts.setdefault(SeriesKey(row.intent, row.tier, row.fingerprint), []).append(row)
        else:
            traffic.setdefault(CellKey(row.intent, row.tier), []).append(row)
    return traffic, verdicts


def _prepared(state: FoldState, bucket: ClosedBucket, keys: Iterable[SeriesKey], config: JumpConfig) -> FoldState:
    """The state moved to the bucket: references renewed if due, new series born, the budget clock advanced."""
    day, series, cells, shared, active = state.day, state.series, state.cells, state.shared, state.active
    renew_at = state.renew_at
    if day is None or renew_at is None or bucket.start >= renew_at:
        is_new_day = day is None or bucket.start >= day.end
        day = local_day(bucket.start, config.zone) if day is None or is_new_day else day
        series, shared = renewed(series, shared, bucket.start, config, is_new_day=is_new_day)
        if is_new_day:
            active = sum(bucket.start - one.seen_at <= ACTIVE for one in series.values())
            cells = {key: one for key, one in cells.items() if bucket.start - one.seen_at <= DROPPED}
        renew_at = next_renewal(series, bucket.start, day)
    newcomers = {
        key: born(bucket.start, state.mass, first_baseline(shared, key, config)) for key in keys if key not in series
    }
    if newcomers:
        series = {**series, **newcomers}
        active += len(newcomers)
        renew_at = min(renew_at, next_renewal(newcomers, bucket.start, day))
    elapsed = bucket.end - (state.until or bucket.start)
    mass = state.mass + 0.5 * config.budget(active) * (elapsed / MONTH)
    return FoldState(bucket.end, mass, active, day, renew_at, shared, series, cells)


def _cells(
    state: FoldState, bucket: ClosedBucket, traffic: Mapping[CellKey, Sequence[Tally]], config: JumpConfig
) -> Mapping[CellKey, SliceTraffic]:
    """What the traffic rows and the marks of the bucket say of deploys."""
    if not traffic and not bucket.deploys:
        return state.cells
    budget = config.budget(state.active)
    cells = dict(state.cells)
    for key, rows in traffic.items():
        known = cells.get(key) or SliceTraffic(bucket.start, bucket.start)
        cells[key] = observe(known, rows, bucket.start, budget, config.max_changes_per_day)
    if bucket.deploys:
        for key, known in cells.items():
            marks = [one for one in bucket.deploys if one.intent in {"*", key.intent}]
            cells[key] = mark(known, marks, bucket.start, budget)
    return cells


def _touched(touch: _Touch, state: FoldState, bucket: ClosedBucket, config: JumpConfig) -> tuple[Series, Alert | None]:
    """The series with its rows, and its alert if they changed the state or ended a silence."""
    series = touch.series
    day = state.day or local_day(bucket.start, config.zone)
    seen = Seen(bucket.start, day.number, totals_of(touch.rows), state.mass, touch.events)
    if series.is_firing:
        after = with_recovery(series, seen)
    else:
        after = with_counts(series, seen, config.odds_ratios, counted(series, seen, day))
    after, alert = moved(after, touch.key, bucket.end)
    if alert is None and series.is_stale and after.episode is not None:
        alert = told(after, touch.key, bucket.end)
    return after, alert


def _newly_stale(
    series: Mapping[SeriesKey, Series], bucket: ClosedBucket, config: JumpConfig
) -> list[tuple[SeriesKey, Alert]]:
    """Open alerts whose slice has been silent for too long; silence is told once and resolves nothing."""
    silent = [
        (key, one)
        for key, one in series.items()
        if one.episode is not None and not one.is_stale and bucket.end - one.seen_at > config.stale_after
    ]
    return [(key, told(one, key, bucket.end, AlertState.STALE)) for key, one in sorted(silent, key=_by_key)]


def _by_key(item: tuple[SeriesKey, Series]) -> SeriesKey:
    return item[0]


def open_alerts(state: FoldState) -> list[Alert]:
    """All alerts that are pending, firing or stale, with their rates as of the newest bucket."""
    return [
        told(one, key, state.until, AlertState.STALE if one.is_stale else None)
        for key, one in sorted(state.series.items(), key=_by_key)
        if one.episode is not None and state.until is not None
    ]


def confirmed_deploys(state: FoldState) -> list[tuple[str, DeployEvent]]:
    """The latest deploys that the traffic of each slice has shown or people have marked, with the slice's intent."""
    return [
        (key.intent, event) for key, cell in sorted(state.cells.items()) for event in cell.events if event.is_confirmed
    ]


@dataclass(frozen=True, slots=True)
class SliceStatus:
    """Where one series stands, for pages and commands; ``reference_level`` is the quantile that ``reference`` is."""

    key: SeriesKey
    state: AlertState
    statistic: float
    reference: float
    reference_level: float
    reference_answers: int
    seen_at: datetime


def statuses(state: FoldState, config: JumpConfig) -> list[SliceStatus]:
    """The state of every series: that of its alert, else stale, else learning while its baseline is young."""
    return [
        SliceStatus(
            key=key,
            state=_status(one, state, config),
            statistic=one.episode.evidence if one.episode is not None and one.is_firing else one.statistic,
            reference=one.baseline.rate,
            reference_level=one.baseline.level,
            reference_answers=round(one.baseline.counts.judged),
            seen_at=one.seen_at,
        )
        for key, one in sorted(state.series.items(), key=_by_key)
    ]


def _status(one: Series, state: FoldState, config: JumpConfig) -> AlertState:
    if state.until is not None and state.until - one.seen_at > config.stale_after:
        return AlertState.STALE
    if one.episode is not None:
        return one.episode.state
    return AlertState.INACTIVE if one.baseline.is_mature else AlertState.LEARNING
