"""The embedded engine's directory: one process owns it, and its temporary files live in a folder of their own.

The engine itself answers a second owner with a riddle, so ownership is tested here first and named.
"""

import fcntl
import shutil
import tempfile
import threading
from pathlib import Path

from schemas.errors import ConfigError, StoreUnavailable

_lock = threading.Lock()
_users: dict[str, int] = {}
_saved: list[str | None] = []


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
            tempfile.tempdir = _saved.pop()


def _claim(path: str) -> None:
    if _users:
        raise ConfigError(f"store path {path}: this process already uses {next(iter(_users))}, and can open only one")
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
        owner = _owner(Path(path) / "status")
        if owner is not None:
            raise StoreUnavailable(f"store path {path} is in use by another process ({owner}); stop it or talk to it")
        scratch = Path(f"{path}.tmp")
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
    except OSError as error:
        raise ConfigError(f"store path {path}: {error.strerror}") from error
    _saved.append(tempfile.tempdir)
    tempfile.tempdir = str(scratch)


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
    return None
