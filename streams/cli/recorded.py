"""Recorded traces as lines of bytes: files, gzip or standard input, read lazily."""

import gzip
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from schemas.errors import ConfigError

STDIN = Path("-")
_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Line:
    """One non-empty line; ``number`` counts from 1, ``position`` is how many bytes of its file were read so far."""

    file: Path
    number: int
    content: bytes
    position: int

    @property
    def where(self) -> str:
        """``traces.jsonl:12``, for messages."""
        return f"{'stdin' if self.file == STDIN else self.file}:{self.number}"


def read_lines(files: Sequence[Path]) -> Iterator[Line]:
    """Every non-empty line of the files in order; ``-`` is standard input, gzip is recognised by its first bytes.

    Raises ConfigError when a file cannot be read or its compression is damaged.
    """
    for file in files:
        try:
            if file == STDIN:
                yield from _lines(file, sys.stdin.buffer, sys.stdin.buffer)
            else:
                with file.open("rb") as raw:
                    yield from _lines(file, raw, _decompressed(raw))
        except (OSError, EOFError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ConfigError(f"cannot read {file}: {reason}; give a file of JSON Lines, plain or gzip") from error


def total_bytes(files: Sequence[Path]) -> int | None:
    """Size of all files on disk; None when standard input is among them or a file is missing."""
    if STDIN in files or not all(file.is_file() for file in files):
        return None
    return sum(file.stat().st_size for file in files)


def _decompressed(raw: BinaryIO) -> BinaryIO:
    start = raw.read(len(_GZIP_MAGIC))
    raw.seek(0)
    return gzip.open(raw) if start == _GZIP_MAGIC else raw  # type: ignore[return-value]  # GzipFile reads like BinaryIO


def _lines(file: Path, raw: BinaryIO, stream: BinaryIO) -> Iterator[Line]:
    is_seekable = file != STDIN
    for number, content in enumerate(stream, start=1):
        stripped = content.strip()
        if stripped:
            yield Line(file, number, stripped, raw.tell() if is_seekable else 0)
