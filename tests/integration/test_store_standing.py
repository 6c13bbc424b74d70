"""What a process says of a store of another version."""

from pathlib import Path

import pytest

from schemas.errors import ConfigError
from streams.store import Store
from streams.store.connection import connect
from streams.store.migrations import REPEATABLE, shipped
from streams.store.removal import drop_tables, own_tables
from streams.store.standing import Standing, standing
from tests.builders import policy_record

NAMES = tuple(file.name for file in shipped() if file.name != REPEATABLE)


@pytest.mark.integration
def test_a_store_that_is_older_or_newer_says_so_and_goes_on(tmp_path: Path) -> None:
    """Nothing is missing after a migration; a newer store refuses to be migrated back, and is written to as ever."""
    dsn = f"chdb://{tmp_path / 'store'}"
    store = Store.open(dsn)
    try:
        assert Standing(missing=NAMES) == standing(dsn, database="groundwatch")
        store.migrate()
        assert Standing() == standing(dsn, database="groundwatch")
        connection = connect(dsn, database="groundwatch", read_only=False)
        connection.command("INSERT INTO migrations VALUES ('9999_later.sql', 0, 'x')")
        connection.command("ALTER TABLE suspects ADD COLUMN added_later String DEFAULT 'later'")
        connection.close()
        assert Standing(newer=("9999_later.sql",)) == standing(dsn, database="groundwatch")
        with pytest.raises(ConfigError, match=r"9999_later\.sql, which this version does not know"):
            store.migrate()
        assert [] == store.suspects()
    finally:
        store.close()


@pytest.mark.integration
def test_only_our_tables_are_dropped(tmp_path: Path) -> None:
    """The database may be shared."""
    dsn = f"chdb://{tmp_path / 'store'}"
    store = Store.open(dsn)
    store.migrate()
    store.close()
    connection = connect(dsn, database="groundwatch", read_only=False)
    connection.command("CREATE TABLE theirs (a Int8) ENGINE = MergeTree ORDER BY a")
    assert "dirty_by_traces" == own_tables(dsn, database="groundwatch")[0]
    drop_tables(dsn, database="groundwatch")
    assert [] == own_tables(dsn, database="groundwatch")
    assert [{"name": "theirs"}] == connection.query("SELECT name FROM system.tables WHERE database = 'groundwatch'")
    connection.close()


@pytest.mark.integration
def test_a_policy_that_only_a_newer_version_reads_stops_no_start(tmp_path: Path) -> None:
    """The process finds it on the topic as well, and waits there; what it can read it has."""
    store = Store.open(f"chdb://{tmp_path / 'store'}")
    try:
        store.migrate()
        store.insert_policy([policy_record("p1")])
        newer = 'INSERT INTO policy VALUES (\'p2\', 0, now(), \'{"policy_id": "p2", "published_at": "soon"}\')'
        store._connection.command(newer)
        assert ["p1"] == [record.policy_id for record in store.policy_records()]
    finally:
        store.close()
