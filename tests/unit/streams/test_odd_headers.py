"""Header names of any bytes, through the library's own reader of fetched batches."""

import struct
from typing import Any

import pytest
from aiokafka.consumer import fetcher
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.util import calc_crc32c
from aiokafka.structs import TopicPartition

from streams.broker.odd_headers import install

NAME = b"\xff\xfe\x80Z"


def batch(base: int, headers: list[tuple[str, bytes]], compression: int = 0, records: int = 3) -> bytes:
    """A batch of records as a broker gives it; a header that is called ZZZZ gets a name that is not UTF-8."""
    builder = DefaultRecordBatchBuilder(2, compression, 0, -1, -1, -1, 100_000)
    for number in range(records):
        named = headers if number == 1 else []
        builder.append(number, timestamp=1_000, key=b"k", value=b"v%d" % number, headers=named)
    data = bytearray(bytes(builder.build())).replace(b"ZZZZ", NAME)
    data[:8] = struct.pack(">q", base)
    data[17:21] = struct.pack(">I", calc_crc32c(bytes(data[21:])))
    return bytes(data)


def read(data: bytes, at: int = 0) -> list[Any]:
    """The records of ``data`` from offset ``at`` on, as a consumer unpacks them."""
    assert install()
    records = fetcher.MemoryRecords(data)
    place = TopicPartition("t", 0)
    return list(fetcher.PartitionRecords(place, records, [], at, None, None, check_crcs=True, isolation_level=0))


def test_a_name_that_is_not_utf8_is_read_with_escapes() -> None:
    """Every record once, in order, before and behind it."""
    found = read(batch(0, []) + batch(3, [("ZZZZ", b"\x00\xff"), ("a", b"1")]) + batch(6, []))
    assert list(range(9)) == [record.offset for record in found]
    assert [b"v0", b"v1", b"v2"] * 3 == [record.value for record in found]
    assert ((r"\xff\xfe\x80Z", b"\x00\xff"), ("a", b"1")) == found[4].headers


def test_reading_begins_where_it_stopped() -> None:
    """After a restart in the middle of a batch nothing comes twice."""
    assert [4, 5] == [record.offset for record in read(batch(3, [("ZZZZ", b"")]), at=4)]


@pytest.mark.parametrize("compression", [0, 1, 3])
def test_compressed_batches_are_read_too(compression: int) -> None:
    """Plain, gzip and LZ4; the bytes of a name are hidden until the batch is unpacked."""
    plain = [record.offset for record in read(batch(0, [("a", b"1")], compression))]
    assert [0, 1, 2] == plain


def test_ordinary_headers_are_untouched() -> None:
    """The fast reader is left in place for them."""
    (record, *_) = [record for record in read(batch(0, [("trace-ü", b"1")])) if record.headers]
    assert (("trace-ü", b"1"),) == record.headers


def test_installing_twice_changes_nothing() -> None:
    """Every module that needs it may ask for it."""
    assert install()
    first = fetcher.PartitionRecords
    assert install()
    assert first is fetcher.PartitionRecords


@pytest.mark.parametrize("name", ["PartitionRecords", "MemoryRecords"])
def test_another_library_is_left_alone(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A newer version may have no such insides."""
    monkeypatch.delattr(fetcher, name)
    assert not install()
