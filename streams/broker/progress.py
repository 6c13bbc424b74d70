"""How far a group member has read and handled each of its partitions since it was given them; no I/O."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

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


class Progress:
    """Per partition what was handed out and handled, and the place that the fetcher has reached.

    That place is behind markers of transactions and behind what compaction removed, which no message tells; it is noted
    when everything that was fetched before has been handed out.
    """

    def __init__(self) -> None:
        self._places: dict[TP, _Place] = {}

    def begin(self, tp: TP, offset: int) -> None:
        """The partition is read from ``offset`` on, which is committed."""
        self._places[tp] = _Place(committed=offset, expected=offset)

    def forget(self, partitions: Iterable[TP]) -> None:
        """The partitions were taken away."""
        for tp in partitions:
            self._places.pop(tp, None)

    def take(self, tp: TP, offset: int) -> None:
        """A message is handed out. Of the gaps since the last look the widest is kept for ``gaps``."""
        place = self._places.setdefault(tp, _Place(offset, offset))
        if offset - place.expected > place.gap[1] - place.gap[0]:
            place.gap = (place.expected, offset)
        place.expected = place.handed_out = offset + 1

    def handle(self, tp: TP, offset: int) -> None:
        """The message and all before it are done."""
        if place := self._places.get(tp):
            place.handled = max(place.handled, offset + 1)

    def reach(self, positions: Mapping[TP, int]) -> None:
        """Everything before these positions was handed out, or is nothing that can be."""
        for tp, position in positions.items():
            if place := self._places.get(tp):
                place.reached = position

    def due(self) -> dict[TP, int]:
        """What can be committed and is not: behind the last message that is done, and behind markers after it."""
        found = {}
        for tp, place in self._places.items():
            is_all_done = place.handled == place.handed_out
            done = max(place.handled, place.reached) if is_all_done else place.handled
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
