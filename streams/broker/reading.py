"""How a consumer group reads, and where it begins on each partition; decided without asking the cluster."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from aiokafka import TopicPartition


def whole_name(pattern: str) -> re.Pattern[str]:
    """What a topic's whole name must match, in the form in which the client compares it."""
    return re.compile(f"^(?:{pattern})$")


@dataclass(slots=True)
class Losses:
    """Counts of a process since its start, by topic; nothing here happens without a line in the log, too."""

    messages: Counter[str] = field(default_factory=Counter)
    """Messages that retention deleted before we had read them: offsets, so an upper bound."""
    made_anew: Counter[str] = field(default_factory=Counter)
    """How often a topic was deleted and made again, and therefore read from its beginning."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a group asks of the brokers. Sizes are limits of one answer, except ``buffer_bytes``."""

    pattern: str = ""
    """Topics whose whole name matches are read, in Python's syntax; empty: those that the agent names."""
    isolation_level: str = "read_committed"
    fetch_bytes: int = 16_000_000
    partition_fetch_bytes: int = 1_000_000
    fetch_wait_ms: int = 500
    rack: str = ""
    refresh_seconds: float = 30.0
    """How often new topics and partitions, lost messages and topics made anew are looked for."""
    buffer_bytes: int = 64_000_000
    """Values that were read and not yet handled; one larger message passes alone."""
    first_offsets: Mapping[TopicPartition, int] = field(default_factory=dict)
    """Where partitions begin that the group has never read; others begin at their first message."""
    is_watched: bool = True
    """False where the broker's end offsets are not to be trusted: the embedded one."""
    losses: Losses = field(default_factory=Losses)


class Because(StrEnum):
    """Why a partition begins where it does."""

    COMMITTED = "committed"
    START = "start"
    NEW = "new"
    RETENTION = "retention"
    MADE_ANEW = "made_anew"


@dataclass(frozen=True, slots=True)
class Begin:
    """Where to begin; ``lost`` counts offsets that were never read and no longer exist."""

    offset: int
    because: Because
    lost: int = 0


def where_to_begin(
    committed: int | None, first: int, end: int, planned: int | None = None, *, is_anew: bool = False
) -> Begin:
    """Where a partition with offsets from ``first`` up to before ``end`` is to be read from.

    A committed offset outside of them is either behind (retention deleted what came next) or ahead: then the topic was
    made anew, or a broker lost its newest messages, and all that is there is read.
    """
    if committed is None and planned is not None and not is_anew:
        return Begin(min(max(planned, first), end), Because.START)
    if is_anew:
        return Begin(first, Because.MADE_ANEW)
    if committed is None:
        return Begin(first, Because.NEW)
    if committed > end:
        return Begin(first, Because.MADE_ANEW)
    if committed < first:
        return Begin(first, Because.RETENTION, first - committed)
    return Begin(committed, Because.COMMITTED)


def lost_between(expected: int, seen: int | None, first: int) -> int:
    """Offsets that retention took from ``expected`` on, when ``seen`` (or nothing yet) came next and ``first`` is left.

    A gap that compaction or a marker of a transaction left lies behind ``first`` and loses nothing.
    """
    return max(0, min(first, first if seen is None else seen) - expected)
