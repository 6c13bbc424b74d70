"""The one embedded-engine path of this test process: the engine opens one path a process, so tests share it.

Each test takes an emptied database or one of its own on it.
"""

import atexit
import itertools
import shutil
import tempfile
from pathlib import Path

from streams.store import Store

_numbers = itertools.count()
_folders: list[Path] = []

_SHARED = "test_shared"
_FILLED = """
SELECT name FROM system.tables
WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'migrations' AND total_rows > 0
"""
RETENTION_DAYS = 3650
"""The tests' fixed time lies behind the wall clock that drops old rows."""


def shared_path() -> str:
    """The path, made at the first call and removed when the process ends."""
    if not _folders:
        folder = Path(tempfile.mkdtemp(prefix="groundwatch-test-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _folders.append(folder)
    return str(_folders[0] / "store")


def fresh_database() -> str:
    """A database name that no other test of this process has."""
    return f"test_{next(_numbers)}"


def open_store(dsn: str = "", database: str = "") -> Store:
    """A migrated store, by default on the shared path in a database of its own."""
    store = Store.open(dsn or f"chdb://{shared_path()}", database=database or fresh_database())
    store.migrate(retention_days=RETENTION_DAYS, hourly_days=RETENTION_DAYS)
    return store


def open_empty_store(dsn: str = "") -> Store:
    """A migrated store in one database that tests share one after the other: emptying is faster than migrating."""
    store = open_store(dsn, _SHARED)
    for row in store._connection.query(_FILLED):
        store._connection.command("TRUNCATE TABLE {table:Identifier}", {"table": row["name"]})
    return store
