"""The assemble step: spans of ``gw.spans`` are gathered by trace, and a trace that closes is admitted like any other.

Open traces live in memory; their messages stay unacknowledged until the trace is stored and sent on, so nothing is
lost with the process. Late spans find the stored ones and make a new revision, never a second trace.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Literal

import structlog
from pydantic import ValidationError

from schemas.codec import encode, invalid_message, schema_header
from schemas.errors import InvalidMessage, Retryable
from schemas.span import Span
from schemas.trace import Trace
from streams.agents.admission import Admission
from streams.agents.arrivals import Arrival
from streams.agents.batches import Partition
from streams.agents.deadletter import DeadLetter, bury, from_error, read_each, reader_of
from streams.agents.quarantine import insert_or_quarantine
from streams.agents.watermarks import Watermarks
from streams.assembly import AssemblyRules, Closed, CloseReason, ClosingRules, OpenTraces, assemble, take_late
from streams.broker.topics import SPANS
from streams.messages import Message
from streams.store import StoredSpan, TraceHead, UnstoredTrace

log = structlog.get_logger(__name__)
STAGE = "assemble"
BUG = "internal"
"""Reason of a trace that our own code could not put together."""
NO_ANSWER_HERE = "no part of an answer"
TOO_LATE = "too late"
"""Spans of a trace of which no spans are stored (any longer): they would tear it, so it stays as it is."""
SPANS_LEFT_OUT = "spans_left_out"
"""Flag of a trace that came to several times its caps: of later spans only a root was taken."""


async def _unrecorded(_traces: Sequence[UnstoredTrace]) -> None:
    """Where nobody counts."""


@dataclass(slots=True)
class Assemble:
    """Handles batches of ``gw.spans``, and moments between them.

    ``rules_of`` gives the rules of the source topic that a trace's spans came from; ``finish`` is what every trace gets
    before it is admitted (times checked, documents known, …).
    """

    admission: Admission
    open: OpenTraces
    rules_of: Callable[[str], AssemblyRules]
    finish: Callable[[Trace, datetime], Trace]
    watermarks: Watermarks
    emitted: Counter[str] = field(default_factory=Counter)
    """Closed traces by reason, and those that were no part of an answer."""
    record: Callable[[Sequence[UnstoredTrace]], Awaitable[None]] = _unrecorded
    """Puts down which traces closed without being stored."""
    read: Callable[[Message], Span] = field(default_factory=lambda: reader_of(Span))

    async def handle(self, messages: Sequence[Message]) -> None:
        """Take the spans in and make safe what closes by that. Raises Retryable; running it again changes nothing."""
        read, letters = read_each(messages, self.read, STAGE)
        for message, span in read:
            size = len(message.value or b"")
            self.open.add((message.topic, message.partition), message.offset, message.recorded_at, span, size)
        await bury(letters, self.admission.publisher, self.admission.limits.max_message_bytes)
        self.watermarks.stored(messages, {})
        await self._emit(self.open.due())

    async def tick(self, idle: Iterable[Partition], now: datetime) -> None:
        """Close what time closes on partitions that were read to their end. Raises Retryable."""
        await self._emit(self.open.due(idle, now))

    def held(self) -> Mapping[Partition, int]:
        """From where on messages must not be acknowledged."""
        return self.open.held()

    def lose(self, partitions: Iterable[Partition]) -> None:
        """Forget what is open on partitions that another worker reads now."""
        self.open.drop(partitions)

    async def _emit(self, closed: Sequence[Closed]) -> None:
        if not closed:
            return
        store = self.admission.store
        heads = await asyncio.to_thread(store.heads, [one.trace_id for one in closed])
        stored = await asyncio.to_thread(store.spans, list(heads)) if heads else {}
        rules = self.open.rules
        gathered = [_gathered(one, stored.get(one.trace_id, ()), heads.get(one.trace_id), rules) for one in closed]
        await asyncio.to_thread(self._store_spans, gathered)
        arrivals = [arrival for one in gathered if (arrival := self._arrival(one)) is not None]
        admitted = await self.admission.admit(arrivals)
        letters = [*(one.letter for one in gathered if one.letter is not None), *admitted.letters]
        await bury(letters, self.admission.publisher, self.admission.limits.max_message_bytes)
        await self.record(_unstored(gathered, {letter.message.key for letter in admitted.letters}))
        self.open.forget(closed)
        for arrival, one in zip(arrivals, (one for one in gathered if one.has_answer), strict=True):
            self.watermarks.advance(one.closed.partition, arrival.trace.ts)
        self._count(gathered)

    def _store_spans(self, gathered: Sequence["_Gathered"]) -> None:
        """A trace with a span that the store refuses is a dead letter: without it the next late span would tear it."""
        now = self.admission.now()
        rows = [row for one in gathered for row in one.new]
        refused = insert_or_quarantine(lambda some: self.admission.store.insert_spans(some, now), rows)
        errors = {row.span.trace_id: (row.span, error) for row, error in refused}
        for one in gathered:
            if one.closed.trace_id in errors:
                span, error = errors[one.closed.trace_id]
                one.letter = from_error(_message(span, now), error, STAGE, span.decoder)

    def _arrival(self, one: "_Gathered") -> Arrival | None:
        if one.is_too_late or one.letter is not None:
            return None
        copies = [row.span for row in one.spans]
        sources = [span.source for span in copies if span.source is not None]
        recorded_at = max((source.recorded_at for source in sources), default=self.admission.now())
        try:
            trace = assemble(copies, self.rules_of(sources[0].topic if sources else ""), recorded_at)
            trace = self.finish(trace, recorded_at) if trace is not None else None
        except Retryable:
            raise
        except Exception as error:  # noqa: BLE001  what no trace can hold, or a bug with it, must not come again for ever
            one.letter = from_error(_message(copies[0], recorded_at), _refusal(error), STAGE, copies[0].decoder)
            return None
        one.has_answer = trace is not None
        if trace is None:
            return None
        trace = trace.model_copy(
            update={
                "revision": len(copies),
                "late_spans": sum(row.is_late for row in one.spans) + one.left_out,
                "close_reason": one.reason.value,
                "flags": (*trace.flags, SPANS_LEFT_OUT) if one.is_full else trace.flags,
            }
        )
        if one.head is not None:  # ts, stratum and π are those of the first emission
            trace = trace.model_copy(update={"ts": one.head.ts})
        return Arrival(_message(trace, recorded_at), trace, _hash(one.spans), one.head, STAGE)

    def _count(self, gathered: Sequence["_Gathered"]) -> None:
        reasons = Counter(one.fate for one in gathered)
        self.emitted.update(reasons)
        late = sum(row.is_late for one in gathered for row in one.spans)
        log.info("traces_assembled", traces=len(gathered), reasons=dict(reasons), late_spans=late, open=len(self.open))


@dataclass(slots=True)
class _Gathered:
    closed: Closed
    spans: list[StoredSpan]
    """All distinct copies, stored or new."""
    new: list[StoredSpan]
    head: TraceHead | None
    reason: CloseReason
    left_out: int = 0
    """Late spans that were not taken in, since the trace is at several times its caps."""
    is_full: bool = False
    has_answer: bool = False
    is_too_late: bool = False
    letter: DeadLetter | None = None

    @property
    def fate(self) -> str:
        """What became of it, for counts."""
        if self.is_too_late:
            return TOO_LATE
        return self.reason.value if self.has_answer else NO_ANSWER_HERE


def _gathered(closed: Closed, stored: Sequence[StoredSpan], head: TraceHead | None, rules: ClosingRules) -> _Gathered:
    """What is known of the trace: stored copies, and those that came now; these are late when the trace had a head."""
    known = {(row.span.span_id, row.content_hash) for row in stored}
    came = [StoredSpan(span=span, content_hash=span.content_hash, is_late=head is not None) for span in closed.spans]
    new = [row for row in came if (row.span.span_id, row.content_hash) not in known]
    if head is None:
        return _Gathered(closed, [*stored, *new], new, head, closed.reason)
    if len(stored) < head.revision:  # spans are stored before their head, so these were dropped, or it came whole
        return _Gathered(closed, [], [], head, closed.reason, is_too_late=True)
    late = take_late([row.span for row in stored], [row.span for row in new], rules)
    taken = set(map(id, late.taken))
    new = [row for row in new if id(row.span) in taken]
    return _Gathered(closed, [*stored, *new], new, head, late.cap or closed.reason, late.left_out, late.is_full)


def _unstored(gathered: Iterable["_Gathered"], refused: Container[bytes | None]) -> list[UnstoredTrace]:
    """Those that were no part of an answer, or nothing that is stored; spans that came too late are neither.

    ``refused`` are the keys of dead letters of traces.
    """
    found = []
    for one in gathered:
        is_dead = one.letter is not None or _key(one.closed.trace_id) in refused
        if not one.is_too_late and (is_dead or not one.has_answer):
            topic = next((row.span.source.topic for row in one.spans if row.span.source is not None), SPANS)
            fate: Literal["dead_letter", "no_answer"] = "dead_letter" if is_dead else "no_answer"
            found.append(UnstoredTrace(trace_id=one.closed.trace_id, topic=topic, fate=fate))
    return found


def _refusal(error: Exception) -> InvalidMessage:
    if isinstance(error, ValidationError):
        return invalid_message(error)
    log.error("trace_not_assembled", consequence="its spans are a dead letter", exc_info=error)
    return InvalidMessage(BUG, f"(trace): {type(error).__name__} while it was put together; please report it")


def _key(trace_id: str) -> bytes:
    return trace_id.encode("utf-8", "replace")


def _hash(rows: Iterable[StoredSpan]) -> str:
    """Hash over the distinct copies, whatever their order."""
    text = "\n".join(sorted(f"{row.span.span_id} {row.content_hash}" for row in rows))
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _message(record: Trace | Span, recorded_at: datetime) -> Message:
    """What stands for a trace where a dead letter needs a message: position and JSON of it, or of one of its spans.

    A header says which of the two, so that it can be taken in again as what it is.
    """
    source = record.source
    topic, partition, offset = (source.topic, source.partition, source.offset) if source else (SPANS, 0, 0)
    key = _key(record.trace_id)
    at = source.recorded_at if source else recorded_at
    return Message(topic, partition, offset, key, encode(record), (schema_header(type(record)),), at)
