"""How far in event time each partition of a source topic has been read; the alert step closes buckets by it."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from streams.messages import Message
from streams.store import Watermark

IDLE_LAG = timedelta(minutes=5)
"""An idle partition's watermark stays this far behind now: producers may still be sending what happened meanwhile."""


class Watermarks:
    """Per partition the largest event time stored and the next offset; it never goes back."""

    def __init__(self) -> None:
        self._event_time: dict[tuple[str, int], datetime] = {}
        self._next_offset: dict[tuple[str, int], int] = {}

    def stored(self, messages: Iterable[Message], times: dict[tuple[str, int, int], datetime]) -> None:
        """Every message of the batch is safe; ``times`` holds the event times of those that became traces."""
        for message in messages:
            key = (message.topic, message.partition)
            self._next_offset[key] = max(message.offset + 1, self._next_offset.get(key, 0))
            ts = times.get((message.topic, message.partition, message.offset))
            if ts is not None:
                self._event_time[key] = max(ts, self._event_time.get(key, ts))

    def rows(
        self, assigned: Iterable[tuple[str, int]], ends: Mapping[tuple[str, int], int | None], now: datetime
    ) -> list[Watermark]:
        """The marks of the assigned partitions; one read to its end moves on to five minutes before ``now``."""
        marks = []
        for key in assigned:
            end = ends.get(key)
            is_idle = end is not None and self._next_offset.get(key, 0) >= end
            known = self._event_time.get(key)
            if is_idle:
                known = max(known or now - IDLE_LAG, now - IDLE_LAG)
            if known is not None:
                topic, partition = key
                marks.append(Watermark(topic=topic, partition=partition, event_time=known, is_idle=is_idle, at=now))
        return marks
