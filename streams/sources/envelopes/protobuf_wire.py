"""Protobuf's wire format, field by field: enough to see what a message is and to save what is intact of it."""

from collections.abc import Iterator
from dataclasses import dataclass

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
_FIXED_SIZES = {FIXED64: 8, FIXED32: 4}
_MAX_VARINT_BYTES = 10


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its number, wire type and bytes (none for a varint); ``is_cut`` when the message ends within it."""

    number: int
    wire_type: int
    data: memoryview
    is_cut: bool = False


def fields(message: memoryview) -> Iterator[Field]:
    """Each field in order; where the bytes stop to be protobuf (groups are not read), a last one, 0, that is cut."""
    at = 0
    while at < len(message):
        tag, at = varint(message, at)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == VARINT:
            size, at = 0, varint(message, at)[1]
        elif wire_type == LENGTH:
            size, at = varint(message, at)
        else:
            size = _FIXED_SIZES.get(wire_type, -1)
        if number == 0 or size < 0 or at < 0:
            yield Field(0, LENGTH, message[:0], is_cut=True)
            return
        yield Field(number, wire_type, message[at : at + size], is_cut=at + size > len(message))
        at += size


def varint(message: memoryview, at: int) -> tuple[int, int]:
    """The varint at ``at`` and the place after it; (0, -1) where there is none."""
    if at < len(message) and message[at] < 0x80:  # noqa: PLR2004  nearly all are of one byte
        return message[at], at + 1
    value = 0
    for count, byte in enumerate(message[at : at + _MAX_VARINT_BYTES]):
        value |= (byte & 0x7F) << 7 * count
        if byte < 0x80:  # noqa: PLR2004  the bit that says that more bytes follow
            return value, at + count + 1
    return 0, -1
