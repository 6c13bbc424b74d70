"""What has been told of which episode, so that a refolded past keeps its ids and is told only where it differs.

The fold makes an id from the episode's start; late verdicts may move that start, but what was paged stays one episode.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from schemas.alert import Alert
from schemas.labels import AlertState

HISTORICAL = timedelta(hours=24)
"""Alerts from buckets further behind than this are history: shown, never paged."""
KEPT = timedelta(days=2)
OPEN_STATES = frozenset({AlertState.PENDING, AlertState.FIRING, AlertState.STALE})


class AlertBook:
    """The newest alert told of each episode that is open or was until two days ago."""

    def __init__(self, known: Iterable[Alert] = ()) -> None:
        self._told = {alert.alert_id: alert for alert in known}
        self._renamed: dict[str, str] = {}

    def tell(self, alerts: Iterable[Alert], now: datetime) -> list[Alert]:
        """The alerts of a forward fold that have not been told yet, in their order, under their final ids."""
        fresh = []
        for alert in alerts:
            named = self._final(alert, now)
            told = self._told.get(named.alert_id)
            if told is None or named.updated_at > told.updated_at:
                self._told[named.alert_id] = named
                fresh.append(named)
        return fresh

    def correct(self, alerts: Iterable[Alert], now: datetime) -> list[Alert]:
        """Where a refolded past differs from what was told; ``alerts`` holds the newest of each episode."""
        differing = []
        for alert in alerts:
            named = self._final(alert, now)
            told = self._told.get(named.alert_id)
            if told is None or _decided(told) != _decided(named):
                self._told[named.alert_id] = named
                differing.append(named)
        return differing

    def withdraw(self, still_open: Iterable[Alert], since: datetime, until: datetime) -> list[Alert]:
        """Episodes told as open that the fold from ``since`` to ``until`` does not hold any more, as inactive."""
        held = {self._renamed.get(alert.alert_id, alert.alert_id) for alert in still_open}
        gone = [
            alert.model_copy(update={"state": AlertState.INACTIVE, "updated_at": until})
            for alert in self._told.values()
            if alert.state in OPEN_STATES
            and alert.alert_id not in held
            and since <= (alert.pending_at or alert.since)
            and alert.updated_at <= until
        ]
        self._told.update({alert.alert_id: alert for alert in gone})
        return gone

    def forget(self, before: datetime) -> None:
        """Drop episodes that ended more than two days before ``before``."""
        self._told = {
            key: alert
            for key, alert in self._told.items()
            if alert.state in OPEN_STATES or alert.updated_at > before - KEPT
        }
        self._renamed = {raw: final for raw, final in self._renamed.items() if final in self._told}

    def _final(self, alert: Alert, now: datetime) -> Alert:
        """The alert under the id of the episode it continues, with its place in history decided."""
        if alert.alert_id not in self._told and alert.alert_id not in self._renamed:
            taken = set(self._renamed.values())
            overlapping = [old for old in self._told.values() if old.alert_id not in taken and _overlap(old, alert)]
            if overlapping:
                first = min(overlapping, key=lambda old: (old.fired_at is None, old.pending_at or old.since))
                self._renamed[alert.alert_id] = first.alert_id
        final = self._renamed.get(alert.alert_id, alert.alert_id)
        told = self._told.get(final)
        is_settled = told is not None and told.fired_at is not None
        is_historical = told.is_historical if told and is_settled else now - alert.updated_at > HISTORICAL
        return alert.model_copy(update={"alert_id": final, "is_historical": is_historical})


def _overlap(old: Alert, new: Alert) -> bool:
    if (old.rule, old.slice, old.fingerprint) != (new.rule, new.slice, new.fingerprint):
        return False
    return _begins(new) < _ends(old) and _begins(old) < _ends(new)


def _begins(alert: Alert) -> datetime:
    return alert.pending_at or alert.since


def _ends(alert: Alert) -> datetime:
    if alert.state in OPEN_STATES:
        return datetime.max.replace(tzinfo=alert.updated_at.tzinfo)
    return alert.updated_at


def _decided(alert: Alert) -> tuple[object, ...]:
    """What a correction is about; the rate of an open alert moves all the time and is read from the store."""
    return (alert.state, alert.fired_at, alert.resolved_at, alert.since, alert.changes)
