"""What is around a value before anything is decoded: a producer's own compression, a schema registry's frame."""

from codecs import BOM_UTF8
from collections.abc import Callable
from dataclasses import dataclass

import cramjam

from schemas.errors import InvalidMessage

MAX_GROWTH = 4
"""A compressed value may unpack to this many times the longest message; more is a bomb or a mistake."""
_FIRST_GUESS = 20
"""Text rarely packs better than this, so that unpacking need not start with a buffer of the full size."""
_MAX_LAYERS = 2
_MAGIC = b"\0"
_HEADER_BYTES = 5

_UNPACKERS: dict[bytes, tuple[str, Callable[[bytes, bytearray], int]]] = {
    b"\x1f\x8b\x08": ("gzip", cramjam.gzip.decompress_into),
    b"\x28\xb5\x2f\xfd": ("zstd", cramjam.zstd.decompress_into),
    b"\xff\x06\x00\x00sNaPpY": ("snappy", cramjam.snappy.decompress_into),
    b"\x04\x22\x4d\x18": ("lz4", cramjam.lz4.decompress_into),
}


@dataclass(frozen=True, slots=True)
class Framed:
    """A value in the Confluent wire format: a registered schema's id, then what is encoded with it."""

    schema_id: int
    payload: bytes


def unwrap(value: bytes, max_message_bytes: int) -> bytes | Framed:
    """``value`` without the compression that a producer put on it by hand, and without a byte order mark.

    Unpacks to at most four times ``max_message_bytes``. Raises InvalidMessage (``bad_compression``).
    """
    for _ in range(_MAX_LAYERS):
        unpacker = next((found for magic, found in _UNPACKERS.items() if value.startswith(magic)), None)
        if unpacker is None:
            break
        value = _unpacked(value, *unpacker, MAX_GROWTH * max_message_bytes)
    if value.startswith(_MAGIC) and len(value) >= _HEADER_BYTES:
        return Framed(int.from_bytes(value[1:_HEADER_BYTES], "big"), value[_HEADER_BYTES:])
    return value.removeprefix(BOM_UTF8)


def _unpacked(value: bytes, name: str, unpack: Callable[[bytes, bytearray], int], limit: int) -> bytes:
    failure = ""
    for size in sorted({min(len(value) * _FIRST_GUESS, limit), limit}):
        buffer = bytearray(size)
        try:
            return bytes(memoryview(buffer)[: unpack(value, buffer)])
        except cramjam.DecompressionError as error:
            failure = str(error)
    raise InvalidMessage("bad_compression", f"{name}: {failure}; whole, and at most {limit} bytes unpacked, is read")
