"""Compressed and framed values."""

import bz2
import gzip

import cramjam
import pytest

from schemas.errors import InvalidMessage
from streams.sources.wire import MAX_GROWTH, Framed, unwrap

TEXT = b'{"question": "May a parcel weigh 40 kilograms?"}' * 50
LIMIT = 100_000
CODECS = ("gzip", "zstd", "snappy", "lz4")


def packed(codec: str, value: bytes) -> bytes:
    """The value as a producer of that codec would send it."""
    return bytes(getattr(cramjam, codec).compress(value))


@pytest.mark.parametrize("codec", CODECS)
def test_values_compressed_by_hand_are_unpacked(codec: str) -> None:
    """Beside the compression that Kafka itself knows."""
    assert TEXT == unwrap(packed(codec, TEXT), LIMIT)
    assert b"" == unwrap(packed(codec, b""), LIMIT)


def test_gzip_of_several_members_is_one_value() -> None:
    """Loggers append them."""
    assert TEXT + TEXT == unwrap(gzip.compress(TEXT) + gzip.compress(TEXT), LIMIT)


def test_value_compressed_twice_is_unpacked_and_no_deeper() -> None:
    """By the library and by the program; more layers are a bomb."""
    twice = gzip.compress(packed("zstd", TEXT))
    assert TEXT == unwrap(twice, LIMIT)
    assert packed("zstd", TEXT) == unwrap(gzip.compress(twice), LIMIT)


@pytest.mark.parametrize("codec", CODECS)
def test_bombs_are_dead_letters(codec: str) -> None:
    """Not more is unpacked than the limit allows."""
    whole = b"x" * (MAX_GROWTH * LIMIT)
    assert whole == unwrap(packed(codec, whole), LIMIT)
    with pytest.raises(InvalidMessage, match="bad_compression"):
        unwrap(packed(codec, whole + b"x"), LIMIT)


@pytest.mark.parametrize("codec", CODECS)
def test_cut_compression_is_a_dead_letter(codec: str) -> None:
    """Its beginning is not a value."""
    with pytest.raises(InvalidMessage, match=f"bad_compression: {codec}"):
        unwrap(packed(codec, TEXT)[:-9], LIMIT)


def test_frames_of_a_registry_are_opened() -> None:
    """Also when somebody compressed them."""
    value = b"\0\0\0\1\2payload"
    assert Framed(258, b"payload") == unwrap(value, LIMIT)
    assert Framed(258, b"payload") == unwrap(gzip.compress(value), LIMIT)
    assert Framed(0xFFFFFFFF, b"") == unwrap(b"\0\xff\xff\xff\xff", LIMIT)


@pytest.mark.parametrize("value", [b"", b"\0", b"\0\1\2\3", b"{}", b"\x0a\x00", b"\x1f\x8b", bz2.compress(b"x")])
def test_other_values_stay_as_they_are(value: bytes) -> None:
    """What they are is decided elsewhere."""
    assert value == unwrap(value, LIMIT)


def test_byte_order_mark_is_taken_off() -> None:
    """It is no part of the text."""
    assert b"{}" == unwrap(b"\xef\xbb\xbf{}", LIMIT)
