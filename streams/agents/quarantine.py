"""Writing a batch of which a few rows may be refused for ever: bisect, and only the offenders are set aside."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import structlog

from schemas.errors import RowRejected

log = structlog.get_logger(__name__)
T = TypeVar("T")


def insert_or_quarantine(insert: Callable[[Sequence[T]], None], rows: Sequence[T]) -> list[tuple[T, RowRejected]]:
    """Insert every row that the store accepts and return the others with the reason.

    O(log n) extra inserts for each refused row. Retryable passes through: call again with all rows, since inserts are
    idempotent by id.
    """
    if not rows:
        return []
    try:
        insert(rows)
    except RowRejected as error:
        if len(rows) == 1:
            return [(rows[0], error)]
        middle = len(rows) // 2
        return insert_or_quarantine(insert, rows[:middle]) + insert_or_quarantine(insert, rows[middle:])
    return []


@dataclass(slots=True)
class LeftOut(Generic[T]):
    """Writes rows that are no messages, so that no dead letter can hold them: refused ones are named and counted.

    ``place_of`` names a row without quoting a user's text. A place that is refused again and again is named once.
    """

    table: str
    place_of: Callable[[T], str]
    consequence: str
    counts: Counter[str] = field(default_factory=Counter)
    """Refused rows by table, for metrics."""
    _last: frozenset[str] = frozenset()

    def write(self, insert: Callable[[Sequence[T]], None], rows: Sequence[T]) -> None:
        """Insert every row that the store accepts. Raises Retryable."""
        refused = {self.place_of(row): str(error) for row, error in insert_or_quarantine(insert, rows)}
        self.counts[self.table] += len(refused)
        for place, error in refused.items():
            if place not in self._last:
                log.error("row_left_out", table=self.table, place=place, reason=error, consequence=self.consequence)
        self._last = frozenset(refused)
