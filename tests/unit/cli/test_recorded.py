"""Reading recorded traces from files."""

import gzip
import io
import sys
from pathlib import Path

import pytest

from schemas.errors import ConfigError
from streams.cli.recorded import STDIN, read_lines, total_bytes


def test_lines_of_plain_and_compressed_files(tmp_path: Path) -> None:
    """Both kinds, told apart by content; empty lines are skipped and counted."""
    plain, packed = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    plain.write_bytes(b"one\n\ntwo\r\n")
    packed.write_bytes(gzip.compress(b"three"))
    found = [(line.number, line.content) for line in read_lines([plain, packed])]
    assert [(1, b"one"), (3, b"two"), (1, b"three")] == found
    assert plain.stat().st_size + packed.stat().st_size == total_bytes([plain, packed])


def test_standard_input_is_a_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that commands can be piped."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one\n")))
    assert ["stdin:1"] == [line.where for line in read_lines([STDIN])]
    assert total_bytes([STDIN]) is None


def test_missing_file_is_named(tmp_path: Path) -> None:
    """With what went wrong."""
    with pytest.raises(ConfigError, match=r"cannot read .*gone\.jsonl: No such file"):
        list(read_lines([tmp_path / "gone.jsonl"]))


def test_cut_compressed_file_is_named(tmp_path: Path) -> None:
    """The lines before the damage were read."""
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(b"one\n" * 1000)[:-10])
    with pytest.raises(ConfigError, match=r"cannot read .*cut\.gz"):
        list(read_lines([path]))
