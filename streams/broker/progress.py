"""How far a group member has read each of its partitions since it was given them; no I/O."""

from collections.abc import Iterable, Mapping

from faust.types import TP


class Progress:
    """Per partition the next offset to come, what was handed out, and the place that the fetcher has reached.

    The place of the fetcher is behind markers of transactions and behind what compaction removed, which no message
    tells; it is noted when everything that was fetched before has been handed out.
    """

    def __init__(self) -> None:
        self._expected: dict[TP, int] = {}
        self._handed_out: dict[TP, int] = {}
        self._reached: dict[TP, int] = {}
        self._gaps: dict[TP, tuple[int, int]] = {}

    def begin(self, tp: TP, offset: int) -> None:
        """The partition is read from ``offset`` on."""
        self.forget([tp])
        self._expected[tp] = offset

    def take(self, tp: TP, offset: int) -> None:
        """A message is handed out. Of the gaps since the last look the widest is kept for ``gaps``."""
        expected = self._expected.get(tp, offset)
        if offset > expected:
            widest = self._gaps.get(tp, (0, 0))
            if offset - expected > widest[1] - widest[0]:
                self._gaps[tp] = (expected, offset)
        self._expected[tp] = self._handed_out[tp] = offset + 1

    def reach(self, positions: Mapping[TP, int]) -> None:
        """Everything before these positions was handed out, or is nothing that can be."""
        for tp, position in positions.items():
            if tp in self._expected:
                self._reached[tp] = position

    def forget(self, partitions: Iterable[TP]) -> None:
        """The partitions were taken away."""
        for tp in partitions:
            for known in (self._expected, self._handed_out, self._reached, self._gaps):
                known.pop(tp, None)

    def expected(self) -> dict[TP, int]:
        """By partition the next offset to come."""
        return dict(self._expected)

    def gaps(self) -> dict[TP, tuple[int, int]]:
        """By partition the widest gap since the last call: the offset that was expected, and the one that came."""
        found, self._gaps = self._gaps, {}
        return found

    def skip_to(self, tp: TP, offset: int) -> None:
        """What was expected before ``offset`` will never come."""
        self._expected[tp] = max(offset, self._expected.get(tp, offset))

    def readable_end(self, tp: TP, high: int | None) -> int | None:
        """The offset behind the last message of the partition, None while more is to be read than was handed out.

        0 when nothing was handed out since the partition came, and nothing is left to be: all before was handled by
        those who committed it.
        """
        reached = self._reached.get(tp)
        if reached is None or high is None or high > max(reached, self._expected.get(tp, 0)):
            return None
        return self._handed_out.get(tp, 0)
