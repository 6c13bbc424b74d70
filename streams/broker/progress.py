"""How far a group member has read and handled each of its partitions since it was given them; no I/O."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from faust.types import TP


@dataclass(slots=True)
class _Place:
    """Offsets of one partition, each the next one. ``handed_out`` and ``handled`` are 0 until something was."""

    committed: int
    expected: int
    reached: int = -1
    handed_out: int = 0
    handled: int = 0
    gap: tuple[int, int] = (0, 0)
    waiting: deque[int] = field(default_factory=deque)
    """Offsets handed out and not handled, in order."""
    done: set[int] = field(default_factory=set)
    """Those that were handled while an earlier one waits."""


class Progress:
    """Per partition what was handed out and handled, and the place that the fetcher has reached.

    That place is behind markers of transactions and behind what compaction removed, which no message tells; it is noted
    when everything that was fetched before has been handed out.
    """

    def __init__(self) -> None:
        self._places: dict[TP, _Place] = {}
        self.turn = 0
        """How often the place was moved: what was fetched before says nothing of where it is read now."""

    def begin(self, tp: TP, offset: int) -> None:
        """The partition is read from ``offset`` on, which is committed."""
        self._places[tp] = _Place(committed=offset, expected=offset)
        self.turn += 1

    def forget(self, partitions: Iterable[TP]) -> None:
        """The partitions were taken away."""
        for tp in partitions:
            self._places.pop(tp, None)

    def rewind(self) -> None:
        """What was handed out and is not handled may have reached nobody: it is read again."""
        for place in self._places.values():
            if place.waiting:
                place.expected = place.waiting[0]
                place.waiting.clear()
            place.reached = -1
        self.turn += 1

    def take(self, tp: TP, offset: int) -> bool:
        """A message is to be handed out; False for one from before the partition's beginning, or handed out already.

        Of the gaps since the last look the widest is kept for ``gaps``.
        """
        place = self._places.setdefault(tp, _Place(offset, offset))
        if offset < place.expected:
            return False
        if offset - place.expected > place.gap[1] - place.gap[0]:
            place.gap = (place.expected, offset)
        place.expected = place.handed_out = offset + 1
        place.waiting.append(offset)
        return True

    def handle(self, tp: TP, offset: int) -> None:
        """The message is done. One before it that is not holds the commit, whatever became of it."""
        if place := self._places.get(tp):
            place.done.add(offset)
            while place.waiting and place.waiting[0] in place.done:
                place.done.remove(place.waiting[0])
                place.handled = place.waiting.popleft() + 1

    def reach(self, positions: Mapping[TP, int], turn: int) -> None:
        """Everything before these positions was handed out, or is nothing that can be; of the others nothing is known.

        A partition is left out while its broker does not answer: what it holds by now nobody can say. ``turn`` is that
        from before the last fetch; nothing counts when a place was moved since, for what was fetched then may have been
        thrown away, and is fetched again.
        """
        if turn != self.turn:
            return
        for tp, place in self._places.items():
            place.reached = positions.get(tp, -1)

    def due(self) -> dict[TP, int]:
        """What can be committed and is not: behind the last message that is done, and behind markers after it."""
        found = {}
        for tp, place in self._places.items():
            done = place.handled if place.waiting else max(place.handled, place.reached)
            if done > place.committed:
                found[tp] = done
        return found

    def commit(self, offsets: Mapping[TP, int]) -> None:
        """These were committed."""
        for tp, offset in offsets.items():
            if place := self._places.get(tp):
                place.committed = offset

    def expected(self) -> dict[TP, int]:
        """By partition the next offset to come."""
        return {tp: max(place.expected, place.reached) for tp, place in self._places.items()}

    def gaps(self) -> dict[TP, tuple[int, int]]:
        """By partition the widest gap since the last call: the offset that was expected, and the one that came."""
        found = {tp: place.gap for tp, place in self._places.items() if place.gap[1]}
        for place in self._places.values():
            place.gap = (0, 0)
        return found

    def skip_to(self, tp: TP, offset: int) -> None:
        """What was expected before ``offset`` will never come."""
        if place := self._places.get(tp):
            place.expected = max(place.expected, offset)

    def readable_end(self, tp: TP, high: int | None) -> int | None:
        """The offset behind the last message of the partition, None while more is to be read than was handed out.

        0 when nothing was handed out since the partition came, and nothing is left to be: all before was handled by
        those who committed it.
        """
        place = self._places.get(tp)
        if place is None or place.reached < 0 or high is None or high > max(place.reached, place.expected):
            return None
        return place.handed_out
