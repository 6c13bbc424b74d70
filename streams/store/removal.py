"""Taking our tables out of the store again; what else is in the database stays."""

import re

from streams.store.connection import LONGEST_SECONDS, Connection, connect
from streams.store.migrations import shipped

_MADE = re.compile(r"CREATE (?:TABLE|(MATERIALIZED VIEW)) IF NOT EXISTS (\w+)")
_BOOKS = "migrations"
_PRESENT = "SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name"


def own_tables(dsn: str, *, database: str) -> list[str]:
    """Tables and views of ours that are there. Raises StoreUnavailable, ConfigError."""
    connection = connect(dsn, database=database, read_only=True)
    try:
        return _present(connection)
    finally:
        connection.close()


def drop_tables(dsn: str, *, database: str) -> None:
    """Drop all of them; a second run finds nothing. Raises StoreUnavailable, ConfigError."""
    connection = connect(dsn, database=database, read_only=False)
    try:
        for name in _present(connection):
            drop = "DROP TABLE IF EXISTS {name:Identifier} SYNC"
            connection.command(drop, {"name": name}, max_seconds=LONGEST_SECONDS)
    finally:
        connection.close()


def _present(connection: Connection) -> list[str]:
    """In the order in which they can be dropped: views first."""
    present = {row["name"] for row in connection.query(_PRESENT)}
    made = [found for file in shipped() for statement in file.statements if (found := _MADE.match(statement))]
    views = [found[2] for found in made if found[1]]
    tables = [found[2] for found in made if not found[1]]
    return [name for name in (*views, *tables, _BOOKS) if name in present]
