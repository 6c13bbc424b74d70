"""The stretch of time a sample is taken from: the same for all partitions, so that traces are torn at its ends alone.

Equally many messages of each partition would be other hours of each, and hardly a trace of a topic without keys would
be whole.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from aiokafka import TopicPartition

from streams.attach.sample import spread

Offsets: TypeAlias = Mapping[TopicPartition, int]
OffsetsAt: TypeAlias = Callable[[datetime], Awaitable[Offsets]]
"""By partition the first offset at or after a time; its end where there is none."""
_FIRST = timedelta(seconds=10)
_GROWTH = 4
_GROWTHS = 14
"""Ten seconds to fifty years."""
_HALVINGS = 12
_ENOUGH = 0.9


@dataclass(frozen=True, slots=True)
class Slice:
    """From which offset on how many messages are taken.

    ``since`` is where the stretch begins: what began before it may lack spans. None where nothing lies before.
    """

    starts: Offsets
    quotas: Offsets
    since: datetime | None = None


async def newest(count: int, begins: Offsets, ends: Offsets, offsets_at: OffsetsAt, now: datetime) -> Slice:
    """The last ``count`` messages of all partitions together, or somewhat fewer; at least one of each that has any."""

    async def taken(span: timedelta) -> Offsets:
        found = await offsets_at(now - span)
        return {tp: max(0, ends[tp] - max(found[tp], begins[tp])) for tp in ends}

    span, counts = await _stretch(count, sum(ends.values()) - sum(begins.values()), taken)
    available = {tp: ends[tp] - begins[tp] for tp in ends}
    counts = {tp: max(counts[tp], min(1, available[tp])) for tp in ends}
    quotas = spread(count, counts)
    is_all = all(quotas[tp] == available[tp] for tp in ends)
    starts = {tp: ends[tp] - quotas[tp] for tp in ends}
    return Slice(starts, quotas, None if is_all else now - span)


async def oldest(count: int, starts: Offsets, ends: Offsets, offsets_at: OffsetsAt, since: datetime) -> Slice:
    """The first ``count`` messages from ``starts`` on, or somewhat fewer; ``since`` is the time of the first."""

    async def taken(span: timedelta) -> Offsets:
        found = await offsets_at(since + span)
        return {tp: max(0, found[tp] - starts[tp]) for tp in ends}

    _, counts = await _stretch(count, sum(ends[tp] - starts[tp] for tp in ends), taken)
    return Slice(starts, spread(count, counts), since)


async def _stretch(
    count: int, available: int, taken: Callable[[timedelta], Awaitable[Offsets]]
) -> tuple[timedelta, Offsets]:
    """A stretch with nearly ``count`` messages; with more of them where many have one and the same time."""
    if available <= count:
        span = _FIRST * _GROWTH**_GROWTHS
        return span, await taken(span)
    low, span = timedelta(0), _FIRST
    counts = await taken(span)
    for _ in range(_GROWTHS):
        if sum(counts.values()) >= count:
            break
        low, span = span, span * _GROWTH
        counts = await taken(span)
    for _ in range(_HALVINGS):
        if _ENOUGH * count <= sum(counts.values()) <= count:
            break
        middle = (low + span) / 2
        found = await taken(middle)
        if sum(found.values()) > count:
            span, counts = middle, found
        else:
            low = middle
            if sum(found.values()) >= _ENOUGH * count:
                return middle, found
    return span, counts
