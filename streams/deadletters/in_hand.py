"""The messages that a process has in hand, in a file that outlives it, and the files that dead processes left.

A small file that the kernel keeps when the process is killed, crashes in native code or is ended by a watchdog: a write
to mapped memory, so that it costs nothing to keep.
"""

import fcntl
import mmap
import os
import secrets
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from streams.messages import Message
from streams.store import Suspect

TOGETHER = "together-"
"""How the name of a death begins when several messages were in hand, of which at most one is to blame."""
_COUNT = struct.Struct("<H")
_PLACE = struct.Struct("<qqqH")
_SIZE = 65_536
_MOST_TOPIC_BYTES = 1_000


class InHand:
    """What one agent of this process has in hand: a file of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / secrets.token_hex(8)
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)  # held until the process ends, however it does
        os.ftruncate(self._descriptor, _SIZE)
        self._memory = mmap.mmap(self._descriptor, _SIZE)
        self._held = b""
        self._is_over = False

    def close(self) -> None:
        """The process ends as it should: nothing is left behind."""
        self._memory.close()
        self._path.unlink(missing_ok=True)
        os.close(self._descriptor)

    def let_go(self) -> None:
        """Whatever ends the process from now on, no message is to blame: it was told to stop."""
        self._is_over = True
        self._write(b"")

    @contextmanager
    def holding(self, messages: Sequence[Message], passing: tuple[type[BaseException], ...] = ()) -> Iterator[None]:
        """While the block runs, a death is one on these messages; of very many the first ones count.

        An error leaves them in hand, since a process ends on it, unless it is one of ``passing``. What was in hand
        before the block is so again after it.
        """
        before = self._held
        self._write(_packed(messages))
        try:
            yield
        except passing:
            self._write(before)
            raise
        self._write(before)

    def _write(self, content: bytes) -> None:
        if self._is_over:
            content = b""
        self._memory[: _COUNT.size] = _COUNT.pack(0)  # a death in the middle of this accuses nobody
        self._held = content
        if content:
            self._memory[_COUNT.size : len(content)] = content[_COUNT.size :]
            self._memory[: _COUNT.size] = content[: _COUNT.size]


def deaths_in(folder: Path) -> Iterator[tuple[Path, list[Suspect]]]:
    """The files of processes that ended without removing them, each with the messages that were in hand.

    Each is locked while it is handed out, so that of several processes that start at once one finds it.
    """
    for path in sorted(folder.glob("*")) if folder.is_dir() else ():
        with _locked(path) as file:
            if file is not None:
                yield path, _read(file, path.name)


def milliseconds(moment: datetime) -> int:
    """Since 1970."""
    return int(moment.timestamp() * 1000)


def _packed(messages: Sequence[Message]) -> bytes:
    places, room = [], _SIZE - _COUNT.size
    for message in messages:
        topic = message.topic.encode("utf-8", "replace")[:_MOST_TOPIC_BYTES]
        head = _PLACE.pack(message.partition, message.offset, milliseconds(message.recorded_at), len(topic))
        room -= len(head) + len(topic)
        if room < 0:
            break
        places.append(head + topic)
    return _COUNT.pack(len(places)) + b"".join(places) if places else b""


@contextmanager
def _locked(path: Path) -> Iterator[int | None]:
    """An open, locked descriptor; None where another process holds the file, or has removed it meanwhile."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        yield None
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield descriptor if os.fstat(descriptor).st_nlink else None
    except BlockingIOError:
        yield None
    finally:
        os.close(descriptor)


def _read(descriptor: int, name: str) -> list[Suspect]:
    """Those of a file that is whole; a damaged one accuses nobody."""
    content = os.pread(descriptor, _SIZE, 0)
    if len(content) < _SIZE:
        return []
    (count,), at = _COUNT.unpack_from(content), _COUNT.size
    death = f"{TOGETHER}{name}" if count > 1 else name
    found = []
    for _ in range(count):
        if at + _PLACE.size > _SIZE:
            return []
        partition, offset, recorded_ms, length = _PLACE.unpack_from(content, at)
        at += _PLACE.size
        topic = content[at : at + length].decode("utf-8", "replace")
        if length > _MOST_TOPIC_BYTES or at + length > _SIZE:
            return []
        found.append(Suspect(topic=topic, partition=partition, offset=offset, recorded_ms=recorded_ms, death=death))
        at += length
    return found
