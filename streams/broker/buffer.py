"""A bound in bytes on what was read and not yet handled; the engine's own bounds count messages, small or large."""

from collections.abc import Callable, Iterable
from typing import Any


class Buffer:
    """Counts values that were let in; asks what is still unhandled only when the count says full.

    ``unhandled`` gives the messages that are not acknowledged. One whose value was taken away was handled: an agent
    that acknowledges late keeps the place, not the bytes.
    """

    def __init__(self, limit_bytes: int, unhandled: Callable[[], Iterable[Any]]) -> None:
        self._limit = limit_bytes
        self._unhandled = unhandled
        self._bytes = 0

    def lets_in(self, value: bytes | None) -> bool:
        """Whether the value has room, and takes it; one larger than the limit has when nothing else is there."""
        size = len(value or b"")
        if self._bytes + size > self._limit:
            self._bytes = sum(len(message.value or b"") for message in self._unhandled())
        if self._bytes and self._bytes + size > self._limit:
            return False
        self._bytes += size
        return True
