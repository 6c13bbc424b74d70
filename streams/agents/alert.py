"""The alert step: rebuild tallies, fold the buckets that have closed, tell people, keep what was told.

It is safe to run twice at once (two leaders for some seconds): the fold is pure, ids are made from rule, slice and
episode start, and what was sent is known by (alert, state, receiver).
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import perf_counter

import structlog

from alerts.buckets import ClosedBucket, DeployMark
from alerts.closing import lowest_watermark
from alerts.fold import FoldState, confirmed_deploys
from alerts.folder import REFOLDED, Folder
from alerts.unmapped import UnmappedState
from schemas.alert import Alert
from schemas.labels import AlertState
from schemas.tally import BUCKET, bucket_start
from streams.agents.alert_pulse import AlertPulse
from streams.agents.closed_buckets import bucket_starts, closed_buckets, whole_buckets
from streams.agents.examples import pick_examples
from streams.agents.policies import PolicyPublisher
from streams.agents.telling import Teller
from streams.store import ALL_TENANTS, Deploy, Store

log = structlog.get_logger(__name__)
WINDOW = timedelta(days=2)
"""How much event time is read and folded at a time, so that a long backlog needs little memory."""
HISTORY = timedelta(days=60)
"""How far back a restarted process folds: the longest baseline."""
FLAGGED_READ = 60
SHOWN_ALERTS = 200
"""Newest alerts that metrics are made of."""


@dataclass(slots=True)
class AlertStep:
    """What the elected leader does at each tick; every collaborator is given, ``now`` included."""

    store: Store
    policies: PolicyPublisher
    folder: Folder[FoldState]
    unmapped: Folder[UnmappedState]
    teller: Teller
    now: Callable[[], datetime]
    settled_now: Callable[[], datetime] | None = None
    """The time by which buckets lose patience and alerts become history; ``now`` when None."""
    pulse: AlertPulse = field(default_factory=AlertPulse)
    _folded_until: datetime | None = None
    _generation: int = 0
    _passed_at: dict[datetime, datetime] = field(default_factory=dict)
    _recorded: set[tuple[str, str, str]] = field(default_factory=set)
    _marks: frozenset[DeployMark] = frozenset()
    """Marks of the last hours that the fold has been given."""
    _untold: list[Alert] = field(default_factory=list)
    """Folded but not yet told: kept here while the store, the broker or a receiver is away."""

    async def tick(self) -> None:
        """One round. Raises Retryable when store or broker are away; the next round does what this one could not."""
        now = (self.settled_now or self.now)()
        began = perf_counter()
        await self.policies.beat(self.now())
        await self.teller.retry()
        # Watermarks before the rebuild: what they promise is then in the tallies that we read after it.
        marks = await asyncio.to_thread(self.store.watermarks)
        report = await asyncio.to_thread(self.store.rebuild_tallies, now)
        watermark = lowest_watermark(mark.event_time for mark in marks)
        if watermark is None:
            await self._ticked()
            return
        refolded = await self._refold_changed(now)
        folded = 0
        while closed := await self._next_closed(watermark, now):
            await asyncio.to_thread(self._fold, closed, now)
            self._folded_until = closed[-1].end
            folded += len(closed)
            await self._record_deploys(now)
        log.info(
            "alert_tick",
            watermark=watermark.isoformat(),
            folded_until=self._folded_until.isoformat() if self._folded_until else None,
            rebuilt=report.buckets,
            folded=folded,
            refolded=refolded,
            alerts=len(self._untold),
            rebuild_ms=round(report.took_seconds * 1000),
            took_ms=round((perf_counter() - began) * 1000),
        )
        while self._untold:
            await self._tell(self._untold[0])
            del self._untold[0]
        await self._ticked()

    async def _ticked(self) -> None:
        self.pulse.ticked(await asyncio.to_thread(self.store.alerts, limit=SHOWN_ALERTS))

    async def _refold_changed(self, now: datetime) -> int:
        """Give the folds the buckets that changed or got a mark behind them, as far back as they fold again.

        Says how many these were.
        """
        changed, generation = await asyncio.to_thread(self.store.changed_buckets, self._generation)
        until = self._folded_until
        if until is None:
            self._generation = generation
            return 0
        marks = frozenset(_marks(await asyncio.to_thread(self.store.deploys, until - REFOLDED)))
        marked = {bucket_start(mark.at) for mark in marks - self._marks}
        behind = [bucket for bucket in sorted(marked.union(changed)) if until - REFOLDED <= bucket < until]
        if behind:
            tallies = await asyncio.to_thread(self.store.tallies, behind[0], behind[-1] + BUCKET)
            await asyncio.to_thread(self._fold, whole_buckets(behind, tallies, marks), now)
        self._generation, self._marks = generation, marks
        return len(behind)

    def _fold(self, closed: Sequence[ClosedBucket], now: datetime) -> None:
        self._untold += self.folder.advance(closed, now)
        self._untold += self.unmapped.advance(closed, now)

    async def _next_closed(self, watermark: datetime, now: datetime) -> list[ClosedBucket]:
        since = self._folded_until or await self._first_bucket(now)
        if since is None:
            return []
        until = min(watermark, since + WINDOW)
        for bucket in bucket_starts(since, until):
            self._passed_at.setdefault(bucket, now)
        tallies = await asyncio.to_thread(self.store.tallies, since, until)
        deploys = await asyncio.to_thread(self.store.deploys, since)
        closed = closed_buckets(tallies, _marks(deploys), since, until, self._passed_at, now)
        for folded in closed:
            self._passed_at.pop(folded.start, None)
        return closed

    async def _first_bucket(self, now: datetime) -> datetime | None:
        first = (await asyncio.to_thread(self.store.counts)).first_ts
        return None if first is None else bucket_start(max(first, now - HISTORY))

    async def _record_deploys(self, now: datetime) -> None:
        """Put what the fold has seen of deploys where pages can read it, once per intent and tag."""
        if not self._unrecorded():
            return
        known = await asyncio.to_thread(self.store.deploys, now - HISTORY)  # with what was marked in the meantime
        self._recorded |= {(deploy.intent, deploy.field, deploy.value) for deploy in known}
        if fresh := self._unrecorded():
            await asyncio.to_thread(self.store.insert_deploys, list(fresh.values()))
            self._recorded |= fresh.keys()

    def _unrecorded(self) -> dict[tuple[str, str, str], Deploy]:
        return {
            (intent, name, value): Deploy(at=event.at, intent=intent, field=name, value=value, source="detected")
            for intent, event in confirmed_deploys(self.folder.state)
            for name, value in event.tags
            if not {(intent, name, value), ("*", name, value)} & self._recorded
        }

    async def _tell(self, alert: Alert) -> None:
        if alert.is_of_slice and alert.state in {AlertState.FIRING, AlertState.RESOLVED}:
            flagged = await asyncio.to_thread(
                self.store.flagged,
                tenants=ALL_TENANTS,
                intent=alert.slice.intent,
                tier=alert.slice.tier,
                since=alert.since,
                limit=FLAGGED_READ,
            )
            alert = alert.model_copy(update={"examples": pick_examples(flagged)})
            shown = [(example.ts, example.trace_id) for example in alert.examples]
            await asyncio.to_thread(self.store.reviews.keep, shown, "alerted", tenants=ALL_TENANTS)
        await self.teller.tell(alert)
        await asyncio.to_thread(self.store.insert_alerts, [alert])


def _marks(deploys: Iterable[Deploy]) -> list[DeployMark]:
    """What people told; what the fold itself has seen must not come back to it."""
    return [
        DeployMark(at=deploy.at, field=deploy.field, value=deploy.value, intent=deploy.intent)
        for deploy in deploys
        if deploy.source == "mark"
    ]
