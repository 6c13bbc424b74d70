"""Migrations on the engine: resumed where they broke, refused when files and store disagree."""

from collections.abc import Iterator

import pytest

from schemas.errors import ConfigError, StoreUnavailable
from streams.store import Store, migrations
from streams.store.migrations import MigrationFile
from streams.store.trace_columns import TRACES
from streams.store.verdict_rows import VERDICTS
from tests.chdb_path import fresh_database, open_store, shared_path

pytestmark = pytest.mark.integration
GOOD = "CREATE TABLE IF NOT EXISTS extra (a String) ENGINE = ReplacingMergeTree ORDER BY a SETTINGS $SAFE"
BROKEN = "CREATE TABLE IF NOT EXISTS more (a Strin) ENGINE = ReplacingMergeTree ORDER BY a"


@pytest.fixture
def store() -> Iterator[Store]:
    """A migrated store in a database of its own."""
    opened = open_store()
    yield opened
    opened.close()


def ship(monkeypatch: pytest.MonkeyPatch, *extra: MigrationFile) -> None:
    """Pretend that ``extra`` is shipped too."""
    files = [*migrations.shipped(), *extra]
    monkeypatch.setattr(migrations, "shipped", lambda: files)


def migrate(store: Store) -> dict[str, int]:
    """What one run applies, at the retention of the fixture."""
    return store.migrate(retention_days=3650, hourly_days=3650).applied


def test_a_file_that_broke_half_way_goes_on_after_its_repair(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The finished statement is not run again, the repaired one is."""
    ship(monkeypatch, MigrationFile("9001_extra.sql", (GOOD, BROKEN)))
    with pytest.raises(StoreUnavailable):
        migrate(store)
    monkeypatch.undo()
    ship(monkeypatch, MigrationFile("9001_extra.sql", (GOOD, BROKEN.replace("Strin)", "String)"))))
    assert {"9001_extra.sql": 1} == migrate(store)
    assert {} == migrate(store)


def test_a_store_ahead_of_the_files_is_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """An older version must not write into tables it does not know."""
    ship(monkeypatch, MigrationFile("9001_extra.sql", (GOOD,)))
    migrate(store)
    monkeypatch.undo()
    with pytest.raises(ConfigError, match=r"9001_extra\.sql"):
        migrate(store)


def test_every_table_survives_a_power_cut_by_its_settings(store: Store) -> None:
    """One table without them is enough to keep the whole directory from opening."""
    rows = store._connection.query(
        "SELECT name, create_table_query AS ddl FROM system.tables "
        "WHERE database = currentDatabase() AND engine LIKE '%MergeTree'"
    )
    wanted = ("fsync_after_insert = 1", "fsync_part_directory = 1", "max_suspicious_broken_parts = 100000")
    assert [] == [row["name"] for row in rows if not all(setting in row["ddl"] for setting in wanted)]
    assert len(rows) > 10


def test_every_column_that_is_written_is_in_its_table(store: Store) -> None:
    """The writers' column lists and types are those of the tables."""
    for table in (TRACES, VERDICTS):
        rows = store._connection.query(
            "SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = {table:String}",
            {"table": table.name},
        )
        assert {row["name"]: row["type"] for row in rows} == dict(table.columns)


def test_migrating_twice_at_once_is_harmless(store: Store) -> None:
    """Two workers that start together both end with the same tables."""
    other = Store.open(f"chdb://{shared_path()}", database=fresh_database())
    again = Store.open(f"chdb://{shared_path()}", database=other._connection._client.database)
    assert migrate(other)
    assert {} == migrate(again)
    other.close()
    again.close()
