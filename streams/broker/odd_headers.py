"""Header names that are not UTF-8, which the protocol calls wrong and no broker refuses; aiokafka stumbles over them.

It raises at the same record again and again, so that one such message would stop a consumer for ever. Here the batch
that holds it is read once more, with the bytes of the name as escapes. Only that batch pays for it. Patched, since
aiokafka has no place to hook in; where its insides differ from what is expected here, it is left as it is.
"""

import struct
from typing import Any

from aiokafka.consumer import fetcher
from aiokafka.record import default_records, memory_records

_MAGIC_AT = 16
_LAST_DELTA_AT = 23
_FIRST_MAGIC_WITH_HEADERS = 2
_EXPECTED = (
    (fetcher, "PartitionRecords"),
    (fetcher, "MemoryRecords"),
    (memory_records, "_MemoryRecordsPy"),
    (default_records, "_DefaultRecordBatchPy"),
)


def install() -> bool:
    """Make every consumer of this process read any header name; False when this aiokafka is another one. Repeatable."""
    if not all(hasattr(module, name) for module, name in _EXPECTED):
        return False
    if not issubclass(fetcher.PartitionRecords, _PatientRecords):
        fetcher.PartitionRecords, fetcher.MemoryRecords = _PatientRecords, _KeptRecords
    return True


class _KeptRecords:
    """The fast reader, and the bytes that it was given."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        fast = memory_records.MemoryRecords(data)
        self.has_next, self.next_batch, self.size_in_bytes = fast.has_next, fast.next_batch, fast.size_in_bytes


class _SlowRecords:
    """The same bytes from offset ``at`` on, through the library's Python reader, with names that may be anything."""

    def __init__(self, data: bytes, at: int) -> None:
        self._batches = memory_records._MemoryRecordsPy(data)  # noqa: SLF001  see the module's docstring
        self.has_next, self.size_in_bytes = self._batches.has_next, self._batches.size_in_bytes
        while self.has_next() and _end(self._slice()) <= at:
            self._batches.next_batch()

    def next_batch(self) -> Any:
        """The next batch; older formats have no headers and need nothing."""
        data = self._slice()
        batch = self._batches.next_batch()
        return _PatientBatch(data) if _has_headers(data) else batch

    def _slice(self) -> Any:
        return self._batches._next_slice  # noqa: SLF001  see the module's docstring


def _has_headers(data: Any) -> bool:
    return bool(data[_MAGIC_AT] >= _FIRST_MAGIC_WITH_HEADERS)


def _end(data: Any) -> int:
    """The offset behind a batch."""
    (base,) = struct.unpack_from(">q", data)
    (last,) = struct.unpack_from(">i", data, _LAST_DELTA_AT) if _has_headers(data) else (0,)
    return int(base + last + 1)


class _PatientRecords(fetcher.PartitionRecords):  # type: ignore[misc]
    """Starts again, slowly, behind the last record that was handed out, when a name cannot be decoded."""

    _records: Any

    def __next__(self) -> Any:
        try:
            return super().__next__()
        except UnicodeDecodeError:
            if not isinstance(self._records, _KeptRecords):
                raise
            self._records = _SlowRecords(self._records.data, self.next_fetch_offset)
            self._records_iterator = self._unpack_records()
            return super().__next__()


class _PatientBatch(default_records._DefaultRecordBatchPy):  # type: ignore[misc]  # noqa: SLF001  see the module's docstring
    """A batch whose bytes decode with escapes."""

    _buffer: Any

    def _maybe_uncompress(self) -> None:
        super()._maybe_uncompress()
        if not isinstance(self._buffer, _PatientBytes):
            self._buffer = _PatientBytes(self._buffer)


class _PatientBytes(bytearray):
    """Bytes of which every part decodes."""

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        return found if isinstance(found, int) else _Name(found)


class _Name(bytearray):
    def decode(self, encoding: str = "utf-8", errors: str = "backslashreplace") -> str:
        """As text; a byte that is none is written as a backslash, an x and two hex digits."""
        return super().decode(encoding, errors)
