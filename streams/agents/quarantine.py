"""Writing a batch of which a few rows may be refused for ever: bisect, and only the offenders are set aside."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from schemas.errors import RowRejected

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
