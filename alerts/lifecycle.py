"""The states of an alert: pending by warm evidence, firing by the budgeted statistic, resolved by evidence alone.

No hold times but one (an hour between firing and resolved), and silence of the data never moves an alert but to stale.
"""

import math
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import blake2b

from alerts.buckets import SeriesKey, as_tallies, minus, nested
from alerts.explain import changes, onset
from alerts.jump import MINUS_INFINITY
from alerts.recovery import started
from alerts.series import Episode, Run, Series
from sampling.rates import estimate
from schemas.alert import Alert
from schemas.labels import AlertState

RULE = "jump"
PENDING = 1e-3
RELEASED = 2.5e-4
FIRING = 1.0
WARM = math.log(20.0)
"""A pending slice needs this much evidence from data: with few slices the budget alone lifts M beyond ``PENDING``."""
COLD = math.log(4.0)
RESOLVED = math.log(20.0)
SHORTEST_FIRING = timedelta(hours=1)


def next_state(series: Series, at: datetime) -> AlertState:
    """The state that the evidence asks for at ``at``, the end of a bucket; stale is the fold's to say."""
    episode = series.episode
    if episode is not None and episode.state is AlertState.FIRING:
        is_long_enough = episode.fired_at is not None and at - episode.fired_at >= SHORTEST_FIRING
        has_recovered = episode.recovery is not None and episode.recovery.log_evidence >= RESOLVED
        return AlertState.RESOLVED if has_recovered and is_long_enough else AlertState.FIRING
    statistic = series.statistic
    warmth = max(run.log_evidence for run in series.runs)
    if statistic >= FIRING:
        return AlertState.FIRING
    if episode is None:
        return AlertState.PENDING if statistic >= PENDING and warmth >= WARM else AlertState.INACTIVE
    return AlertState.PENDING if statistic >= RELEASED and warmth >= COLD else AlertState.INACTIVE


def moved(series: Series, key: SeriesKey, at: datetime) -> tuple[Series, Alert | None]:
    """The series after its lifecycle step, and the alert if its state changed."""
    state = next_state(series, at)
    current = AlertState.INACTIVE if series.episode is None else series.episode.state
    if state is current:
        return series, None
    if state is AlertState.PENDING:
        after = replace(series, episode=_opened(series, key, at))
        return after, told(after, key, at)
    if state is AlertState.FIRING:
        after = _fired(series, key, at)
        return after, told(after, key, at)
    if state is AlertState.RESOLVED:
        return _resolved(series, at), told(series, key, at, AlertState.RESOLVED)
    return replace(series, episode=None), told(series, key, at, AlertState.INACTIVE)


def told(series: Series, key: SeriesKey, at: datetime, state: AlertState | None = None) -> Alert:
    """The alert of the series' open episode as a record; ``state`` overrides the episode's."""
    episode = series.episode
    if episode is None:
        message = f"{key.cell.slice.slice_key} has no open episode to tell of"
        raise ValueError(message)
    since = minus(series.totals, episode.since_totals)
    rate = estimate(as_tallies(since, key, episode.since))
    reference = episode.reference
    is_known = rate.rate is not None and bool(reference.rate)
    return Alert(
        alert_id=episode.alert_id,
        rule=RULE,
        slice=key.cell.slice,
        state=state or episode.state,
        since=episode.since,
        pending_at=episode.pending_at,
        fired_at=episode.fired_at,
        resolved_at=at if state is AlertState.RESOLVED else None,
        updated_at=at,
        rate=rate,
        reference=reference,
        ratio=(rate.rate or 0.0) / (reference.rate or 1.0) if is_known else None,
        evidence=episode.evidence if episode.fired_at else min(series.statistic, 1e300),
        samples=episode.samples,
        fingerprint=key.fingerprint,
        changes=episode.changes,
    )


def alert_id(key: SeriesKey, started: datetime) -> str:
    """Stable id of an episode, made from rule, slice, detector and episode start: a replay gives the same one."""
    name = f"{RULE}\x1f{key.intent}\x1f{key.tier.value}\x1f{key.fingerprint}\x1f{started.isoformat()}"
    return f"{RULE}-{blake2b(name.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"


def _opened(series: Series, key: SeriesKey, at: datetime) -> Episode:
    since, totals = onset(series)
    return Episode(
        alert_id=alert_id(key, at),
        state=AlertState.PENDING,
        pending_at=at,
        since=since,
        since_totals=totals,
        reference=series.baseline.estimate(),
    )


def _fired(series: Series, key: SeriesKey, at: datetime) -> Series:
    """Firing: onset and causes are fixed, and counts from the onset's day on leave the history of the reference."""
    opened = series.episode or _opened(series, key, at)
    since, totals = onset(series)
    fresh = minus(series.totals, totals)
    judged_today = series.day_exposures[0] / series.baseline.exposures[0]
    episode = replace(
        opened,
        state=AlertState.FIRING,
        fired_at=at,
        since=since,
        since_totals=totals,
        evidence=min(series.statistic, 1e300),
        samples=round(sum(part.judged for part in fresh.values())),
        changes=changes(series),
        reference=series.baseline.estimate(),
        recovery=started(series.baseline.rate, *nested(fresh), judged_today),
    )
    return replace(
        series,
        episode=episode,
        history=tuple(block for block in series.history if block.end <= since),
        block=series.block if series.block is not None and series.block.end <= since else None,
    )


def _resolved(series: Series, at: datetime) -> Series:
    """The test begins anew, with nothing carried over; the next bucket starts a new day effect."""
    bets = len(series.log_statistics)
    return replace(
        series,
        episode=None,
        tested_from=at,
        log_statistics=(MINUS_INFINITY,) * bets,
        runs=(Run(0.0, series.seen_at, series.totals),) * bets,
        trails=(),
        day_hallucinated=0.0,
        day_exposures=(0.0,) * bets,
    )
