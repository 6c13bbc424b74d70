"""The dead letter: original key, bytes, headers and position of what can never become a trace, and a ceiling on it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TypeVar

from schemas.base import Record
from schemas.codec import HEADER, decode
from schemas.errors import GroundwatchError, InvalidMessage
from streams.agents.batches import CEILING, CeilingReached
from streams.broker.publisher import Outgoing, Publisher
from streams.broker.topics import DEADLETTER
from streams.messages import Message

T = TypeVar("T")
R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message with the reason why it was given up; ``reason`` is a short constant, ``detail`` names the field."""

    message: Message
    reason: str
    detail: str
    stage: str


def from_error(message: Message, error: GroundwatchError, stage: str) -> DeadLetter:
    """The dead letter for an error that waiting cannot cure."""
    if isinstance(error, InvalidMessage):
        return DeadLetter(message, error.reason, error.detail, stage)
    return DeadLetter(message, "row_rejected", str(error), stage)


def read_each(
    messages: Sequence[Message], decode: Callable[[Message], T], stage: str
) -> tuple[list[tuple[Message, T]], list[DeadLetter]]:
    """Decode each message on its own: one that cannot be decoded becomes a dead letter and costs no other."""
    read: list[tuple[Message, T]] = []
    letters: list[DeadLetter] = []
    for message in messages:
        try:
            read.append((message, decode(message)))
        except InvalidMessage as error:
            letters.append(from_error(message, error, stage))
    return read, letters


def reader_of(model: type[R]) -> Callable[[Message], R]:
    """How messages of our own topics are read: the record, if the writer's schema is ours."""
    return lambda message: decode(model, message.value, message.header(HEADER))


def to_outgoing(letter: DeadLetter, max_value_bytes: int) -> Outgoing:
    """The Kafka message: original key, value and headers plus ours. Longer values keep a prefix, length and hash."""
    message = letter.message
    value = message.value
    headers = [
        *message.headers,
        ("gw-topic", message.topic.encode()),
        ("gw-partition", str(message.partition).encode()),
        ("gw-offset", str(message.offset).encode()),
        ("gw-recorded-at", message.recorded_at.isoformat().encode()),
        ("gw-stage", letter.stage.encode()),
        ("gw-reason", letter.reason.encode()),
        ("gw-detail", letter.detail.encode("utf-8", "replace")),
    ]
    if value is None:
        headers.append(("gw-null", b"1"))
    elif len(value) > max_value_bytes:
        headers.append(("gw-length", str(len(value)).encode()))
        headers.append(("gw-hash", blake2b(value, digest_size=16).hexdigest().encode()))
        value = value[:max_value_bytes]
    return Outgoing(message.key, value, tuple(headers))


async def bury(letters: Sequence[DeadLetter], publisher: Publisher, max_value_bytes: int) -> None:
    """Publish the letters and wait until the broker has them. Raises BrokerUnavailable."""
    await publisher.send(DEADLETTER, [to_outgoing(letter, max_value_bytes) for letter in letters])


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Stops a consumer when bad messages are the rule: ``run_length`` in a row, or ``ratio`` of the last ``window``."""

    run_length: int = 1000
    ratio: float = 0.5
    window: int = 10_000
    run: int = 0
    recent: tuple[bool, ...] = ()

    def after(self, are_bad: Sequence[bool]) -> "Ceiling":
        """The ceiling after a batch, in message order. Raises CeilingReached, saying which bound was passed."""
        run = self.run
        for is_bad in are_bad:
            run = run + 1 if is_bad else 0
            if run >= self.run_length:
                raise CeilingReached(f"{CEILING}: {run} bad messages in a row; check the topic's format")
        recent = (*self.recent, *are_bad)[-self.window :]
        if len(recent) == self.window and sum(recent) > self.ratio * self.window:
            raise CeilingReached(
                f"{CEILING}: {sum(recent)} of {self.window} messages are bad; check the topic's format"
            )
        return replace(self, run=run, recent=recent)
