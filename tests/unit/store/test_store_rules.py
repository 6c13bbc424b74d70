"""Small rules of the store without an engine: errors, time ranges of a rebuild, revisions of verdicts."""

from datetime import timedelta

import pytest
from clickhouse_connect.driver.exceptions import DatabaseError, DataError, OperationalError

from schemas.errors import ConfigError, RowRejected, StoreUnavailable
from streams.store import Store
from streams.store.faults import fitting, mapped
from streams.store.rebuild import spans
from streams.store.verdict_rows import VERDICTS, verdict_row
from tests.builders import NOW, verdict

HOUR = 3600
REV = [name for name, _ in VERDICTS.columns].index("rev")


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (DatabaseError("secret", name="VIOLATED_CONSTRAINT"), RowRejected),
        (DataError("secret"), RowRejected),
        (DatabaseError("secret", name="NOT_ENOUGH_SPACE"), StoreUnavailable),
        (DatabaseError("secret", name="TOO_MANY_PARTS"), StoreUnavailable),
        (DatabaseError("secret", name="SOMETHING_NEW"), StoreUnavailable),
        (DatabaseError("secret"), StoreUnavailable),
        (OperationalError("secret"), StoreUnavailable),
        (OSError(28, "No space left on device", "secret"), StoreUnavailable),
    ],
)
def test_only_what_the_content_causes_is_rejected(error: Exception, ours: type[Exception]) -> None:
    """Everything else is waited for; no engine text, which may quote a user, gets through."""
    with pytest.raises(ours) as caught, mapped("insert into traces"):
        raise error
    assert "secret" not in str(caught.value)
    assert "insert into traces" in str(caught.value)


def test_a_value_that_does_not_fit_is_rejected() -> None:
    """The client finds it before the engine does; the value is not repeated."""
    with pytest.raises(RowRejected, match="OverflowError") as caught, fitting("insert into traces"):
        raise OverflowError("secret")
    assert "secret" not in str(caught.value)


def test_spans_hold_at_most_the_wanted_rows() -> None:
    """Hours in order, none split, none left out; a large hour stands alone."""
    hours = [(0, 4), (2 * HOUR, 5), (3 * HOUR, 2), (5 * HOUR, 20), (6 * HOUR, 0)]
    expected = [(0, 3 * HOUR), (3 * HOUR, 4 * HOUR), (5 * HOUR, 6 * HOUR), (6 * HOUR, 7 * HOUR)]
    assert expected == spans(hours, 10)
    assert [] == spans([], 10)


def test_a_first_empty_hour_is_covered() -> None:
    """Notes without rows, as of a verdict whose trace has not come, are no error."""
    assert [(0, HOUR)] == spans([(0, 0)], 10)


def test_a_revision_outranks_any_time_of_verification() -> None:
    """The version of a verdict row grows with the revision first, then with the time."""
    late = verdict_row(verdict(verified_at=NOW + timedelta(days=36_500)))[REV]
    revised = verdict_row(verdict(revision=2))[REV]
    assert verdict_row(verdict())[REV] < late < revised


@pytest.mark.parametrize("dsn", ["", "postgres://x", "chdb://relative/path", "chdb:///", "chdb:"])
def test_a_wrong_address_names_what_to_write(dsn: str) -> None:
    """No engine is touched."""
    with pytest.raises(ConfigError, match="chdb:///"):
        Store.open(dsn)


@pytest.mark.parametrize("dsn", ["http://", "http://host:99999", "http://host:8123/some_database"])
def test_a_wrong_server_address_is_refused_before_connecting(dsn: str) -> None:
    """A database in the address would be ignored, so it is named."""
    with pytest.raises(ConfigError, match="store address"):
        Store.open(dsn)


@pytest.mark.parametrize("database", ["", "a-b", "a b", "x; DROP TABLE y", "é", "a" * 64])
def test_a_database_name_is_plain(database: str) -> None:
    """It is the one text that becomes part of a statement."""
    with pytest.raises(ConfigError, match="database"):
        Store.open("chdb:///nowhere", database=database)
