"""What a batch of source messages holds: new traces, traces seen before, expired ones and dead letters. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b

from schemas.span import Span
from schemas.trace import Trace
from streams.agents.deadletter import DeadLetter
from streams.messages import Message
from streams.sources.raw import Decoded
from streams.store import ExpiredCount, TraceHead

STAGE = "ingest"
CLOCK_TOLERANCE = timedelta(minutes=5)
"""How far an event time may lie ahead of this worker's clock: policies are known at least so far."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A decoded trace with its message. ``head`` is set when the id was stored before: then its draw is kept.

    ``stage`` is where it became a trace: of an assembled one the message holds a record of ours.
    """

    message: Message
    trace: Trace
    content_hash: str
    head: TraceHead | None = None
    stage: str = STAGE


def content_hash(value: bytes | None) -> str:
    """Hash of a message's bytes: equal for a redelivery, different for another trace under the same id."""
    return blake2b(value or b"", digest_size=16).hexdigest()


def split_too_large(messages: Sequence[Message], max_bytes: int) -> tuple[list[Message], list[DeadLetter]]:
    """Messages that we take, and the dead letters of larger ones, which are not even parsed."""
    sizes = [len(message.value or b"") for message in messages]
    letters = [
        DeadLetter(
            message,
            "too_large",
            f"(message): {size} bytes, ingest.max_message_bytes is {max_bytes}; raise it, or send less with a trace",
            STAGE,
        )
        for message, size in zip(messages, sizes, strict=True)
        if size > max_bytes
    ]
    return [message for message, size in zip(messages, sizes, strict=True) if size <= max_bytes], letters


@dataclass(frozen=True, slots=True)
class Read:
    """What a batch of messages holds: whole traces, spans by message, and dead letters."""

    arrivals: list[Arrival]
    spans: list[tuple[Message, tuple[Span, ...]]]
    letters: list[DeadLetter]
    evaluators: int = 0
    """Spans of judges, our own among them."""
    ignored: int = 0
    """Items, and empty messages, that belong to no answer."""
    evaluator_positions: frozenset[tuple[str, int, int]] = frozenset()
    """Of the messages that held such spans."""


def read_arrivals(read: Sequence[tuple[Message, Decoded]]) -> Read:
    """The batch, in order. A message with a part that cannot be decoded is a dead letter as well; the rest goes on."""
    arrivals = [
        Arrival(message, trace, content_hash(message.value)) for message, decoded in read for trace in decoded.traces
    ]
    return Read(
        arrivals=arrivals,
        spans=[(message, decoded.spans) for message, decoded in read if decoded.spans],
        letters=[_letter(message, decoded) for message, decoded in read if decoded.problems],
        evaluators=sum(decoded.evaluators for _, decoded in read),
        ignored=sum(decoded.ignored for _, decoded in read),
        evaluator_positions=frozenset(message.position for message, decoded in read if decoded.evaluators),
    )


def _letter(message: Message, decoded: Decoded) -> DeadLetter:
    """The first problem names the reason; the detail says what else the message held."""
    first, count = decoded.problems[0], len(decoded.problems)
    taken = len(decoded.spans) + len(decoded.traces)
    others = f" ({count} of its {count + taken} items are bad, the others were taken in)" if count + taken > 1 else ""
    return DeadLetter(message, first.reason, f"{first.detail}{others}", STAGE, decoder=first.decoder)


def event_times(
    arrivals: Sequence[Arrival], spans: Sequence[tuple[Message, tuple[Span, ...]]]
) -> dict[tuple[str, int, int], datetime]:
    """By position the latest event time that a message holds; messages without one are left out."""
    moments = [(arrival.message.position, arrival.trace.ts) for arrival in arrivals]
    moments += [
        (message.position, moment) for message, some in spans for span in some if (moment := span.end or span.start)
    ]
    times: dict[tuple[str, int, int], datetime] = {}
    for position, moment in moments:
        times[position] = max(moment, times.get(position, moment))
    return times


def split_expired(arrivals: Sequence[Arrival], oldest: datetime) -> tuple[list[Arrival], list[ExpiredCount]]:
    """Traces at or after ``oldest``, and those that the store would drop at once, which are only counted."""
    kept = [arrival for arrival in arrivals if arrival.trace.ts >= oldest]
    expired = [
        ExpiredCount(trace_id=trace.trace_id, ts=trace.ts, intent=trace.intent, tier=trace.tier)
        for trace in (arrival.trace for arrival in arrivals)
        if trace.ts < oldest
    ]
    return kept, expired


def split_ahead(arrivals: Sequence[Arrival], latest: datetime) -> tuple[list[Arrival], list[DeadLetter]]:
    """New traces up to ``latest``, and the dead letters of those whose record time is in the future as well.

    No policy covers such a time yet, so one of them would hold up the stream; and no right time is known.
    """
    detail = (
        f"ts: event time and record time are both after {latest:%Y-%m-%d %H:%M} UTC, more than this worker's clock "
        "allows; set the clocks, or message.timestamp.type=LogAppendTime on the topic"
    )
    kept = [arrival for arrival in arrivals if arrival.head is not None or arrival.trace.ts <= latest]
    ahead = [arrival for arrival in arrivals if arrival.head is None and arrival.trace.ts > latest]
    return kept, [_given_up(arrival, "clock_ahead", detail) for arrival in ahead]


def settle(arrivals: Sequence[Arrival], heads: Mapping[str, TraceHead]) -> tuple[list[Arrival], list[DeadLetter]]:
    """One arrival a trace id, with what is known of it.

    The same bytes again are a redelivery and keep the stored event time and draw. Other bytes under a known id are
    another trace that took the id: the first one stays, the later goes to the dead letter.
    """
    settled: dict[str, Arrival] = {}
    letters: list[DeadLetter] = []
    for arrival in arrivals:
        trace_id = arrival.trace.trace_id
        first = settled.get(trace_id)
        head = heads.get(trace_id)
        known_hash = first.content_hash if first else head.content_hash if head else arrival.content_hash
        if arrival.content_hash != known_hash:
            detail = "trace_id: another message with this id and other content was stored first"
            letters.append(_given_up(arrival, "duplicate_id", detail))
        elif first is None:
            settled[trace_id] = _with_head(arrival, head)
    return list(settled.values()), letters


def _given_up(arrival: Arrival, reason: str, detail: str) -> DeadLetter:
    return DeadLetter(arrival.message, reason, detail, arrival.stage, decoder=arrival.trace.decoder)


def _with_head(arrival: Arrival, head: TraceHead | None) -> Arrival:
    if head is None:
        return arrival
    return replace(arrival, trace=arrival.trace.model_copy(update={"ts": head.ts}), head=head)
