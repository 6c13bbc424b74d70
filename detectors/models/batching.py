"""Which inputs go through a model together: those of the same padded length, the longest waiting first.

A row's arithmetic depends on the length that it is padded to and on nothing else in its batch; so inputs share a batch
only where each alone would be padded to that very length.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Generic, TypeVar

_STEPS = ((512, 8), (2_048, 64))
_LONG_STEP = 128
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Encoded:
    """One input of a model as token ids; ``types`` is empty where the model takes none."""

    ids: tuple[int, ...]
    types: tuple[int, ...] = ()


def padded_length(tokens: int, ceiling: int, least: int = 8) -> int:
    """The length to which an input of ``tokens`` is padded: to the next 8, above 512 the next 64, above 2,048 128.

    Steps of ``least`` at least, and never above ``ceiling``, the longest that the model takes.

    >>> padded_length(37, 512), padded_length(600, 8192), padded_length(509, 510), padded_length(37, 512, least=64)
    (40, 640, 510, 64)
    """
    step = max(least, next((step for most, step in _STEPS if tokens <= most), _LONG_STEP))
    return min(-(-tokens // step) * step, max(ceiling, tokens))


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """An input that waits, its padded length, and whose it is."""

    encoded: Encoded
    length: int
    ticket: T


class Waiting(Generic[T]):
    """Inputs that wait, by padded length, in the order in which they came; not safe across threads."""

    def __init__(self) -> None:
        self._by_length: dict[int, deque[tuple[int, Entry[T]]]] = {}
        self._numbers = count()
        self.tokens = 0
        """Padded tokens that wait."""

    def add(self, entry: Entry[T]) -> None:
        """Put ``entry`` behind the others of its length."""
        self._by_length.setdefault(entry.length, deque()).append((next(self._numbers), entry))
        self.tokens += entry.length

    def take(self, batch_tokens: int) -> list[Entry[T]]:
        """The entry that waited longest, with as many of its length as fit into ``batch_tokens``; empty: none waits."""
        if not self._by_length:
            return []
        length = min(self._by_length, key=lambda length: self._by_length[length][0][0])
        queue = self._by_length[length]
        taken = [queue.popleft()[1] for _ in range(min(len(queue), rows_of(length, batch_tokens)))]
        if not queue:
            del self._by_length[length]
        self.tokens -= length * len(taken)
        return taken


def rows_of(length: int, batch_tokens: int) -> int:
    """Rows of a full batch; at least one, whatever its length."""
    return max(1, batch_tokens // length)


def halves(entries: Sequence[Entry[T]]) -> tuple[Sequence[Entry[T]], Sequence[Entry[T]]]:
    """Two parts of a batch that failed."""
    middle = len(entries) // 2
    return entries[:middle], entries[middle:]
