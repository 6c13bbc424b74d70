"""Golden sets on disk for commands: written in one step, and never over a locked hold-out without a reason."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import NamedTemporaryFile

from detectors.golden import (
    GoldenSet,
    LockBreach,
    Unlocking,
    breaches,
    golden_text,
    lock_path,
    locked,
    read_golden,
    read_lock,
    relocked,
)
from schemas.errors import ConfigError
from schemas.golden import Split

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Change:
    """Who changes a set, when, and why a locked hold-out may change with it; an empty reason leaves it locked."""

    author: str
    now: datetime
    reason: str = ""


def read_or_empty(path: Path) -> GoldenSet:
    """The set in a file, an empty one where there is no file yet. Raises ConfigError."""
    return read_golden(path) if path.exists() else GoldenSet()


def save(path: Path, golden: GoldenSet, change: Change) -> list[LockBreach]:
    """Write a changed set, and its lock when a reason allows a change of the hold-out; what of it changed.

    Raises ConfigError, and writes nothing, when a locked case would change without a reason.
    """
    lock = read_lock(path)
    broken = breaches(golden, lock)
    if broken and not change.reason.strip():
        raise ConfigError(f"the hold-out of {path} is locked, and this would change {named(broken)}; {HOW_TO_UNLOCK}")
    write(path, golden_text(golden.cases))
    if lock is not None and broken:
        unlocking = Unlocking(
            at=change.now, author=change.author, reason=change.reason, cases=tuple(one.case_id for one in broken)
        )
        _write_lock(path, relocked(golden, lock, unlocking).model_dump_json(indent=2))
    return broken


def lock_holdout(path: Path, golden: GoldenSet, seed: str, change: Change) -> None:
    """Lock the hold-out as it is, unless it is empty; one that is locked already stays. Raises ConfigError."""
    if read_lock(path) is None and golden.part(Split.HOLDOUT).cases:
        first = locked(golden, seed=seed, author=change.author, now=change.now)
        _write_lock(path, first.model_dump_json(indent=2))


HOW_TO_UNLOCK = "give --unlock REASON if that is meant: who, when and why are kept in the lock"


def named(broken: list[LockBreach]) -> str:
    """Ids of changed hold-out cases with the kind of change, the first ten."""
    shown = ", ".join(f"{one.case_id} ({one.kind})" for one in broken[:_SHOWN])
    return f"{shown} and {len(broken) - _SHOWN} more" if len(broken) > _SHOWN else shown


def write(path: Path, text: str, newline: str | None = None) -> None:
    """Write a file in one step, with the rights that it had. Raises ConfigError when that cannot be done.

    ``newline`` is that of ``open``: empty for text whose line ends are what they should be.
    """
    try:
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
        with NamedTemporaryFile(
            "w", encoding="utf-8", newline=newline, dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            file.write(text)
        draft = Path(file.name)
        draft.chmod(mode)
        draft.replace(path)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}; make its folder, or give another path") from error


def _write_lock(path: Path, text: str) -> None:
    write(lock_path(path), text + "\n")
