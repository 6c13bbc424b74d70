"""A sample of messages with what is known of where they came from, and how many are taken from each partition."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from streams.messages import Message

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TopicFacts:
    """What the broker says of a topic; None and empty where it does not say, or our user may not ask.

    ``available`` messages lie on it, offsets that were compacted away included. ``per_second`` is counted by offsets
    over the hour before the newest message of the sample, so it needs no reading.
    """

    name: str
    partitions: int = 1
    available: int = 0
    per_second: float | None = None
    busiest_per_second: float | None = None
    """Of the partition with the most messages."""
    counted_seconds: float | None = None
    """How long a stretch was counted over: an hour, less where the topic is younger."""
    max_message_bytes: int | None = None
    compression: str = ""
    retention_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """``notes`` say in what the sample falls short of what was asked for; ``is_file`` means positions are lines."""

    messages: tuple[Message, ...]
    topics: tuple[TopicFacts, ...] = ()
    notes: tuple[str, ...] = ()
    is_file: bool = False
    seconds: float = 0.0
    since: datetime | None = None
    """Where the stretch of time begins that it was taken from: what began before may lack spans."""

    @property
    def value_bytes(self) -> int:
        """All values together, as the producer made them: after Kafka's own compression is undone."""
        return sum(len(message.value or b"") for message in self.messages)


def spread(count: int, available: Mapping[T, int]) -> dict[T, int]:
    """``count`` shared out evenly over what is available; what small ones lack is taken from large ones.

    Never more than is available, and ``count`` in all where there is as much. What cannot be divided goes to the
    largest ones.
    """
    left = count
    quota = {}
    for place, key in enumerate(sorted(available, key=lambda key: available[key])):
        quota[key] = min(available[key], left // (len(available) - place))
        left -= quota[key]
    return quota
