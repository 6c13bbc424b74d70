"""Counts coverage: the broker is asked before the store, so that what moves meanwhile is in flight, not missing."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from streams.agents.app import GROUP_PREFIX
from streams.agents.vitals import Partition
from streams.broker.topics import DRAWN, SPANS, VERDICTS
from streams.health.coverage import PartitionCounts, TopicCoverage, Whole, sum_of, topic_coverage
from streams.health.lag import Place
from streams.settings import Role
from streams.store import Store, Stretch, TraceStates

GROUPS = {
    SPANS: f"{GROUP_PREFIX}{Role.ASSEMBLE}",
    DRAWN: f"{GROUP_PREFIX}{Role.VERIFY}",
    VERDICTS: f"{GROUP_PREFIX}{Role.SINK}",
}
"""Our own topics in the order of the flow, and who reads them."""
INGEST = f"{GROUP_PREFIX}{Role.INGEST}"
GAPS = 200
"""Stretches of one partition that are looked into; what is behind them counts as unknown."""
EXAMPLES = 3
PENDING = 10_000
"""Ids of draws without a verdict that are compared; more stand for themselves."""
KEPT_SHARE = 8 / 9
"""Of retention: traces older than that may be dropped at any moment."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What a stretch of offsets holds: messages, places without one, and places that the topic no longer has."""

    messages: int = 0
    nothing: int = 0
    deleted: int = 0
    first_message: int | None = None


class Topics(Protocol):
    """Where the broker's numbers come from; every call raises BrokerUnavailable."""

    async def matching(self, pattern: str) -> set[str]:
        """Names of the topics that are there and match the whole pattern."""

    async def places(self, group: str, topics: Collection[str]) -> dict[Partition, Place]:
        """Begin, end and committed offset of every partition of those topics that are there."""

    async def look_into(self, partition: Partition, first: int, last: int, begin: int) -> Looked:
        """What is at these offsets; ``begin`` is where the partition begins now."""


@dataclass(frozen=True, slots=True)
class CoverageCounter:
    """Counts for ``topics``, the configured ones, and those that match ``pattern``; what the ledger knows is added."""

    store: Store
    source: Topics
    internal: Topics
    topics: Sequence[str]
    retention_days: int
    pattern: str = ""

    async def count(self, since: datetime, now: datetime, only: Collection[str] = ()) -> list[TopicCoverage]:
        """Coverage of each source topic, of messages recorded since a moment, by name; ``only`` those, if any.

        Raises BrokerUnavailable or StoreUnavailable.
        """
        fates = self.store.fates
        kept_since = max(since, now - timedelta(days=self.retention_days) * KEPT_SHARE)
        waiting_ids = await asyncio.to_thread(fates.pending_ids, since, limit=PENDING)
        starts = await asyncio.to_thread(fates.starts, since)
        named = {*self.topics, *(await self.source.matching(self.pattern) if self.pattern else ())}
        names = {*named, *(topic for topic, _ in starts)}
        places = await self.source.places(INGEST, names)
        in_flight = {topic: await self._waiting(topic) for topic in GROUPS}
        parts = [
            await self._partition(partition, place, starts.get(partition), since, kept_since)
            for partition, place in sorted(places.items())
        ]
        states = await asyncio.to_thread(fates.states, since, kept_since=kept_since)
        is_still = not any(place.lag for place in places.values()) and not any(in_flight.values())
        still_waiting = await asyncio.to_thread(fates.pending_ids, since, limit=PENDING) if is_still else set()
        whole = _whole(parts, states, stuck=len(waiting_ids & still_waiting))
        found = sorted({*named, *(topic for topic, _ in places), *states})
        return [
            topic_coverage(
                topic,
                [part for name, part in parts if name == topic],
                states.get(topic, TraceStates()),
                in_flight,
                whole,
            )
            for topic in found
            if not only or topic in only
        ]

    async def _waiting(self, topic: str) -> int:
        places = await self.internal.places(GROUPS[topic], [topic])
        return sum(place.lag for place in places.values())

    async def _partition(
        self, partition: Partition, place: Place, start: int | None, since: datetime, kept_since: datetime
    ) -> tuple[str, PartitionCounts]:
        topic, number = partition
        committed = place.next_committed
        first = min(committed, start if start is not None else committed)
        stretch = Stretch(topic, number, first, committed)
        counts = await asyncio.to_thread(self.store.fates.counts, stretch, since=since, kept_since=kept_since)
        left = committed - first - sum_of(list(counts.values())).messages
        looked = await self._looked(partition, stretch, place.begin) if left else []
        messages, nothing = sum(one.messages for one in looked), sum(one.nothing for one in looked)
        examples = [f"{topic}-{number} at {one.first_message}" for one in looked if one.first_message is not None]
        return topic, PartitionCounts(
            partition=number,
            first=first,
            committed=committed,
            end=max(place.end, committed),
            fates=counts,
            no_message=nothing,
            unknown=max(0, left - messages - nothing),
            missing=messages,
            examples=tuple(examples[:EXAMPLES]),
        )

    async def _looked(self, partition: Partition, stretch: Stretch, begin: int) -> list[Looked]:
        gaps = await asyncio.to_thread(self.store.fates.gaps, stretch, limit=GAPS)
        return [await self.source.look_into(partition, first, last, begin) for first, last in gaps]


def _whole(parts: Sequence[tuple[str, PartitionCounts]], states: Mapping[str, TraceStates], *, stuck: int) -> Whole:
    """Over the topics without spans: traces made of spans have no row in the ledger to compare with."""
    with_spans = {topic for topic, part in parts for counts in part.fates.values() if counts.spans}
    kept = [counts for topic, part in parts if topic not in with_spans for counts in part.fates.values()]
    in_store = sum(one.kept for topic, one in states.items() if topic not in with_spans)
    return Whole(sum_of(kept).kept, in_store, stuck)


def silent_since(before: float | None, pending: int, finished: Mapping[str, int], now: float) -> float | None:
    """Since when traces wait for a verdict and none comes; None while verdicts come, or none is waited for.

    ``finished`` holds the verdicts of this count and of the one before, as ``now`` and ``then``.
    """
    if not pending or finished["now"] > finished["then"]:
        return None
    return now if before is None else before
