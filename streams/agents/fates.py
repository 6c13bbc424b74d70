"""What became of each source message of a batch, for coverage: written before the batch is acknowledged.

A row is keyed by the message's position and says the same when the message comes again, so counts survive restarts.
"""

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from streams.agents.arrivals import Arrival, Read
from streams.agents.deadletter import DeadLetter
from streams.agents.quarantine import LeftOut
from streams.messages import Message
from streams.store import ExpiredCount, MessageFate, SourceFate, Store, UnstoredTrace

RECENT = 2_000
"""Messages of a topic of which the share of dead letters is shown."""
Position = tuple[str, int, int]


@dataclass(slots=True)
class FateCounts:
    """Since the start of the process, for metrics: what was handled, again where it came again."""

    messages: Counter[tuple[str, SourceFate]] = field(default_factory=Counter)
    traces: Counter[tuple[str, SourceFate]] = field(default_factory=Counter)
    recent: dict[str, deque[bool]] = field(default_factory=lambda: defaultdict(lambda: deque(maxlen=RECENT)))

    def add(self, rows: Iterable[MessageFate]) -> None:
        """These are safe."""
        for row in rows:
            self.messages[row.topic, row.fate] += 1
            self.recent[row.topic].append(row.fate is SourceFate.DEAD_LETTER)
            for fate, count in (
                (SourceFate.STORED, row.stored),
                (SourceFate.DUPLICATE, row.duplicates),
                (SourceFate.EXPIRED, row.expired),
                (SourceFate.DEAD_LETTER, row.refused),
            ):
                self.traces[row.topic, fate] += count

    def dead_shares(self) -> dict[str, float]:
        """By topic the share of dead letters among its last messages."""
        return {topic: sum(recent) / len(recent) for topic, recent in self.recent.items() if recent}


@dataclass(slots=True)
class Ledger:
    """Writes fates to the store with a client of its own, and counts them; ``refused`` counts rows that it refuses."""

    store: Store
    now: Callable[[], datetime]
    counts: FateCounts = field(default_factory=FateCounts)
    refused: Counter[str] = field(default_factory=Counter)

    async def record(self, rows: Sequence[MessageFate]) -> None:
        """Put these down; the same rows again change nothing, and of a position the last counts. Raises Retryable."""
        if rows:
            insert = partial(self.store.fates.insert, handled_at=self.now())
            left_out = LeftOut("message_fates", _place, "coverage names the message as missing", self.refused)
            await asyncio.to_thread(left_out.write, insert, rows)
            self.counts.add(rows)

    async def record_unstored(self, rows: Sequence[UnstoredTrace]) -> None:
        """Put down traces of spans that closed without being stored. Raises Retryable."""
        if rows:
            insert = partial(self.store.fates.insert_unstored, closed_at=self.now())
            left_out = LeftOut("unstored_traces", _topic, "coverage does not count the trace", self.refused)
            await asyncio.to_thread(left_out.write, insert, rows)


def _place(row: MessageFate) -> str:
    return f"{row.topic} {row.partition}:{row.offset}"


def _topic(row: UnstoredTrace) -> str:
    return row.topic


def fates_of(
    messages: Sequence[Message],
    read: Read,
    settled: Sequence[Arrival],
    expired: Iterable[ExpiredCount],
    letters: Sequence[DeadLetter],
) -> list[MessageFate]:
    """One row a message. ``settled`` are the arrivals that were admitted, ``letters`` all dead letters of the batch."""
    dead = Counter(letter.message.position for letter in letters)
    unread = {letter.message.position for letter in read.letters}
    spans = {message.position: len(some) for message, some in read.spans}
    traces = _traces(read.arrivals, settled, {(one.trace_id, one.ts) for one in expired})
    empty = _Traces()
    return [
        _fate(
            message,
            traces.get(message.position, empty),
            spans.get(message.position, 0),
            # A letter of reading tells of parts that are no traces; the others are of one trace each.
            refused=dead[message.position] - (message.position in unread) if message.position in traces else 0,
            is_dead=message.position in dead,
            is_evaluator=message.position in read.evaluator_positions,
        )
        for message in messages
    ]


@dataclass(slots=True)
class _Traces:
    """The whole traces of one message."""

    stored: int = 0
    duplicates: int = 0
    expired: int = 0
    conflicts: int = 0
    oldest_ts: datetime | None = None


def _traces(
    found: Iterable[Arrival], settled: Sequence[Arrival], expired: set[tuple[str, datetime]]
) -> Mapping[Position, _Traces]:
    chosen = {arrival.trace.trace_id: arrival for arrival in settled}
    traces: defaultdict[Position, _Traces] = defaultdict(_Traces)
    for arrival in found:
        of_message = traces[arrival.message.position]
        one = chosen.get(arrival.trace.trace_id)
        times = {arrival.trace.ts, one.trace.ts if one is not None else arrival.trace.ts}
        if any((arrival.trace.trace_id, ts) in expired for ts in times):
            of_message.expired += 1
        elif one is None or one.content_hash != arrival.content_hash:
            of_message.conflicts += 1
        elif _brought(arrival, one):
            of_message.stored += 1
            ts = one.trace.ts
            of_message.oldest_ts = min(ts, of_message.oldest_ts or ts)
        else:
            of_message.duplicates += 1
    return traces


def _brought(arrival: Arrival, settled: Arrival) -> bool:
    """Whether the trace was stored from this message: after a kill it may come again behind a copy of itself."""
    stored_from = settled.head.position if settled.head is not None else None
    return arrival.message.position == (stored_from or settled.message.position)


def _fate(  # noqa: PLR0913  one message is these facts
    message: Message, traces: _Traces, spans: int, *, refused: int, is_dead: bool, is_evaluator: bool
) -> MessageFate:
    stored = max(0, traces.stored - max(0, refused - traces.conflicts))
    fits = (
        (is_dead, SourceFate.DEAD_LETTER),
        (stored > 0, SourceFate.STORED),
        (spans > 0, SourceFate.SPANS),
        (traces.duplicates > 0, SourceFate.DUPLICATE),
        (traces.expired > 0, SourceFate.EXPIRED),
        (is_evaluator, SourceFate.EVALUATOR),
    )
    return MessageFate(
        topic=message.topic,
        partition=message.partition,
        offset=message.offset,
        recorded_at=message.recorded_at,
        fate=next((fate for is_so, fate in fits if is_so), SourceFate.IGNORED),
        stored=stored,
        duplicates=traces.duplicates,
        expired=traces.expired,
        refused=refused,
        spans=spans,
        oldest_ts=traces.oldest_ts if stored else None,
    )
