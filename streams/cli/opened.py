"""The store for a command: opened for the length of a block when no running process owns it."""

from collections.abc import Iterator
from contextlib import contextmanager

from streams.cli.reach import RunningProcess
from streams.run_file import find_running
from streams.settings import Settings
from streams.store import Store


@contextmanager
def opened_store(settings: Settings, *, read_only: bool) -> Iterator[Store]:
    """The configured store. Raises StoreUnavailable, ConfigError."""
    store = Store.open(settings.store_dsn, database=settings.store.database, read_only=read_only)
    try:
        yield store
    finally:
        store.close()


def running_process(settings: Settings) -> RunningProcess | None:
    """The process that owns the data folder, None when there is none."""
    found = find_running(settings.data_dir)
    return RunningProcess(found) if found else None
