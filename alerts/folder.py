"""Keeps a fold going over a stream of closed buckets, and folds the last hours again where a bucket has changed.

A checkpoint is a reference to an immutable state, so hourly ones cost next to nothing. Changes older than the oldest
checkpoint correct reports only.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Generic

from alerts.book import AlertBook
from alerts.buckets import ClosedBucket
from alerts.rules import Dated, Rule, S
from schemas.alert import Alert

REFOLDED = timedelta(hours=6)
"""How far back, in event time, a changed bucket is folded again."""
CHECKPOINT_EVERY = timedelta(hours=1)


class Folder(Generic[S]):
    """One owner's fold of one rule; not safe for use by two threads at once.

    ``known`` are alerts told before a restart: replay buckets of the same length from before them, and they keep their
    ids, are not told again, and are withdrawn if the buckets no longer bear them out. Those of other rules are ignored.
    """

    def __init__(self, rule: Rule[S], *, known: Sequence[Alert] = ()) -> None:
        self._rule = rule
        self._state = rule.first
        self._book = AlertBook(alert for alert in known if alert.rule == rule.name)
        self._checkpoints: list[S] = []
        self._recent: dict[datetime, ClosedBucket] = {}
        self._begun: datetime | None = None
        self.too_late = 0
        """Changed buckets so far that came too late for the tests."""

    @property
    def state(self) -> S:
        """The state after the newest bucket."""
        return self._state

    def advance(self, closed: Sequence[ClosedBucket], now: datetime) -> list[Alert]:
        """Fold new buckets and refold changed ones; gives the alerts to store and, if not historical, to send.

        Buckets may come in any order within one call; each must be whole (all rows it holds now). ``now`` is the wall
        clock and decides only what is history.
        """
        ordered = sorted((_with_tuples(bucket) for bucket in closed), key=lambda bucket: bucket.start)
        until = self._state.until
        changed = [bucket for bucket in ordered if until is not None and bucket.start < until]
        alerts = self._refolded(changed, now)
        for bucket in ordered[len(changed) :]:
            alerts += self._book.tell(self._step(bucket), now)
        if self._state.until is not None and self._begun is not None:
            alerts += self._book.withdraw(self._rule.open(self._state), self._begun, self._state.until)
            self._book.forget(self._state.until)
        return alerts

    def _refolded(self, changed: Sequence[ClosedBucket], now: datetime) -> list[Alert]:
        reachable = [bucket for bucket in changed if self._is_reachable(bucket)]
        self.too_late += len(changed) - len(reachable)
        news = [bucket for bucket in reachable if not _is_same(self._recent.get(bucket.start), bucket)]
        if not news:
            return []
        for bucket in news:
            self._recent[bucket.start] = bucket
        start = min(bucket.start for bucket in news)
        base = max(number for number, state in enumerate(self._checkpoints) if _is_before(state, start))
        self._state = self._checkpoints[base]
        del self._checkpoints[base:]
        newest: dict[str, Alert] = {}
        for moment in sorted(self._recent):
            if self._state.until is None or moment >= self._state.until:
                newest.update({alert.alert_id: alert for alert in self._step(self._recent[moment])})
        for alert in self._rule.open(self._state):
            newest.setdefault(alert.alert_id, alert)
        return self._book.correct(newest.values(), now)

    def _is_reachable(self, bucket: ClosedBucket) -> bool:
        return any(_is_before(state, bucket.start) for state in self._checkpoints)

    def _step(self, bucket: ClosedBucket) -> tuple[Alert, ...]:
        self._begun = self._begun or bucket.start
        self._remember(bucket)
        self._state, alerts = self._rule.step(self._state, bucket)
        return alerts

    def _remember(self, bucket: ClosedBucket) -> None:
        """A checkpoint before the first bucket of each hour, and as many buckets as the oldest one needs."""
        newest = self._checkpoints[-1] if self._checkpoints else None
        if newest is None or bucket.start - (newest.until or bucket.start - CHECKPOINT_EVERY) >= CHECKPOINT_EVERY:
            self._checkpoints.append(self._state)
        while len(self._checkpoints) > 1 and _is_before(self._checkpoints[1], bucket.end - REFOLDED):
            del self._checkpoints[0]
        oldest = self._checkpoints[0].until
        self._recent[bucket.start] = bucket
        if oldest is not None:
            self._recent = {start: kept for start, kept in self._recent.items() if start >= oldest}


def _with_tuples(bucket: ClosedBucket) -> ClosedBucket:
    return replace(bucket, tallies=tuple(bucket.tallies), deploys=tuple(bucket.deploys))


def _is_before(state: Dated, moment: datetime) -> bool:
    return state.until is None or state.until <= moment


def _is_same(one: ClosedBucket | None, other: ClosedBucket) -> bool:
    """Equal but for the order of rows."""
    return one is not None and set(one.tallies) == set(other.tallies) and set(one.deploys) == set(other.deploys)
