"""Bisecting a batch that the store refuses."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import RowRejected
from streams.agents.quarantine import insert_or_quarantine


@given(st.lists(st.booleans(), max_size=40))
def test_exactly_the_offenders_are_set_aside(are_bad: list[bool]) -> None:
    """Every good row is inserted, every bad one returned, whatever their places."""
    inserted: list[int] = []

    def insert(rows: Sequence[int]) -> None:
        if any(are_bad[row] for row in rows):
            raise RowRejected("no")
        inserted.extend(rows)

    refused = insert_or_quarantine(insert, range(len(are_bad)))
    assert [n for n, is_bad in enumerate(are_bad) if is_bad] == [row for row, _ in refused]
    assert [n for n, is_bad in enumerate(are_bad) if not is_bad] == sorted(inserted)
