"""A Kafka message as our handlers see it, free of Faust types."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_RECORD_SECONDS = 253_402_214_400
"""The last day of 9999."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message with its position; ``recorded_at`` is the broker's record time."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]
    recorded_at: datetime

    @property
    def position(self) -> tuple[str, int, int]:
        """Topic, partition and offset: what tells this message from every other one."""
        return self.topic, self.partition, self.offset

    def header(self, name: str) -> bytes | None:
        """The last header of that name, None when there is none."""
        return next((value for key, value in reversed(self.headers) if key == name), None)


def _headers(raw: Any) -> tuple[tuple[str, bytes], ...]:
    pairs = raw.items() if isinstance(raw, dict) else (raw or ())
    return tuple((str(name), value or b"") for name, value in pairs)


def _recorded_at(seconds: float | None) -> datetime:
    """The producer may set it to anything; none, and one that is no date, is 1970."""
    if seconds is None or not 0 <= seconds <= _LAST_RECORD_SECONDS:
        return _EPOCH
    return datetime.fromtimestamp(seconds, UTC)


def from_events(events: Sequence[Any]) -> list[Message]:
    """The messages behind Faust's events, in order."""
    return [
        Message(
            topic=message.topic,
            partition=message.partition,
            offset=message.offset,
            key=message.key,
            value=message.value,
            headers=_headers(message.headers),
            recorded_at=_recorded_at(message.timestamp),
        )
        for message in (event.message for event in events)
    ]


def from_record(record: Any) -> Message:
    """The message behind a record of aiokafka's consumer, whose time is in milliseconds."""
    milliseconds = record.timestamp or 0
    is_date = 0 <= milliseconds <= _LAST_RECORD_SECONDS * 1000
    return Message(
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        key=record.key,
        value=record.value,
        headers=_headers(record.headers),
        recorded_at=_EPOCH + timedelta(milliseconds=milliseconds) if is_date else _EPOCH,
    )
