"""Admission: traces that are known whole are screened, drawn, stored and, if drawn, sent on to verify.

Ingest admits traces that came in one message, assemble those made of spans; what happens to a trace is the same.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from detectors.screening import Screener
from sampling.draw import decide
from schemas.draw import Draw, DrawnTrace
from schemas.errors import RowRejected
from streams.agents.arrivals import CLOCK_TOLERANCE, Arrival, split_ahead, split_expired
from streams.agents.deadletter import DeadLetter, from_error
from streams.agents.fitting import drawn_forms, send_fitting
from streams.agents.policies import KnownPolicies
from streams.agents.quarantine import LeftOut, insert_or_quarantine
from streams.broker.publisher import Publisher
from streams.broker.topics import DRAWN
from streams.store import ExpiredCount, Store, TraceHead

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class IngestLimits:
    """``retention_days``: older traces are only counted; ``max_message_bytes``: longer dead letters keep a prefix."""

    retention_days: int = 90
    max_message_bytes: int = 16_000_000


@dataclass(frozen=True, slots=True)
class Admitted:
    """What became of the arrivals: rows in the store, dead letters, and traces too old to be stored."""

    rows: list[DrawnTrace] = field(default_factory=list)
    letters: list[DeadLetter] = field(default_factory=list)
    expired: list[ExpiredCount] = field(default_factory=list)


@dataclass(slots=True)
class Admission:
    """Every collaborator is given, ``now`` included."""

    store: Store
    publisher: Publisher
    policies: KnownPolicies
    screener: Screener
    salt: bytes
    now: Callable[[], datetime]
    limits: IngestLimits = IngestLimits()
    settled_now: Callable[[], datetime] | None = None
    """The time by which a trace is too old; ``now`` when None."""
    refused: Counter[str] = field(default_factory=Counter)
    """Rows that are no traces and that the store refuses, by table."""

    async def admit(self, arrivals: Sequence[Arrival], expired: Sequence[ExpiredCount] = ()) -> Admitted:
        """Make the traces safe; at most one arrival a trace id, with its head where it was stored before.

        ``expired`` are those that the caller has split off already, since they take no id from others.
        Raises Retryable; nothing is lost or counted twice by admitting the same arrivals again. The dead letters are
        the caller's to bury.
        """
        now = self.now()
        kept, more = split_expired(arrivals, self.oldest())
        expired = [*expired, *more]
        kept, ahead = split_ahead(kept, now + CLOCK_TOLERANCE)
        rows = await self._screen_and_draw(kept)
        refused = await asyncio.to_thread(self._store, kept, rows, expired)
        await self._forward([row for row in rows if row.draw.drawn and row.trace.trace_id not in refused])
        return Admitted(rows, [*ahead, *refused.values()], expired)

    def oldest(self) -> datetime:
        """The event time before which a trace is only counted: the store would drop it at once."""
        return (self.settled_now or self.now)() - timedelta(days=self.limits.retention_days)

    async def _screen_and_draw(self, arrivals: Sequence[Arrival]) -> list[DrawnTrace]:
        effective = [self.policies.at(arrival.trace.ts) for arrival in arrivals]
        traces = [arrival.trace for arrival in arrivals]
        documents = [policy.document for policy in effective]
        screenings = await asyncio.to_thread(self.screener.screen, traces, documents)
        rows = []
        for arrival, screening, policy in zip(arrivals, screenings, effective, strict=True):
            draw = decide(arrival.trace, screening, policy, self.salt)
            if arrival.head is not None:
                draw = _as_first_drawn(draw, arrival.head)
            rows.append(DrawnTrace(trace=arrival.trace, draw=draw, screening=screening))
        return rows

    def _store(
        self, arrivals: Sequence[Arrival], rows: Sequence[DrawnTrace], expired: Sequence[ExpiredCount]
    ) -> dict[str, DeadLetter]:
        """Heads first: a batch that comes again finds them and keeps its draws."""
        by_id = {arrival.trace.trace_id: arrival for arrival in arrivals}
        heads = [_head(by_id[row.trace.trace_id], row) for row in rows if _is_news(by_id[row.trace.trace_id])]
        refused = {head.trace_id: error for head, error in insert_or_quarantine(self.store.insert_heads, heads)}
        known = [row for row in rows if row.trace.trace_id not in refused]
        refused |= {row.trace.trace_id: error for row, error in insert_or_quarantine(self.store.insert_traces, known)}
        left_out = LeftOut("expired", _id, "the trace is counted nowhere", self.refused)
        left_out.write(self.store.insert_expired, expired)
        return {trace_id: _rejected(by_id[trace_id], error) for trace_id, error in refused.items()}

    async def _forward(self, drawn: Sequence[DrawnTrace]) -> None:
        shortened = await send_fitting(
            self.publisher, DRAWN, [drawn_forms(row) for row in drawn], self.limits.max_message_bytes
        )
        if shortened:
            log.warning("drawn_shortened", traces=shortened, topic=DRAWN)


def _id(row: ExpiredCount) -> str:
    return row.trace_id


def _rejected(arrival: Arrival, error: RowRejected) -> DeadLetter:
    return from_error(arrival.message, error, arrival.stage, arrival.trace.decoder)


def _as_first_drawn(draw: Draw, head: TraceHead) -> Draw:
    """Stratum and π are fixed at first emission, whatever screens the trace today."""
    return draw.model_copy(
        update={
            "stratum": head.stratum,
            "inclusion_probability": head.inclusion_probability,
            "policy_id": head.policy_id,
            "drawn": draw.u < head.inclusion_probability,
        }
    )


def _is_news(arrival: Arrival) -> bool:
    return arrival.head is None or arrival.trace.revision > arrival.head.revision


def _head(arrival: Arrival, row: DrawnTrace) -> TraceHead:
    message = arrival.message
    return TraceHead(
        trace_id=row.trace.trace_id,
        ts=row.trace.ts,
        content_hash=arrival.content_hash,
        stratum=row.draw.stratum,
        inclusion_probability=row.draw.inclusion_probability,
        policy_id=row.draw.policy_id,
        revision=row.trace.revision,
        source_topic=message.topic,
        source_partition=message.partition,
        source_offset=message.offset,
    )
