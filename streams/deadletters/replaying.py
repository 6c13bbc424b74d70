"""Letters taken in again after their cause was mended, by the very step that refused them.

A message of a source topic goes through ingest with its original position and record time, so ids, rules and draws
come out as they would have, and nothing counts twice; source topics are never written to. A record of ours goes back to
its own topic, or, where it is a whole trace, into the store. What is refused again stays an open letter.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import structlog

from schemas.base import Record
from schemas.codec import HEADER, decode
from schemas.draw import DrawnTrace
from schemas.errors import InvalidMessage
from schemas.span import Span
from schemas.trace import Trace
from schemas.verdict import Verdict
from streams.agents.arrivals import Arrival, content_hash
from streams.agents.assemble import STAGE as ASSEMBLE
from streams.agents.deadletter import DeadLetter
from streams.agents.ingest import Ingest
from streams.broker.publisher import Outgoing, record_message
from streams.broker.topics import DEADLETTER, DRAWN, SPANS, VERDICTS
from streams.clock import utc_now
from streams.deadletters.envelope import Whole, mark_of
from streams.deadletters.letters import Letter
from streams.messages import Message
from streams.sources.raw import Decoded

log = structlog.get_logger(__name__)
OURS: Mapping[str, type[Record]] = {SPANS: Span, DRAWN: DrawnTrace, VERDICTS: Verdict}
"""Our own topics that carry work, and what they carry."""


class Outcome(Record):
    """What became of a letter; ``readable`` is what a dry run says of one that would be taken in."""

    letter: str
    topic: str
    partition: int
    offset: int
    result: Literal["taken_in", "sent_again", "readable", "refused", "impossible"]
    reason: str = ""
    detail: str = ""

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do about the letter."""
        return self.result in {"taken_in", "sent_again"}


@dataclass(slots=True)
class Replayer:
    """Takes letters in; ``ingest`` is a step of its own, made from the configuration as it is now."""

    ingest: Ingest

    async def replay(self, wholes: Sequence[Whole]) -> list[Outcome]:
        """One outcome a letter, in order; those that are done are marked. Raises Retryable: replay again then."""
        found = {whole.letter.letter: outcome for whole in wholes if (outcome := _obstacle(whole)) is not None}
        rest = [whole for whole in wholes if whole.letter.letter not in found]
        sources = [whole for whole in rest if not is_ours(whole)]
        for outcome in await self._through_ingest(sources) if sources else ():
            found[outcome.letter] = outcome
        for whole in rest:
            if is_ours(whole):
                found[whole.letter.letter] = await self._back(whole)
        outcomes = [found[whole.letter.letter] for whole in wholes]
        done = [whole.letter for whole, outcome in zip(wholes, outcomes, strict=True) if outcome.is_done]
        now = utc_now()
        await self.ingest.admission.publisher.send(DEADLETTER, [mark_of(letter, now) for letter in done])
        log.info("letters_replayed", letters=len(outcomes), done=len(done))
        return outcomes

    async def _through_ingest(self, wholes: Sequence[Whole]) -> list[Outcome]:
        messages = {whole.message.position: whole.message for whole in wholes}
        taken = await self.ingest.take_in(list(messages.values()))
        refused = {letter.message.position: letter for letter in taken.letters}
        return [_outcome(whole.letter, refused.get(whole.message.position)) for whole in wholes]

    async def _back(self, whole: Whole) -> Outcome:
        letter, message = whole.letter, whole.message
        model = model_of(whole)
        try:
            record = decode(model, message.value, message.header(HEADER))
        except InvalidMessage as error:
            return _refused(letter, error.reason, error.detail)
        if letter.topic in OURS:
            await self._send(letter.topic, [Outgoing(message.key, message.value, message.headers)])
            return _done(letter, "sent_again")
        if isinstance(record, Trace):
            return await self._admit(whole, record)
        return await self._assemble_again(letter, record.trace_id if isinstance(record, Span) else "")

    async def _admit(self, whole: Whole, trace: Trace) -> Outcome:
        """A trace that was assembled and then refused: it has its draw, and perhaps a newer revision by now."""
        admission = self.ingest.admission
        head = (await asyncio.to_thread(admission.store.heads, [trace.trace_id])).get(trace.trace_id)
        if head is not None and head.revision > trace.revision:
            return _done(whole.letter, "taken_in")
        digest = head.content_hash if head is not None else content_hash(whole.message.value)
        admitted = await admission.admit([Arrival(whole.message, trace, digest, head, ASSEMBLE)])
        return _outcome(whole.letter, next(iter(admitted.letters), None))

    async def _assemble_again(self, letter: Letter, trace_id: str) -> Outcome:
        """A trace that could not be made of its spans: the stored copies go through assembly once more."""
        stored = (await asyncio.to_thread(self.ingest.admission.store.spans, [trace_id])).get(trace_id)
        if not stored:
            detail = "its spans are no longer stored (three days); send the trace again from its source"
            return _refused(letter, "spans_gone", detail)
        await self._send(SPANS, [record_message(trace_id, row.span) for row in stored])
        return _done(letter, "sent_again")

    async def _send(self, topic: str, messages: Sequence[Outgoing]) -> None:
        await self.ingest.admission.publisher.send(topic, messages)


