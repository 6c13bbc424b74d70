"""How far in event time each partition of a source topic has been read; the alert step closes buckets by it."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

from streams.messages import Message
from streams.store import Watermark

IDLE_LAG = timedelta(minutes=5)
"""An idle partition's watermark stays this far behind now: producers may still be sending what happened meanwhile."""
NOTHING_READ = datetime(1970, 1, 1, tzinfo=UTC)
"""Mark of a partition of which nothing was read yet: it keeps every bucket open until it says something."""
_TICK = timedelta(microseconds=1)
Key = tuple[str, int]


class Watermarks:
    """Per partition the largest event time stored and the next offset; a mark never goes back.

    ``stored_before`` are the marks of earlier processes.
    """

    def __init__(self, stored_before: Iterable[Watermark] = ()) -> None:
        before = {(mark.topic, mark.partition): mark for mark in stored_before}
        self._event_time: dict[Key, datetime] = {key: mark.event_time for key, mark in before.items()}
        self._next_offset: dict[Key, int] = {key: mark.next_offset for key, mark in before.items()}
        self._written_at: dict[Key, datetime] = {key: mark.at for key, mark in before.items()}

    def stored(self, messages: Iterable[Message], times: Mapping[tuple[str, int, int], datetime]) -> None:
        """Every message of the batch is safe; ``times`` holds the event times of those that became traces."""
        for message in messages:
            key = (message.topic, message.partition)
            self._next_offset[key] = message.offset + 1
            ts = times.get(message.position)
            if ts is not None:
                self.advance(key, ts)

    def advance(self, key: Key, moment: datetime) -> None:
        """A trace of that event time is stored."""
        self._event_time[key] = max(moment, self._event_time.get(key, moment))

    def read_to_end(self, ends: Mapping[Key, int | None]) -> list[Key]:
        """The partitions of which every message is safe; ``ends`` are end offsets, None while unknown.

        An offset that an earlier process stored counts only where it is the end exactly: a topic that was made anew
        has other offsets.
        """
        return [key for key, end in ends.items() if end == 0 or (end is not None and self._next_offset.get(key) == end)]

    def rows(
        self, ends: Mapping[Key, int | None], now: datetime, open_since: Mapping[Key, datetime] | None = None
    ) -> list[Watermark]:
        """The marks of the assigned partitions, which are the keys of ``ends``.

        A partition read to its end moves on to five minutes before ``now``, which must not go back; one with open
        traces, which began at ``open_since``, no further than that. No mark is beyond ``now``.
        """
        idle = set(self.read_to_end(ends))
        return [self._row(key, now, (open_since or {}).get(key), is_idle=key in idle) for key in ends]

    def _row(self, key: Key, now: datetime, open_since: datetime | None, *, is_idle: bool) -> Watermark:
        if is_idle:
            self.advance(key, now - IDLE_LAG if open_since is None else min(open_since, now - IDLE_LAG))
        topic, partition = key
        # A producer's clock may be hours ahead; no bucket that has not ended may close by that.
        event_time = min(self._event_time.get(key, NOTHING_READ), now)
        # The newest row counts, so on a clock that was set back a mark is dated right after the one before it.
        at = max(now, self._written_at.get(key, now - _TICK) + _TICK)
        self._written_at[key] = at
        return Watermark(
            topic=topic,
            partition=partition,
            event_time=event_time,
            is_idle=is_idle,
            next_offset=self._next_offset.get(key, -1),
            at=at,
        )


def place_of(mark: Watermark) -> str:
    """Which partition it is of."""
    return f"{mark.topic} {mark.partition}"
