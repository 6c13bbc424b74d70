"""The store for a command: opened for the length of a block when no running process owns it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from schemas.errors import NotReached
from streams.cli.reach import TIMEOUT_SECONDS, RunningProcess
from streams.run_file import DEMO_FOLDER, find_running
from streams.settings import Settings
from streams.store import Store


@contextmanager
def opened_store(settings: Settings, *, read_only: bool, is_made_here: bool = False) -> Iterator[Store]:
    """The configured store; ``is_made_here`` makes an embedded one.

    Raises StoreUnavailable, ConfigError, and NotReached for an embedded one that was never made.
    """
    if not is_made_here:
        require_made(settings)
    store = Store.open(settings.store_dsn, database=settings.store.database, read_only=read_only)
    try:
        yield store
    finally:
        store.close()


def running_process(settings: Settings, timeout_seconds: float = TIMEOUT_SECONDS) -> RunningProcess | None:
    """The process that owns the data folder, None when there is none."""
    found = find_running(settings.data_dir)
    return RunningProcess(found, timeout_seconds=timeout_seconds) if found else None


def require_made(settings: Settings) -> None:
    """Raise NotReached where the store would be an embedded one that nobody made yet."""
    parts = urlsplit(settings.store_dsn)
    if parts.scheme != "chdb" or Path(unquote(parts.path)).exists():
        return
    demo = settings.data_dir / DEMO_FOLDER
    hint = f"; for the demo's, set GROUNDWATCH_DATA_DIR={demo}" if demo.is_dir() else ""
    raise NotReached(
        f"nothing runs on {settings.data_dir}, and no store was made there yet: start `groundwatch run`, or name the "
        f"data folder (data_dir, GROUNDWATCH_DATA_DIR){hint}"
    )
