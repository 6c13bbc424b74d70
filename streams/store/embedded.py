"""The embedded engine's directory: one process owns it, and its temporary files live in a folder of their own.

The engine itself answers a second owner with a riddle, so ownership is tested here first and named.
"""

import fcntl
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from schemas.errors import ConfigError, StoreUnavailable

_lock = threading.Lock()
_users: dict[str, int] = {}
_inserting: list[str | None] = []


def acquire(path: str) -> str:
    """Claim ``path`` for this process and return it resolved; every call needs one ``release``.

    The first claim creates the directory and empties the folder ``<path>.tmp``, where a killed process leaves half-read
    batches. Raises StoreUnavailable when another process owns the path, ConfigError when this process uses another one.
    """
    resolved = str(Path(path).resolve())
    with _lock:
        if resolved not in _users:
            _claim(resolved)
        _users[resolved] = _users.get(resolved, 0) + 1
    return resolved


def release(path: str) -> None:
    """Undo one ``acquire``."""
    with _lock:
        _users[path] -= 1
        if not _users[path]:
            del _users[path]


@contextmanager
def scratch(path: str) -> Iterator[None]:
    """Puts the batch files of inserts into ``<path>.tmp`` while the block runs; blocks may overlap in threads.

    The client asks ``tempfile`` for them, whose folder is one for the whole process: hence only during inserts.
    """
    with _lock:
        _inserting.append(tempfile.tempdir)
        tempfile.tempdir = f"{path}.tmp"
    try:
        yield
    finally:
        with _lock:
            last = _inserting.pop()
            if not _inserting:
                tempfile.tempdir = last


def _claim(path: str) -> None:
    if _users:
        raise ConfigError(f"store path {path}: this process already uses {next(iter(_users))}, and can open only one")
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
        owner = _owner(Path(path) / "status")
        if owner is not None:
            raise StoreUnavailable(f"store path {path} is in use by another process ({owner}); stop it or talk to it")
        folder = Path(f"{path}.tmp")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    except OSError as error:
        raise ConfigError(f"store path {path}: {error.strerror}; give a data_dir where this user may write") from error


def _owner(status: Path) -> str | None:
    """Who holds the engine's lock file, None when nobody does."""
    if not status.exists():
        return None
    with status.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            first = file.read(64).decode("ascii", "replace").splitlines()
            return first[0] if first else "unknown"
        except OSError:
            # A file system without locks: the engine itself will have to tell.
            return None
    return None
