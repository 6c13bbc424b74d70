"""What is known about the documents of the corpus, from a file: traces are told of it right after they are decoded.

The file is read again when it changed; a bad new one is logged and the snapshot in use stays.
"""

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import structlog
from pydantic import ValidationError

from detectors.structural.snapshot import Snapshot, annotate
from schemas.codec import invalid_message
from schemas.document import DocumentVersion
from schemas.errors import ConfigError
from schemas.trace import Trace

log = structlog.get_logger(__name__)
CHECK_SECONDS = 5.0
"""How often the file is looked at; a new one is in use so much later, and after the time that it takes to read."""
_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_State = tuple[int, int]


@dataclass(slots=True)
class Documents:
    """The snapshot in use; ``refresh`` may run in another thread, since the snapshot is replaced as a whole."""

    file: Path
    snapshot: Snapshot = field(default_factory=Snapshot)
    _seen: _State | None = None

    @classmethod
    def open(cls, file: Path) -> "Documents":
        """Read the file for the first time. Raises ConfigError, naming line and field."""
        seen = _state(file)  # before reading: what changes meanwhile is read again
        return cls(file, load_documents(file), seen)

    def refresh(self) -> None:
        """Read the file again when its time or size is another; what is wrong with it is logged, once a change."""
        seen = _state(self.file)
        if seen == self._seen:
            return
        self._seen = seen
        try:
            self.snapshot = load_documents(self.file)
        except ConfigError as error:
            log.warning("documents_file_refused", error=str(error), fix="the documents read before stay in use")
        else:
            log.info("documents_file_read", documents=len(self.snapshot.documents))

    def annotated(self, trace: Trace) -> Trace:
        """The trace with what the snapshot of this moment knows of its passages as of the trace's time."""
        return annotate(trace, self.snapshot)


def load_documents(file: Path) -> Snapshot:
    """The snapshot in a file of JSON Lines, plain or gzip; blank lines are passed over.

    Raises ConfigError with line and field for a line that is no document version, or that says something else about a
    version than an earlier line.
    """
    first: dict[tuple[str, str], tuple[int, DocumentVersion]] = {}
    for number, line in _lines(file):
        document = _parse(file, number, line)
        key = (document.doc_id, document.version)
        at, known = first.setdefault(key, (number, document))
        if known != document:
            message = (
                f"{file}:{number}: doc_id, version: {document.doc_id!r} {document.version!r} is on line {at} already"
            )
            raise ConfigError(f"{message}, with different content; keep one of the two")
    return Snapshot.of(document for _, document in first.values())


def _parse(file: Path, number: int, line: bytes) -> DocumentVersion:
    try:
        return DocumentVersion.model_validate_json(line)
    except ValidationError as error:
        detail = invalid_message(error).detail
        raise ConfigError(
            f"{file}:{number}: {detail}; write one document version a line: docs/native-format.md"
        ) from error


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with file.open("rb") as raw:
            start = raw.read(len(_GZIP_MAGIC))
            raw.seek(0)
            stream = gzip.open(raw) if start == _GZIP_MAGIC else raw  # noqa: SIM115 - ``raw`` is what must be closed
            for number, line in enumerate(stream, start=1):
                text = line.removeprefix(_BYTE_ORDER_MARK).strip()
                if text:
                    yield number, text
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"ingest.documents_file: cannot read {file}: {reason}") from error


def _state(file: Path) -> _State:
    """Time of the last change and size; two zeros for a file that is not there."""
    try:
        status = file.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
