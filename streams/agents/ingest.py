"""The ingest step: a message becomes stored traces with their draws, or spans on ``gw.spans``, or a dead letter.

Everything is safe before the loop acknowledges the batch, and each write is idempotent by id, so a batch that comes
again changes nothing.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import structlog

from schemas.span import Span
from streams.agents.admission import Admission, Admitted
from streams.agents.arrivals import Arrival, Read, event_times, read_arrivals, settle, split_expired, split_too_large
from streams.agents.deadletter import Ceiling, DeadLetter, bury
from streams.agents.fates import fates_of
from streams.agents.fitting import send_fitting, span_forms
from streams.agents.watermarks import Watermarks
from streams.broker.topics import SPANS
from streams.messages import Message
from streams.sources.raw import Decoded
from streams.store import MessageFate

log = structlog.get_logger(__name__)


async def _unrecorded(_fates: Sequence[MessageFate]) -> None:
    """Where nobody counts."""


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What became of a batch: what it held, what was admitted of that, and the dead letters, which are not sent yet."""

    read: Read
    arrivals: Sequence[Arrival]
    admitted: Admitted
    letters: Sequence[DeadLetter]


@dataclass(slots=True)
class Ingest:
    """Handles batches of source messages; every collaborator is given."""

    admission: Admission
    decode: Callable[[Message], Awaitable[Decoded]]
    watermarks: Watermarks
    ceiling: Ceiling = field(default_factory=Ceiling)
    conceal: Callable[[DeadLetter], DeadLetter] = lambda letter: letter
    """What a message that cannot be read loses before it goes to the dead letter."""
    record: Callable[[Sequence[MessageFate]], Awaitable[None]] = _unrecorded
    """Puts down what became of each message, also when a dead letter is taken in after all."""

    async def handle(self, messages: Sequence[Message]) -> None:
        """Make the batch safe. Raises Retryable (nothing is lost by running it again) or CeilingReached."""
        began = perf_counter()
        taken = await self.take_in(messages)
        ceiling = self.ceiling.after(_are_bad(messages, taken.letters), _example(taken.letters))
        letters = [self.conceal(letter) for letter in taken.letters]
        await bury(letters, self.admission.publisher, self.admission.limits.max_message_bytes)
        self.ceiling = ceiling
        self.watermarks.stored(messages, event_times(_kept(taken), taken.read.spans))
        _log_batch(messages, taken, perf_counter() - began)

    async def take_in(self, messages: Sequence[Message]) -> TakenIn:
        """Make safe whatever can be read, and leave the dead letters to the caller. Raises Retryable."""
        readable, too_large = split_too_large(messages, self.admission.limits.max_message_bytes)
        read = read_arrivals([(message, await self.decode(message)) for message in readable])
        store = self.admission.store
        fresh, expired = split_expired(read.arrivals, self.admission.oldest())
        heads = await asyncio.to_thread(store.heads, [arrival.trace.trace_id for arrival in fresh])
        arrivals, conflicts = settle(fresh, heads)
        letters = [*too_large, *read.letters, *conflicts]
        expected = fates_of(messages, read, arrivals, expired, letters)
        spans = [span for _, some in read.spans for span in some]
        # Side by side: each waits for a disk or a broker, and each may be done again without the others.
        admitted, *_ = await _all_ended(
            self.admission.admit(arrivals, expired), self._send_spans(spans), self.record(expected)
        )
        letters += admitted.letters
        if admitted.letters or len(admitted.expired) > len(expired):  # not all went as expected
            became = fates_of(messages, read, arrivals, admitted.expired, letters)
            await self.record([fate for fate, before in zip(became, expected, strict=True) if fate != before])
        return TakenIn(read, arrivals, admitted, letters)

    async def _send_spans(self, spans: Sequence[Span]) -> None:
        forms = [span_forms(span) for span in spans]
        limit = self.admission.limits.max_message_bytes
        shortened = await send_fitting(self.admission.publisher, SPANS, forms, limit)
        if shortened:
            log.warning("spans_shortened", spans=shortened, topic=SPANS)


async def _all_ended(*steps: Awaitable[Any]) -> list[Any]:
    """What they return. Raises the first error when all have ended: a step that is tried again must not meet itself."""
    found = await asyncio.gather(*steps, return_exceptions=True)
    failed = next((one for one in found if isinstance(one, BaseException)), None)
    if failed is None:
        return found
    try:
        raise failed
    finally:
        del found, failed  # in a circle with this frame they would keep the batch until the collector comes


def _kept(taken: TakenIn) -> list[Arrival]:
    """Without those of dead letters: a trace from a wrong clock must not move a watermark."""
    dead = {letter.message.position for letter in taken.letters}
    return [arrival for arrival in taken.arrivals if arrival.message.position not in dead]


def _are_bad(messages: Sequence[Message], letters: Sequence[DeadLetter]) -> list[bool]:
    bad = {letter.message.position for letter in letters}
    return [message.position in bad for message in messages]


def _example(letters: Sequence[DeadLetter]) -> str:
    """Position and reason of the last one: a detail may quote what a user wrote."""
    if not letters:
        return ""
    topic, partition, offset = letters[-1].message.position
    return f"{topic} {partition}:{offset} ({letters[-1].reason})"


def _log_batch(messages: Sequence[Message], taken: TakenIn, took_seconds: float) -> None:
    read, admitted = taken.read, taken.admitted
    log.info(
        "batch_ingested",
        messages=len(messages),
        traces=len(admitted.rows),
        spans=sum(len(spans) for _, spans in read.spans),
        evaluators=read.evaluators,
        ignored=read.ignored,
        drawn=sum(row.draw.drawn for row in admitted.rows),
        expired=len(admitted.expired),
        dead_letters=dict(Counter(letter.reason for letter in taken.letters)),
        took_ms=round(took_seconds * 1000, 1),
    )
