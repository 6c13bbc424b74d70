"""The tally job looks again at what was noted lately, and counts again only what has changed."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from schemas.labels import Outcome
from streams.store import Store
from streams.store.rebuild import noted_since
from tests.builders import NOW, drawn_trace, verdict
from tests.chdb_path import open_empty_store

pytestmark = pytest.mark.integration
MINUTE_MS = 60_000
DAY_MS = 86_400_000


@pytest.fixture
def store() -> Iterator[Store]:
    """An empty store on the embedded engine."""
    opened = open_empty_store()
    yield opened
    opened.close()


def rebuilt(store: Store) -> int:
    """Buckets that a run counted again."""
    return store.rebuild_tallies(NOW).buckets


def judged(store: Store) -> int:
    """Verdicts in the tallies."""
    return sum(row.judged for row in store.tallies(NOW - timedelta(hours=1), NOW + timedelta(hours=1)))


def test_what_has_not_changed_is_not_counted_again(store: Store) -> None:
    """Neither without traffic nor when the same rows come again; a new row counts at once."""
    store.insert_traces([drawn_trace("t-1")])
    assert [1, 0, 0] == [rebuilt(store) for _ in range(3)]
    store.insert_verdicts([verdict("t-1")])
    assert [1, 0] == [rebuilt(store) for _ in range(2)]
    assert 1 == judged(store)
    store.insert_traces([drawn_trace("t-2"), drawn_trace("t-3", ts=NOW + timedelta(minutes=30))])
    assert [2, 0] == [rebuilt(store) for _ in range(2)]


def test_verdict_that_is_redone_is_counted_again(store: Store) -> None:
    """The number of rows stays the same."""
    store.insert_traces([drawn_trace("t-1")])
    store.insert_verdicts([verdict("t-1", outcome=Outcome.HALLUCINATED)])
    rebuilt(store)
    redone = verdict("t-1", outcome=Outcome.GROUNDED, verified_at=NOW + timedelta(minutes=9))
    store.insert_verdicts([redone])
    assert 1 == rebuilt(store)
    assert 0 == sum(row.hallucinated for row in store.tallies(NOW - timedelta(hours=1), NOW + timedelta(hours=1)))


def test_hours_that_a_person_marks_are_counted_again(store: Store) -> None:
    """`store rebuild` is for what is wrong in the tallies, so the rows need not have changed."""
    store.insert_traces([drawn_trace("t-1")])
    rebuilt(store)
    store.mark_for_rebuild(NOW - timedelta(hours=1), NOW + timedelta(hours=1))
    assert [1, 0] == [rebuilt(store) for _ in range(2)]


def test_clock_that_is_set_back_hides_nothing() -> None:
    """Notes made since then have earlier times than the last run."""
    now = 1_000 * DAY_MS
    assert now - 3 * MINUTE_MS == noted_since(now, now - MINUTE_MS, now - MINUTE_MS)
    hours_back = now - 300 * MINUTE_MS
    assert hours_back - 2 * MINUTE_MS == noted_since(hours_back, now, now)
    later = hours_back + 30 * MINUTE_MS
    assert later - MINUTE_MS - 2 * MINUTE_MS == noted_since(later, now + 1, later - MINUTE_MS)
    assert hours_back - DAY_MS - 2 * MINUTE_MS == noted_since(hours_back, now, None)
