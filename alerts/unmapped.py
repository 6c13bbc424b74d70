"""Traces without an intent: an alert when they are too large a share of an hour's traffic.

What no rule maps is one slice of everything, and a jump in it is found late or not at all; no rate shows that. The
share is a count of all traffic, so it needs no test: a limit, a second lower one, and enough traces.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import NamedTuple

from pydantic import Field

from alerts.buckets import ClosedBucket
from schemas.alert import UNMAPPED_RULE, Alert, RateEstimate
from schemas.base import Record
from schemas.labels import AlertState, RiskTier
from schemas.slice import Slice
from schemas.trace import UNMAPPED

RULE = UNMAPPED_RULE
SLICE = Slice(intent=UNMAPPED, tier=RiskTier.MEDIUM)
"""Stands for all that is unmapped, whatever its tier."""
WINDOW = timedelta(hours=1)
RELEASED = 0.5
"""An episode ends at this part of the limit, so that a share near the limit is one episode and not twenty."""
LEARNING = timedelta(hours=24)
"""Nobody is paged in the first day of traffic: rules are being written then, and the page shows the share anyway."""
STALE_AFTER = timedelta(hours=24)
"""Silence for so long is told once; it is no recovery."""


class UnmappedConfig(Record):
    """When the share is too large: above ``share`` of at least ``least_traces`` traces of an hour; 1 turns it off."""

    share: float = Field(default=0.2, gt=0, le=1)
    least_traces: int = Field(default=200, ge=1)


class Counted(NamedTuple):
    """All traffic of one bucket, and what of it is unmapped."""

    start: datetime
    traffic: int
    unmapped: int


@dataclass(frozen=True, slots=True)
class UnmappedState:
    """What the rule remembers: the buckets of the last hour that had traffic, and the open episode as last told."""

    until: datetime | None = None
    first_at: datetime | None = None
    seen_at: datetime | None = None
    hour: tuple[Counted, ...] = ()
    episode: Alert | None = None

    @property
    def traffic(self) -> int:
        """Traces of the last hour."""
        return sum(one.traffic for one in self.hour)

    @property
    def share(self) -> float:
        """Share of the last hour's traces that is unmapped; 0 without any."""
        return sum(one.unmapped for one in self.hour) / max(self.traffic, 1)


def fold_unmapped(
    state: UnmappedState, bucket: ClosedBucket, config: UnmappedConfig
) -> tuple[UnmappedState, tuple[Alert, ...]]:
    """The state after ``bucket``, and the alert if its state changed. Buckets come in order; left-out ones are empty.

    Raises ValueError for a bucket that begins before the end of the last one.
    """
    if state.until is not None and bucket.start < state.until:
        message = f"the bucket of {bucket.start.isoformat()} begins before {state.until.isoformat()}, the fold's end"
        raise ValueError(message)
    state = _counted(state, bucket)
    told = _moved(state, bucket.end, config)
    if told is None:
        return state, ()
    return replace(state, episode=None if told.state is AlertState.RESOLVED else told), (told,)


def open_episode(state: UnmappedState) -> list[Alert]:
    """The open episode, if there is one."""
    return [] if state.episode is None else [state.episode]


def _counted(state: UnmappedState, bucket: ClosedBucket) -> UnmappedState:
    rows = [row for row in bucket.tallies if not row.fingerprint]
    here = Counted(
        bucket.start, sum(row.traffic for row in rows), sum(row.traffic for row in rows if row.intent == UNMAPPED)
    )
    found = (*state.hour, here) if here.traffic else state.hour
    return replace(
        state,
        until=bucket.end,
        first_at=state.first_at or (bucket.start if here.traffic else None),
        seen_at=bucket.end if here.traffic else state.seen_at,
        hour=tuple(one for one in found if one.start >= bucket.end - WINDOW),
    )


def _moved(state: UnmappedState, at: datetime, config: UnmappedConfig) -> Alert | None:
    """The episode's next state, None while it stays as it is."""
    episode = state.episode
    is_enough = state.traffic >= config.least_traces
    if episode is None:
        is_learning = state.first_at is None or at - state.first_at < LEARNING
        return _opened(state, at, config) if is_enough and state.share > config.share and not is_learning else None
    is_old = episode.fired_at is not None and at - episode.fired_at >= WINDOW
    if is_enough and is_old and state.share <= RELEASED * config.share:
        return _updated(episode, state, at, AlertState.RESOLVED)
    silent = at - (state.seen_at or at)
    if episode.state is AlertState.FIRING and silent > STALE_AFTER:
        return _updated(episode, state, at, AlertState.STALE)
    if episode.state is AlertState.STALE and silent <= STALE_AFTER:
        return _updated(episode, state, at, AlertState.FIRING)
    return None


def _opened(state: UnmappedState, at: datetime, config: UnmappedConfig) -> Alert:
    limit = config.share
    return Alert(
        alert_id=_alert_id(at),
        rule=RULE,
        slice=SLICE,
        state=AlertState.FIRING,
        since=_onset(state.hour, limit),
        fired_at=at,
        updated_at=at,
        rate=_exact(state.share, state.traffic),
        reference=_exact(limit, 0),
        ratio=state.share / limit,
        samples=state.traffic,
    )


def _updated(episode: Alert, state: UnmappedState, at: datetime, to: AlertState) -> Alert:
    """The episode in another state; the share is the present one where there is traffic."""
    changed: dict[str, object] = {"state": to, "updated_at": at}
    if to is AlertState.RESOLVED:
        changed["resolved_at"] = at
    if state.traffic:
        limit = episode.reference.rate or 1.0
        changed |= {"rate": _exact(state.share, state.traffic), "ratio": state.share / limit}
    return episode.model_copy(update=changed)


def _onset(hour: Sequence[Counted], limit: float) -> datetime:
    """The first bucket of the hour that is itself above the limit; there is one when the hour is."""
    return next(one.start for one in hour if one.unmapped > limit * one.traffic)


def _exact(share: float, traces: int) -> RateEstimate:
    """A share of all traffic has no sampling error, so its interval is itself."""
    return RateEstimate(rate=share, low=share, high=share, n=traces)


def _alert_id(started: datetime) -> str:
    """Stable id of an episode: a replay gives the same one."""
    return f"{RULE}-{blake2b(started.isoformat().encode(), digest_size=8).hexdigest()}"