async def preview(wholes: Sequence[Whole], read: Callable[[Message], Awaitable[Decoded]], limit: int) -> list[Outcome]:
    """What the present configuration makes of letters, without sending or storing anything.

    ``limit`` is the longest message that is read. What only the store knows (an id that is taken) shows at the replay.
    Raises RegistryUnavailable.
    """
    return [_obstacle(whole) or await _previewed(whole, read, limit) for whole in wholes]


async def _previewed(whole: Whole, read: Callable[[Message], Awaitable[Decoded]], limit: int) -> Outcome:
    letter, message = whole.letter, whole.message
    if is_ours(whole):
        try:
            decode(model_of(whole), message.value, message.header(HEADER))
        except InvalidMessage as error:
            return _refused(letter, error.reason, error.detail)
        return _done(letter, "readable")
    if letter.length_bytes > limit:
        return _refused(
            letter, "too_large", f"(message): {letter.length_bytes} bytes, ingest.max_message_bytes is {limit}"
        )
    problem = next(iter((await read(message)).problems), None)
    return _done(letter, "readable") if problem is None else _refused(letter, problem.reason, problem.detail)


def is_ours(whole: Whole) -> bool:
    """Whether the content is a record of ours rather than a message of a source topic."""
    return whole.letter.topic in OURS or whole.letter.stage == ASSEMBLE


def model_of(whole: Whole) -> type[Record]:
    """What the content of a letter of ours is."""
    return OURS.get(whole.letter.topic) or (Span if whole.letter.schema_name.startswith("Span/") else Trace)


def _obstacle(whole: Whole) -> Outcome | None:
    text = whole.letter.obstacle
    return None if not text else _of(whole.letter, "impossible", whole.letter.reason, text)


def _outcome(letter: Letter, refused: DeadLetter | None) -> Outcome:
    return _done(letter, "taken_in") if refused is None else _refused(letter, refused.reason, refused.detail)


def _done(letter: Letter, result: Literal["taken_in", "sent_again", "readable"]) -> Outcome:
    return _of(letter, result)


def _refused(letter: Letter, reason: str, detail: str) -> Outcome:
    return _of(letter, "refused", reason, detail)


def _of(
    letter: Letter,
    result: Literal["taken_in", "sent_again", "readable", "refused", "impossible"],
    reason: str = "",
    detail: str = "",
) -> Outcome:
    return Outcome(
        letter=letter.letter,
        topic=letter.topic,
        partition=letter.partition,
        offset=letter.offset,
        result=result,
        reason=reason,
        detail=detail,
    )
