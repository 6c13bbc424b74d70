"""The open traces of a process: spans go in with their position, complete traces come out, and what is held is known.

Lives in memory only. What is lost with the process is read again, because a message is acknowledged only when every
trace that began at or before it on its partition has been closed and stored.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from schemas.span import Span
from streams.assembly.closing import CloseReason, ClosingRules, Progress, close_reason

Partition = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Closed:
    """A trace that closes: its spans as they came, and why."""

    trace_id: str
    partition: Partition
    spans: tuple[Span, ...]
    reason: CloseReason


@dataclass(slots=True)
class _Open:
    partition: Partition
    first_offset: int
    progress: Progress
    began: datetime | None = None
    copies: dict[tuple[str, str], Span] = field(default_factory=dict)
    """By span id and content hash: a copy that came before costs nothing."""


class OpenTraces:
    """Spans of one trace id come on one partition, since ``gw.spans`` is keyed by it."""

    def __init__(self, rules: ClosingRules) -> None:
        self.rules = rules
        self._open: dict[str, _Open] = {}
        self._clock: dict[Partition, datetime] = {}
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._open)

    def add(self, partition: Partition, offset: int, recorded_at: datetime, span: Span, size_bytes: int) -> None:
        """Take in one span; offsets of a partition come in order. The partition's time moves on to ``recorded_at``."""
        now = self._advance(partition, recorded_at)
        opened = self._open.get(span.trace_id)
        if opened is None:
            opened = self._open[span.trace_id] = _Open(partition, offset, Progress(now, now))
        progress = opened.progress
        progress.last_at = now
        key = (span.span_id, span.content_hash)
        if key in opened.copies:
            return
        opened.copies[key] = span
        progress.spans += 1
        progress.bytes += size_bytes
        self._bytes += size_bytes
        moment = span.start or span.end
        if moment is not None and (opened.began is None or moment < opened.began):
            opened.began = moment
        is_root = not span.parent_id and not span.is_update  # an update does not say where it stands
        if is_root and span.end is not None and progress.root_ended_at is None:
            progress.root_ended_at = now

    def due(self, idle: Iterable[Partition] = (), now: datetime | None = None) -> list[Closed]:
        """What closes by the time of its partition, in the order of their first spans; held until ``forget``.

        ``idle`` partitions were read to their end: their time is ``now``.
        """
        if now is not None:
            for partition in idle:
                self._advance(partition, now)
        closing = {
            trace_id: reason
            for trace_id, opened in self._open.items()
            if (reason := close_reason(opened.progress, self._clock[opened.partition], self.rules)) is not None
        }
        closing |= self._crowded_out(closing)
        return [
            Closed(trace_id, opened.partition, tuple(opened.copies.values()), closing[trace_id])
            for trace_id, opened in self._open.items()
            if trace_id in closing
        ]

    def _crowded_out(self, closing: Collection[str]) -> dict[str, CloseReason]:
        """The oldest open traces beyond the bytes that all may take together."""
        excess = self._bytes - self.rules.total_bytes
        crowded: dict[str, CloseReason] = {}
        for trace_id, opened in self._open.items():  # in the order in which they were opened
            if excess <= 0:
                break
            excess -= opened.progress.bytes
            if trace_id not in closing:
                crowded[trace_id] = CloseReason.CAP_BYTES
        return crowded

    def forget(self, closed: Iterable[Closed]) -> None:
        """These are stored: nothing of them is held any longer."""
        for one in closed:
            self._remove(one.trace_id)

    def held(self) -> dict[Partition, int]:
        """By partition with open traces, the offset from which on nothing may be acknowledged."""
        lowest: dict[Partition, int] = {}
        for opened in self._open.values():
            lowest[opened.partition] = min(opened.first_offset, lowest.get(opened.partition, opened.first_offset))
        return lowest

    def began(self) -> dict[Partition, datetime]:
        """By partition with open traces, the earliest moment that one of them speaks of: what was before is stored."""
        earliest: dict[Partition, datetime] = {}
        for opened in self._open.values():
            if opened.began is not None:
                earliest[opened.partition] = min(opened.began, earliest.get(opened.partition, opened.began))
        return earliest

    def drop(self, partitions: Iterable[Partition]) -> None:
        """Forget the open traces of partitions that were taken away; whoever has them now reads them again."""
        gone = set(partitions)
        for trace_id in [trace_id for trace_id, opened in self._open.items() if opened.partition in gone]:
            self._remove(trace_id)
        for partition in gone:
            self._clock.pop(partition, None)

    def _remove(self, trace_id: str) -> None:
        opened = self._open.pop(trace_id, None)
        self._bytes -= opened.progress.bytes if opened else 0

    def _advance(self, partition: Partition, moment: datetime) -> datetime:
        now = max(moment, self._clock.get(partition, moment))
        self._clock[partition] = now
        return now
