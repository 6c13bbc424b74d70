"""What a dead letter says; nothing here needs Kafka, so that commands can name letters before they connect."""

import re
from typing import Self

from schemas.base import Record, UtcDatetime
from schemas.errors import ConfigError

POISON = "poison_suspected"
"""Reason of a message on which the process died again and again: it was set aside unread."""
_POSITION = re.compile(r"([0-9]{1,9}):([0-9]{1,18})")


class Position(Record):
    """Where a letter lies on ``gw.deadletter``; written ``partition:offset``."""

    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.partition}:{self.offset}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """From ``partition:offset``. Raises ConfigError."""
        found = _POSITION.fullmatch(text.strip())
        if found is None:
            raise ConfigError(
                f"letter {text[:40]!r}: write partition:offset, as `groundwatch deadletter list` shows it"
            )
        return cls(partition=int(found[1]), offset=int(found[2]))


class Letter(Record):
    """What is known of a letter without its content.

    ``topic``, ``partition``, ``offset`` and ``recorded_at`` are those of the message; ``at`` is when it was given up.
    ``length_bytes`` is the whole value's, ``kept_bytes`` what the letter holds of it. ``concealed`` is how content was
    left out (``hash``, ``drop``), empty when it was not.
    """

    letter: str
    at: UtcDatetime
    topic: str
    partition: int
    offset: int
    recorded_at: UtcDatetime
    stage: str
    reason: str
    detail: str
    decoder: str = ""
    length_bytes: int
    kept_bytes: int
    is_null: bool = False
    concealed: str = ""
    schema_name: str = ""
    """Of a record of ours, such as ``Trace/1.0``; empty for a message of a source topic."""
    replayed_at: UtcDatetime | None = None

    @property
    def position(self) -> Position:
        """Where it lies on ``gw.deadletter``."""
        return Position.parse(self.letter)

    @property
    def source(self) -> tuple[str, int, int]:
        """The message that it was."""
        return self.topic, self.partition, self.offset

    @property
    def obstacle(self) -> str:
        """Why it can never be replayed, with what to do instead; empty when it can."""
        where = f"read the original at {self.topic} {self.partition}:{self.offset} while that topic keeps it"
        if self.concealed:
            return f"its content was left out (privacy.dead_letter: {self.concealed}); {where}"
        if self.kept_bytes < self.length_bytes:
            return (
                f"it holds {self.kept_bytes} of {self.length_bytes} bytes; raise ingest.max_message_bytes, and {where}"
            )
        return ""


class Mark(Record):
    """Says that a letter was replayed."""

    letter: str
    at: UtcDatetime
