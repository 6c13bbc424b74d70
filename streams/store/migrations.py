"""Applies the numbered files of ``schemas/tables`` in order, each statement once.

DDL is not transactional, so what is remembered is every finished statement: a file that broke half-way goes on where it
stopped, also after its unfinished part was repaired. ``repeatable.sql`` runs again whenever its finished text changes.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from importlib import resources
from string import Template

from schemas.claim import ClaimSource
from schemas.errors import ConfigError
from schemas.labels import AlertState, ClaimLabel, Containment, FailureLabel, Layer, Outcome, RiskTier, Severity
from schemas.layers import LayerReason
from streams.store.connection import LONGEST_SECONDS, Connection, Table
from streams.store.records import MigrationReport

REPEATABLE = "repeatable.sql"
_FILE = re.compile(r"\d{4}_[a-z0-9_]+\.sql")
_MOST_DAYS = 3650
# A passage is sent again on the first day of use, so its life must exceed a trace's by more than a day.
_PASSAGE_EXTRA_DAYS = 10
_SAFE = (
    "fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, "
    "min_compressed_bytes_to_fsync_after_merge = 1, max_suspicious_broken_parts = 100000, "
    "max_suspicious_broken_parts_bytes = 1000000000000, min_free_disk_bytes_to_perform_insert = 1000000000"
)
_CREATE = Template(
    "CREATE TABLE IF NOT EXISTS migrations (file String, position UInt32, checksum String) "
    "ENGINE = ReplacingMergeTree ORDER BY (file, position) SETTINGS $SAFE"
).substitute(SAFE=_SAFE)
_MIGRATIONS = Table("migrations", (("file", "String"), ("position", "UInt32"), ("checksum", "String")))


@dataclass(frozen=True, slots=True)
class MigrationFile:
    """A file's name and its statements, placeholders not yet filled."""

    name: str
    statements: tuple[str, ...]


def migrate(connection: Connection, *, retention_days: int, hourly_days: int) -> MigrationReport:
    """Bring the store to the shipped tables; repeatable.

    ``retention_days`` of traces, verdicts and 5-minute tallies, ``hourly_days`` of hourly ones, both 1 to 3650. Raises
    ConfigError when a file already applied was changed, a number comes late, or the store is newer than these files.
    """
    values = placeholders(retention_days=retention_days, hourly_days=hourly_days)
    connection.command(_CREATE, max_seconds=LONGEST_SECONDS)
    done = applied(connection)
    files = shipped()
    plan = pending([file for file in files if file.name != REPEATABLE], done)
    repeatable = next(file for file in files if file.name == REPEATABLE)
    texts = [Template(statement).substitute(values) for statement in repeatable.statements]
    counts: dict[str, int] = {}
    for file in plan:
        _run(connection, file.name, file.first, file.statements, values)
        counts[file.name] = len(file.statements)
    if done.get(REPEATABLE) != {0: checksum("\n".join(texts))}:
        for text in texts:
            connection.command(text, max_seconds=LONGEST_SECONDS)
        connection.insert(_MIGRATIONS, [(REPEATABLE, 0, checksum("\n".join(texts)))])
        counts[REPEATABLE] = len(texts)
    return MigrationReport(applied=counts)


@dataclass(frozen=True, slots=True)
class Step:
    """The statements of one file that are still to run; ``first`` is the position of the first of them."""

    name: str
    first: int
    statements: tuple[str, ...]


def pending(files: Sequence[MigrationFile], done: Mapping[str, Mapping[int, str]]) -> list[Step]:
    """What is left to do; raises ConfigError when files and store disagree about the past."""
    newer = done.keys() - {file.name for file in files} - {REPEATABLE}
    if newer:
        raise ConfigError(f"the store has {max(newer)}, which this version does not know; use a newer groundwatch")
    newest = max(done.keys() - {REPEATABLE}, default="")
    return [step for file in files for step in _step(file, done.get(file.name, {}), newest)]


def _step(file: MigrationFile, done: Mapping[int, str], newest: str) -> Iterable[Step]:
    if not done and file.name < newest:
        raise ConfigError(f"{file.name} comes late: the store already has {newest}; give it a later number")
    for position, known in done.items():
        is_same = position < len(file.statements) and checksum(file.statements[position]) == known
        if not is_same:
            raise ConfigError(
                f"{file.name}: statement {position + 1} was changed after it was applied; undo the change"
            )
    if len(done) < len(file.statements):
        yield Step(file.name, len(done), file.statements[len(done) :])


def _run(
    connection: Connection, name: str, first: int, statements: Sequence[str], values: Mapping[str, str | int]
) -> None:
    for position, statement in enumerate(statements, start=first):
        connection.command(Template(statement).substitute(values), max_seconds=LONGEST_SECONDS)
        connection.insert(_MIGRATIONS, [(name, position, checksum(statement))])


def applied(connection: Connection) -> dict[str, dict[int, str]]:
    """Checksums of the statements that were applied, by file and position."""
    done: dict[str, dict[int, str]] = {}
    for row in connection.query("SELECT file, position, checksum FROM migrations FINAL ORDER BY file, position"):
        done.setdefault(row["file"], {})[row["position"]] = row["checksum"]
    return done


def shipped() -> list[MigrationFile]:
    """The files that come with this version, in order."""
    folder = resources.files("schemas") / "tables"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    stray = [name for name in names if name != REPEATABLE and not _FILE.fullmatch(name)]
    if stray:
        raise ConfigError(f"schemas/tables/{stray[0]}: name migrations NNNN_name.sql")
    return [MigrationFile(name, split_statements((folder / name).read_text("utf-8"))) for name in names]


def split_statements(text: str) -> tuple[str, ...]:
    """The statements of a file without comment lines; a statement ends with ``;`` at the end of a line."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    parts = re.split(r";[ \t]*$", "\n".join(lines), flags=re.MULTILINE)
    return tuple(part.strip() for part in parts if part.strip())


def checksum(statement: str) -> str:
    """Fingerprint of a statement; spaces and line ends do not count."""
    return blake2b(" ".join(statement.split()).encode(), digest_size=16).hexdigest()


def placeholders(*, retention_days: int, hourly_days: int) -> dict[str, str | int]:
    """What the ``$NAMES`` in the files stand for. Raises ConfigError for days out of bounds."""
    for name, days in (("retention_days", retention_days), ("hourly_days", hourly_days)):
        if not 1 <= days <= _MOST_DAYS:
            raise ConfigError(f"{name} {days}: use 1 to {_MOST_DAYS}")
    words: dict[str, type[StrEnum]] = {
        "TIERS": RiskTier,
        "OUTCOMES": Outcome,
        "FAILURES": FailureLabel,
        "CONTAINMENTS": Containment,
        "CLAIM_LABELS": ClaimLabel,
        "CLAIM_SOURCES": ClaimSource,
        "SEVERITIES": Severity,
        "LAYERS": Layer,
        "LAYER_REASONS": LayerReason,
        "ALERT_STATES": AlertState,
    }
    lists = {name: ", ".join(f"'{word.value}'" for word in vocabulary) for name, vocabulary in words.items()}
    return {
        "SAFE": _SAFE,
        "RETENTION_DAYS": retention_days,
        "PASSAGE_DAYS": retention_days + _PASSAGE_EXTRA_DAYS,
        "HOURLY_DAYS": hourly_days,
        **lists,
    }
