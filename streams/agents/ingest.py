"""The ingest step: every message becomes a stored trace with its draw, or a dead letter; drawn ones go on to verify.

Everything is safe before the loop acknowledges the batch, and each write is idempotent by id, so a batch that comes
again changes nothing.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import perf_counter

import structlog

from detectors.screening import Screener
from sampling.draw import decide
from schemas.draw import DrawnTrace
from schemas.trace import Trace
from streams.agents.arrivals import (
    CLOCK_TOLERANCE,
    STAGE,
    Arrival,
    read_arrivals,
    settle,
    split_ahead,
    split_expired,
    split_too_large,
)
from streams.agents.deadletter import Ceiling, DeadLetter, bury, from_error
from streams.agents.fitting import drawn_forms, send_fitting
from streams.agents.policies import KnownPolicies
from streams.agents.quarantine import insert_or_quarantine
from streams.agents.watermarks import Watermarks
from streams.broker.publisher import Publisher
from streams.broker.topics import DRAWN
from streams.messages import Message
from streams.store import ExpiredCount, Store, TraceHead

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class IngestLimits:
    """``retention_days``: older traces are only counted; ``max_message_bytes``: longer dead letters keep a prefix."""

    retention_days: int = 90
    max_message_bytes: int = 16_000_000


@dataclass(slots=True)
class Ingest:
    """Handles batches of source messages; every collaborator is given, ``now`` included."""

    store: Store
    publisher: Publisher
    policies: KnownPolicies
    screener: Screener
    decode: Callable[[Message], Trace]
    salt: bytes
    now: Callable[[], datetime]
    watermarks: Watermarks
    limits: IngestLimits = IngestLimits()
    ceiling: Ceiling = field(default_factory=Ceiling)

    async def handle(self, messages: Sequence[Message]) -> None:
        """Make the batch safe. Raises Retryable (nothing is lost by running it again) or CeilingReached."""
        began = perf_counter()
        now = self.now()
        readable, too_large = split_too_large(messages, self.limits.max_message_bytes)
        arrivals, letters = read_arrivals(readable, self.decode)
        arrivals, expired = split_expired(arrivals, now - timedelta(days=self.limits.retention_days))
        heads = await asyncio.to_thread(self.store.heads, [arrival.trace.trace_id for arrival in arrivals])
        arrivals, conflicts = settle(arrivals, heads)
        arrivals, ahead = split_ahead(arrivals, now + CLOCK_TOLERANCE)
        rows = await self._screen_and_draw(arrivals)
        refused = await asyncio.to_thread(self._store, arrivals, rows, expired)
        letters = [*too_large, *letters, *conflicts, *ahead, *refused]
        ceiling = self.ceiling.after(_are_bad(messages, letters))
        await self._forward(rows, refused)
        await bury(letters, self.publisher, self.limits.max_message_bytes)
        self.ceiling = ceiling
        times = {arrival.message.position: arrival.trace.ts for arrival in arrivals}
        self.watermarks.stored(messages, times)
        _log_batch(messages, rows, letters, expired, perf_counter() - began)

    async def _screen_and_draw(self, arrivals: Sequence[Arrival]) -> list[DrawnTrace]:
        effective = [self.policies.at(arrival.trace.ts) for arrival in arrivals]
        traces = [arrival.trace for arrival in arrivals]
        documents = [policy.document for policy in effective]
        screenings = await asyncio.to_thread(self.screener.screen, traces, documents)
        rows = []
        for arrival, screening, policy in zip(arrivals, screenings, effective, strict=True):
            draw = decide(arrival.trace, screening, policy, self.salt)
            if arrival.head is not None:  # stratum and π are fixed at first emission, whatever screens it today
                draw = draw.model_copy(
                    update={
                        "stratum": arrival.head.stratum,
                        "inclusion_probability": arrival.head.inclusion_probability,
                        "policy_id": arrival.head.policy_id,
                        "drawn": draw.u < arrival.head.inclusion_probability,
                    }
                )
            rows.append(DrawnTrace(trace=arrival.trace, draw=draw, screening=screening))
        return rows

    def _store(
        self, arrivals: Sequence[Arrival], rows: Sequence[DrawnTrace], expired: Sequence[ExpiredCount]
    ) -> list[DeadLetter]:
        """Heads first: a batch that comes again finds them and keeps its draws."""
        by_id = {arrival.trace.trace_id: arrival for arrival in arrivals}
        fresh = [_head(by_id[row.trace.trace_id], row) for row in rows if by_id[row.trace.trace_id].head is None]
        if fresh:
            self.store.insert_heads(fresh)
        refused = insert_or_quarantine(self.store.insert_traces, rows)
        if expired:
            self.store.insert_expired(expired)
        return [from_error(by_id[row.trace.trace_id].message, error, STAGE) for row, error in refused]

    async def _forward(self, rows: Sequence[DrawnTrace], refused: Sequence[DeadLetter]) -> None:
        lost = {letter.message.position for letter in refused}
        drawn = [row for row in rows if row.draw.drawn and _position(row.trace) not in lost]
        shortened = await send_fitting(
            self.publisher, DRAWN, [drawn_forms(row) for row in drawn], self.limits.max_message_bytes
        )
        if shortened:
            log.warning("drawn_shortened", traces=shortened, topic=DRAWN)


def _position(trace: Trace) -> tuple[str, int, int] | None:
    return (trace.source.topic, trace.source.partition, trace.source.offset) if trace.source else None


def _are_bad(messages: Sequence[Message], letters: Sequence[DeadLetter]) -> list[bool]:
    bad = {letter.message.position for letter in letters}
    return [message.position in bad for message in messages]


def _head(arrival: Arrival, row: DrawnTrace) -> TraceHead:
    return TraceHead(
        trace_id=row.trace.trace_id,
        ts=row.trace.ts,
        content_hash=arrival.content_hash,
        stratum=row.draw.stratum,
        inclusion_probability=row.draw.inclusion_probability,
        policy_id=row.draw.policy_id,
        revision=row.trace.revision,
    )


def _log_batch(
    messages: Sequence[Message],
    rows: Sequence[DrawnTrace],
    letters: Sequence[DeadLetter],
    expired: Sequence[ExpiredCount],
    took_seconds: float,
) -> None:
    log.info(
        "batch_ingested",
        messages=len(messages),
        traces=len(rows),
        drawn=sum(row.draw.drawn for row in rows),
        expired=len(expired),
        dead_letters=dict(Counter(letter.reason for letter in letters)),
        took_ms=round(took_seconds * 1000, 1),
    )
