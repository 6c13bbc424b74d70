"""A Kafka message as our handlers see it, free of Faust types."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any


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
            recorded_at=datetime.fromtimestamp(message.timestamp or 0.0, UTC),
        )
        for message in (event.message for event in events)
    ]
