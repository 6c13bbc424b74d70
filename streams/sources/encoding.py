"""Bytes of a message to text: UTF-8 or a dead letter that says what the bytes look like; nothing is guessed.

A byte order mark and lone surrogates have one meaning, so they are read; another encoding could be any other.
"""

import codecs

from schemas.errors import InvalidMessage

_LOOKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
    (b"{\0\0\0", "UTF-32"),
    (b"\0\0\0{", "UTF-32"),
    (b"{\0", "UTF-16"),
    (b"\0{", "UTF-16"),
    (b"\x1f\x8b", "gzip; let the producer's compression.type do that"),
    (b"\x28\xb5\x2f\xfd", "zstd; let the producer's compression.type do that"),
    (b"\0", "Avro or Protobuf behind a schema id"),
)


def to_text(value: bytes) -> str:
    """``value`` as text without a byte order mark; encoded surrogates stay as they are, one code point each.

    Raises InvalidMessage ``not_utf8``, naming the first wrong byte.
    """
    try:
        return value.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        try:
            return value.decode("utf-8-sig", "surrogatepass")
        except UnicodeDecodeError:
            detail = f"(message): byte {error.start} is not UTF-8{looks_like(value)}; send JSON in UTF-8"
            raise InvalidMessage("not_utf8", detail) from error


def looks_like(value: bytes) -> str:
    """What the first bytes look like, as the end of a sentence; empty when they tell nothing."""
    return next((f", it looks like {name}" for start, name in _LOOKS if value.startswith(start)), "")


def has_bom(value: bytes) -> bool:
    """True when a UTF-8 byte order mark stands in front."""
    return value.startswith(codecs.BOM_UTF8)


def without_surrogates(text: str) -> str:
    """``text`` with halves of a pair joined and every lone surrogate as U+FFFD; the same object when there are none."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
