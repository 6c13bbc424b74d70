"""Tables that people hand in: CSV, TSV or JSON Lines, plain or gzip, told apart by name and content."""

import csv
import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.errors import ConfigError
from streams.cli.recorded import STDIN

_GZIP_MAGIC = b"\x1f\x8b"
MAX_CELL_CHARACTERS = 4_000_000
"""A passage in a cell may be long; the csv module's own limit is shorter than many."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row with its number as people count: the line where it ends, the heading of a CSV being line 1."""

    number: int
    cells: Mapping[str, Any]


def read_table(path: Path) -> Iterator[Row]:
    """Every row of a table; ``-`` is standard input. Raises ConfigError naming row and fix for what is none.

    CSV needs a heading with a name for each column; a comma, semicolon or tab separates, whichever the heading has
    most of.
    """
    text = read_text(path)
    if not text.strip():
        raise ConfigError(f"{path} is empty; give a CSV with a heading, or JSON Lines")
    return _json_rows(path, text) if text.lstrip().startswith("{") else _csv_rows(path, text)


def read_text(path: Path) -> str:
    """A file, plain or gzip, or standard input for ``-``, as text. Raises ConfigError unless it is UTF-8."""
    try:
        raw = sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
        return (gzip.decompress(raw) if raw.startswith(_GZIP_MAGIC) else raw).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"cannot read {path}: it is not UTF-8; save it as UTF-8") from error
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"cannot read {path}: {reason}; give the path of a CSV or of JSON Lines") from error


def _json_rows(path: Path, text: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            cells = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path}: row {number}: not JSON; write one object a line") from error
        if not isinstance(cells, dict):
            raise ConfigError(f"{path}: row {number}: not a JSON object; write {{…}}")
        yield Row(number, cells)


def _csv_rows(path: Path, text: str) -> Iterator[Row]:
    csv.field_size_limit(MAX_CELL_CHARACTERS)
    heading = text.split("\n", 1)[0]
    separator = max(",;\t", key=heading.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        names = [name.strip() for name in next(reader)]
        _check_names(path, names)
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(names):
                told = f"{path}: row {reader.line_num}: {len(cells)} cells under {len(names)} columns"
                raise ConfigError(f"{told}; quote cells that hold {separator!r} or line breaks")
            yield Row(reader.line_num, dict(zip(names, cells, strict=True)))
    except csv.Error as error:
        raise ConfigError(f"{path}: row {reader.line_num}: {error}; check its quotes") from error


def _check_names(path: Path, names: list[str]) -> None:
    twice = next((name for name in names if not name or names.count(name) > 1), None)
    if twice is not None:
        what = f"{twice!r} heads two columns" if twice else "a column has no name"
        raise ConfigError(f"{path}: row 1: {what}; give each column a name of its own")
