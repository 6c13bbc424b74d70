"""Whether store and process are of one version: rolling upgrades mix them, and both go on as far as they can."""

from dataclasses import dataclass

from streams.store.connection import connect
from streams.store.migrations import REPEATABLE, applied, shipped

_HAS_BOOKS = "SELECT name FROM system.tables WHERE database = currentDatabase() AND name = 'migrations'"


@dataclass(frozen=True, slots=True)
class Standing:
    """``newer`` are migrations that the store has and this version does not know, ``missing`` those that it lacks."""

    newer: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def standing(dsn: str, *, database: str) -> Standing:
    """Compare the store with the files of this version; changes nothing. Raises StoreUnavailable, ConfigError."""
    connection = connect(dsn, database=database, read_only=True)
    try:
        done = applied(connection) if connection.query(_HAS_BOOKS) else {}
    finally:
        connection.close()
    files = {file.name: len(file.statements) for file in shipped() if file.name != REPEATABLE}
    newer = sorted(done.keys() - files.keys() - {REPEATABLE})
    missing = [name for name, statements in files.items() if len(done.get(name, {})) < statements]
    return Standing(tuple(newer), tuple(missing))
