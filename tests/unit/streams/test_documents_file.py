"""The file of documents: what it may hold, what is refused, and when a changed one is taken."""

import gzip
import os
from pathlib import Path

import pytest

from schemas.document import DocumentVersion
from schemas.errors import ConfigError
from streams.documents import Documents, load_documents
from tests.builders import passage, trace

LINE = '{"doc_id": "refunds", "version": "3", "archived": true, "title": "not ours"}\n'
OTHER = '{"doc_id": "refunds", "version": "3", "trust": "untrusted"}\n'


PAGE = Path(__file__).parents[3] / "docs" / "native-format.md"


def write(folder: Path, content: bytes, at_seconds: int = 1_000) -> Path:
    """A documents file whose time of change is set, because two writes may fall into one tick of the clock."""
    file = folder / "documents.jsonl"
    file.write_bytes(content)
    os.utime(file, (at_seconds, at_seconds))
    return file


@pytest.mark.parametrize(
    "content",
    [
        LINE.encode(),
        gzip.compress(LINE.encode(), mtime=0),
        b"\xef\xbb\xbf\n\r\n" + LINE.encode() + b"  \n",
        (LINE + LINE).encode(),
    ],
    ids=["plain", "gzip", "byte order mark and blank lines", "the same line twice"],
)
def test_versions_are_read_from_json_lines(tmp_path: Path, content: bytes) -> None:
    """Plain or gzip; unknown fields are passed over, so that an export can be used as it is."""
    expected = DocumentVersion(doc_id="refunds", version="3", archived=True)

    assert expected == load_documents(write(tmp_path, content)).find("refunds", "3")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'{"version": "3"}', r"documents\.jsonl:1: doc_id: Field required"),
        ((LINE + '{"doc_id": "a", "trust": "good"}').encode(), r"documents\.jsonl:2: trust: "),
        ((LINE + '{"doc_id": "a", "updated_at": "2026-01-01T00:00:00"}').encode(), r"documents\.jsonl:2: updated_at: "),
        (b"not json", r"documents\.jsonl:1: \(message\): Invalid JSON"),
        (b'{"doc_id": "\xff"}', r"documents\.jsonl:1: "),
        ((LINE + OTHER).encode(), r"documents\.jsonl:2: .*on line 1 already"),
        (gzip.compress(LINE.encode(), mtime=0)[:-10], "cannot read"),
        (gzip.compress(LINE.encode() * 99, mtime=0)[:20] + b"\x00" * 30, "cannot read"),
    ],
)
def test_a_wrong_file_names_line_and_field(tmp_path: Path, content: bytes, expected: str) -> None:
    """A naive time, a wrong word, no JSON, two versions of the truth, a damaged archive."""
    with pytest.raises(ConfigError, match=expected):
        Documents.open(write(tmp_path, content))


def test_a_missing_file_is_refused_at_start(tmp_path: Path) -> None:
    """The message names the setting."""
    with pytest.raises(ConfigError, match=r"ingest\.documents_file: cannot read"):
        Documents.open(tmp_path / "nowhere.jsonl")


def test_a_changed_file_is_read_again_and_a_bad_one_changes_nothing(tmp_path: Path) -> None:
    """Nor does a file that is gone; the next good one is taken."""
    documents = Documents.open(write(tmp_path, LINE.encode()))
    first = documents.snapshot

    documents.refresh()
    assert first is documents.snapshot
    write(tmp_path, b"{", at_seconds=2_000)
    documents.refresh()
    assert first is documents.snapshot
    documents.file.unlink()
    documents.refresh()
    assert first is documents.snapshot
    write(tmp_path, OTHER.encode(), at_seconds=3_000)
    documents.refresh()
    assert "untrusted" == getattr(documents.snapshot.find("refunds", "3"), "trust", None)


def test_traces_are_told_what_the_file_says(tmp_path: Path) -> None:
    """By the snapshot of the moment, not by the one at the start."""
    documents = Documents.open(write(tmp_path, LINE.encode()))
    seen = trace(passages=(passage(version="3"),))

    assert [True] == [one.archived for one in documents.annotated(seen).passages or ()]
    write(tmp_path, OTHER.encode(), at_seconds=2_000)
    documents.refresh()
    assert ["untrusted"] == [one.trust for one in documents.annotated(seen).passages or ()]


def test_the_lines_on_the_page_can_be_read(tmp_path: Path) -> None:
    """Who copies them must not be refused."""
    example = PAGE.read_text(encoding="utf-8").partition("## Documents")[2].split("```")[1].removeprefix("json\n")

    snapshot = load_documents(write(tmp_path, example.encode()))

    assert ["returns-policy", "salary-bands"] == list(snapshot.documents)
