"""The dead letter: original key, bytes, headers and position of what can never become a trace, and a ceiling on it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import TypeVar

from schemas.base import Record
from schemas.codec import HEADER, decode
from schemas.errors import GroundwatchError, InvalidMessage
from streams.agents.batches import CEILING, CeilingReached
from streams.agents.fitting import send_fitting
from streams.broker.publisher import REQUEST_OVERHEAD_BYTES, Outgoing, Publisher
from streams.broker.topics import DEADLETTER
from streams.messages import Message

PREFIX_BYTES = 65_536
"""What is kept of a value that is too large; also the most that key and headers may take each."""
SHORTEST_PREFIX_BYTES = 1_024
MAX_DETAIL_CHARS = 500
ROW_REJECTED = "row_rejected"
"""Reason of what the store refuses for its content; all other reasons come from what reads the message."""
_ORIGINAL = "original-"
_LIKE_OURS = re.compile(r"(?:original-)*gw-")
"""A stranger's header that is named like ours gets ``original-`` in front, so that it can be given back as it was."""
Header = tuple[str, bytes]
T = TypeVar("T")
R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message with the reason why it was given up; ``reason`` is a short constant, ``detail`` names the field.

    ``decoder`` is what tried to read it, ``about`` are headers that say what was taken out of the message.
    """

    message: Message
    reason: str
    detail: str
    stage: str
    about: tuple[Header, ...] = ()
    decoder: str = ""


def from_error(message: Message, error: GroundwatchError, stage: str, decoder: str = "") -> DeadLetter:
    """The dead letter for an error that waiting cannot cure; an error that knows its decoder needs none."""
    if isinstance(error, InvalidMessage):
        return DeadLetter(message, error.reason, error.detail, stage, decoder=error.decoder or decoder)
    return DeadLetter(message, ROW_REJECTED, str(error), stage, decoder=decoder)


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
    """The Kafka message: original key, value and headers plus ours, which alone are named ``gw-…``.

    A longer value keeps a prefix (at most 64 KiB), its length and its hash; a key or headers of more than 64 KiB keep
    what fits, and headers say what is missing.
    """
    message = letter.message
    value, about_value = _fitting_value(message.value, max_value_bytes)
    key, about_key = _fitting_key(message.key)
    headers, about_headers = _fitting_headers(message.headers)
    ours = [
        ("gw-topic", message.topic.encode()),
        ("gw-partition", str(message.partition).encode()),
        ("gw-offset", str(message.offset).encode()),
        ("gw-recorded-at", message.recorded_at.isoformat().encode()),
        ("gw-stage", letter.stage.encode()),
        ("gw-reason", letter.reason.encode()),
        ("gw-detail", letter.detail[:MAX_DETAIL_CHARS].encode("utf-8", "replace")),
        ("gw-decoder", letter.decoder.encode()),
    ]
    return Outgoing(key, value, (*headers, *ours, *about_value, *about_key, *about_headers, *letter.about))


def _fitting_value(value: bytes | None, max_bytes: int) -> tuple[bytes | None, list[Header]]:
    if value is None:
        return None, [("gw-null", b"1")]
    if len(value) <= max_bytes:
        return value, []
    digest = blake2b(value, digest_size=16).hexdigest().encode()
    return value[: min(max_bytes, PREFIX_BYTES)], [("gw-length", str(len(value)).encode()), ("gw-hash", digest)]


def _fitting_key(key: bytes | None) -> tuple[bytes, list[Header]]:
    if key is None:
        return b"", [("gw-null-key", b"1")]  # a record without key and value is one that clients refuse to send
    if len(key) <= PREFIX_BYTES:
        return key, []
    return key[:PREFIX_BYTES], [("gw-key-length", str(len(key)).encode())]


def _fitting_headers(headers: Sequence[Header]) -> tuple[list[Header], list[Header]]:
    kept: list[Header] = []
    room = PREFIX_BYTES
    for name, value in headers:
        room -= len(name.encode("utf-8", "replace")) + len(value)
        if room < 0:
            return kept, [("gw-headers-dropped", str(len(headers) - len(kept)).encode())]
        kept.append((f"{_ORIGINAL}{name}" if _LIKE_OURS.match(name) else name, value))
    return kept, []


def unescaped(name: str) -> str:
    """The name that a header had on the message, from its name on the letter."""
    return name.removeprefix(_ORIGINAL) if _LIKE_OURS.match(name) else name


async def bury(letters: Sequence[DeadLetter], publisher: Publisher, max_value_bytes: int) -> None:
    """Publish the letters and wait until the broker has them. Raises BrokerUnavailable.

    Where the broker takes less than it should, a value keeps 64 KiB, and at last 1 KiB.
    """
    limits = (max_value_bytes, PREFIX_BYTES, SHORTEST_PREFIX_BYTES)
    forms = [[partial(to_outgoing, letter, limit) for limit in limits] for letter in letters]
    await send_fitting(publisher, DEADLETTER, forms, max_value_bytes + REQUEST_OVERHEAD_BYTES)


_REMEDY = "mend sources, raise the limit, or skip the messages: docs/dead-letters.md"


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Stops a consumer when bad messages are the rule: ``run_length`` in a row, or ``ratio`` of the last ``window``."""

    run_length: int = 1000
    ratio: float = 0.5
    window: int = 2_000
    run: int = 0
    recent: tuple[bool, ...] = ()

    def after(self, are_bad: Sequence[bool], example: str = "") -> "Ceiling":
        """The ceiling after a batch, in message order.

        Raises CeilingReached, saying which bound was passed; ``example`` names one of the bad messages and its reason.
        """
        such = f", such as {example}" if example else ""
        run = self.run
        for is_bad in are_bad:
            run = run + 1 if is_bad else 0
            if run >= self.run_length:
                raise CeilingReached(f"{CEILING}: {run} bad messages in a row{such}; {_REMEDY}")
        recent = (*self.recent, *are_bad)[-self.window :]
        if len(recent) == self.window and sum(recent) > self.ratio * self.window:
            raise CeilingReached(f"{CEILING}: {sum(recent)} of {self.window} messages are bad{such}; {_REMEDY}")
        return replace(self, run=run, recent=recent)
