"""Reviewed answers outlive retention: what the tables lose, the copies still have."""

from collections.abc import Iterator

import pytest

from schemas.labels import Outcome
from streams.store import ALL_TENANTS, Store
from tests.builders import NOW, drawn_trace, verdict
from tests.builders_golden import review_label
from tests.chdb_path import open_empty_store

pytestmark = pytest.mark.integration
KEY = (NOW, "t-1")


@pytest.fixture
def store() -> Iterator[Store]:
    """An empty embedded store."""
    opened = open_empty_store()
    yield opened
    opened.close()


def forget(store: Store) -> None:
    """What retention does in the end."""
    for table in ("traces", "verdicts", "passages", "trace_heads"):
        store._connection.command(f"TRUNCATE TABLE {table}")


def test_a_reviewed_answer_is_read_whole_when_retention_has_taken_it(store: Store) -> None:
    """Passages, draw and verdicts included, by its id and by its key; one that nobody reviewed is gone."""
    store.insert_traces([drawn_trace("t-1"), drawn_trace("t-2")])
    store.insert_verdicts([verdict("t-1", Outcome.HALLUCINATED), verdict("t-2")])
    store.reviews.insert_labels([review_label()], tenants=ALL_TENANTS)
    before = store.trace("t-1", tenants=ALL_TENANTS)
    forget(store)
    assert before is not None
    assert before == store.trace("t-1", tenants=ALL_TENANTS)
    assert {KEY: before} == store.reviews.answers([KEY, (NOW, "t-2")], tenants=ALL_TENANTS)
    assert store.trace("t-1", tenants=frozenset({"other"})) is None
    assert store.trace("t-2", tenants=ALL_TENANTS) is None


def test_a_later_label_brings_the_copy_up_to_date_and_never_back(store: Store) -> None:
    """A verdict of a newer revision replaces an older one in the copy."""
    store.insert_traces([drawn_trace()])
    store.insert_verdicts([verdict()])
    store.reviews.insert_labels([review_label()], tenants=ALL_TENANTS)
    old = store.reviews.answers([KEY], tenants=ALL_TENANTS)
    newer = verdict(outcome=Outcome.HALLUCINATED, revision=2)
    store.insert_verdicts([newer])
    store.reviews.keep([KEY], "reviewed", tenants=ALL_TENANTS)
    forget(store)
    store.insert_traces([row.drawn for row in old.values()])
    store.reviews.keep([KEY], "reviewed", tenants=ALL_TENANTS)
    forget(store)
    assert [newer] == store.reviews.answers([KEY], tenants=ALL_TENANTS)[KEY].verdicts
