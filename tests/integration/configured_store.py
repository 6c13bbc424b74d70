"""A store that the configuration names and nobody serves, for commands that run without a process."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from streams.store import Store
from tests.chdb_path import fresh_database, open_store, shared_path
from tests.clickhouse_double import ClickHouseDouble

KINDS = ("chdb", "http")
"""Embedded, or a server behind HTTP."""


@contextmanager
def configured(
    kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch, fill: Callable[[Store], None]
) -> Iterator[None]:
    """Filled and closed, then named by the environment, for the length of a block."""
    database = fresh_database()
    with nullcontext() if kind == "chdb" else ClickHouseDouble(shared_path()) as double:
        dsn = double.dsn if double else f"chdb://{shared_path()}"
        store = open_store(dsn, database)
        fill(store)
        store.close()
        monkeypatch.setenv("GROUNDWATCH_EMBEDDED", "true" if kind == "chdb" else "false")
        monkeypatch.setenv("GROUNDWATCH_STORE__DSN", dsn)
        monkeypatch.setenv("GROUNDWATCH_STORE__DATABASE", database)
        monkeypatch.setenv("GROUNDWATCH_DATA_DIR", str(folder))
        yield
