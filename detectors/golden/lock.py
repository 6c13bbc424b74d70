"""The lock of the hold-out: what was locked, so that a measured number is never one that somebody tuned on.

A lock lies beside its set (``golden.jsonl.lock``) and holds one hash a case. A changed, removed or added hold-out case
is refused until somebody unlocks with a reason; the reason stays in the lock for ever.
"""

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from pydantic import Field

from detectors.golden.sets import GoldenSet, canonical, content_hash
from schemas.base import Record, UtcDatetime
from schemas.golden import Split


class Unlocking(Record):
    """One change of a locked part: who did it, why, and which cases it touched."""

    at: UtcDatetime
    author: str = Field(min_length=1)
    reason: str = Field(min_length=1)
    cases: tuple[str, ...] = ()
    version_before: str = ""


class HoldoutLock(Record):
    """The content of a lock file; ``cases`` maps the id of every hold-out case to the hash of its content."""

    format_version: int = 1
    seed: str = ""
    locked_at: UtcDatetime
    author: str = ""
    version: str
    """Hash over the whole hold-out."""
    cases: dict[str, str]
    unlockings: tuple[Unlocking, ...] = ()


@dataclass(frozen=True, slots=True)
class LockBreach:
    """A hold-out case that is not as it was locked; ``kind`` is changed, removed or added."""

    case_id: str
    kind: str


def lock_path(path: Path) -> Path:
    """Where the lock of a set lies: beside it, ``.lock`` appended."""
    return path.with_name(path.name + ".lock")


def locked_part(golden: GoldenSet) -> dict[str, str]:
    """Hash by id of every hold-out case."""
    return {case.case_id: _hash(canonical(case)) for case in golden.part(Split.HOLDOUT).cases}


def holdout_version(golden: GoldenSet) -> str:
    """``h`` and 12 hex digits over the content of the hold-out."""
    return "h" + content_hash(golden.part(Split.HOLDOUT).cases)


def breaches(golden: GoldenSet, lock: HoldoutLock | None) -> list[LockBreach]:
    """How the hold-out differs from what was locked, by id; nothing without a lock."""
    if lock is None:
        return []
    present = locked_part(golden)
    kinds = [
        *((case_id, "removed") for case_id in lock.cases.keys() - present.keys()),
        *((case_id, "added") for case_id in present.keys() - lock.cases.keys()),
        *(
            (case_id, "changed")
            for case_id in present.keys() & lock.cases.keys()
            if present[case_id] != lock.cases[case_id]
        ),
    ]
    return [LockBreach(case_id, kind) for case_id, kind in sorted(kinds)]


def locked(golden: GoldenSet, *, seed: str, author: str, now: UtcDatetime) -> HoldoutLock:
    """A first lock of the hold-out as it is."""
    return HoldoutLock(
        seed=seed, locked_at=now, author=author, version=holdout_version(golden), cases=locked_part(golden)
    )


def relocked(golden: GoldenSet, lock: HoldoutLock, change: Unlocking) -> HoldoutLock:
    """The lock on a changed hold-out, with the reason of the change added to what it remembers."""
    return lock.model_copy(
        update={
            "version": holdout_version(golden),
            "cases": locked_part(golden),
            "unlockings": (*lock.unlockings, change.model_copy(update={"version_before": lock.version})),
        }
    )


def _hash(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()
