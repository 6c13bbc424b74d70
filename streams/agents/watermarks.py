"""How far in event time each partition of a source topic has been read; the alert step closes buckets by it."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

from streams.messages import Message
from streams.store import Watermark

IDLE_LAG = timedelta(minutes=5)
"""An idle partition's watermark stays this far behind now: producers may still be sending what happened meanwhile."""
NOTHING_READ = datetime(1970, 1, 1, tzinfo=UTC)
"""Mark of a partition of which nothing was read yet: it keeps every bucket open until it says something."""
Key = tuple[str, int]


class Watermarks:
    """Per partition the largest event time stored and the next offset; a mark never goes back.

    ``stored_before`` are the marks of earlier processes.
    """

    def __init__(self, stored_before: Iterable[Watermark] = ()) -> None:
        self._event_time: dict[Key, datetime] = {
            (mark.topic, mark.partition): mark.event_time for mark in stored_before
        }
        self._next_offset: dict[Key, int] = {}

    def stored(self, messages: Iterable[Message], times: Mapping[tuple[str, int, int], datetime]) -> None:
        """Every message of the batch is safe; ``times`` holds the event times of those that became traces."""
        for message in messages:
            key = (message.topic, message.partition)
            self._next_offset[key] = max(message.offset + 1, self._next_offset.get(key, 0))
            ts = times.get(message.position)
            if ts is not None:
                self._advance(key, ts)

    def rows(self, ends: Mapping[Key, int | None], now: datetime) -> list[Watermark]:
        """The marks of the assigned partitions, which are the keys of ``ends`` (end offsets, None while unknown).

        A partition read to its end moves on to five minutes before ``now``.
        """
        return [self._row(key, end, now) for key, end in ends.items()]

    def _row(self, key: Key, end: int | None, now: datetime) -> Watermark:
        is_idle = end is not None and self._next_offset.get(key, 0) >= end
        if is_idle:
            self._advance(key, now - IDLE_LAG)
        topic, partition = key
        event_time = self._event_time.get(key, NOTHING_READ)
        return Watermark(topic=topic, partition=partition, event_time=event_time, is_idle=is_idle, at=now)

    def _advance(self, key: Key, moment: datetime) -> None:
        self._event_time[key] = max(moment, self._event_time.get(key, moment))
