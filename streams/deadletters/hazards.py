"""A message on which the process dies again and again is set aside unread, so that the stream behind it goes on.

Which message is being decoded stands in a small file that the kernel keeps when the process is killed, crashes in
native code or is ended by a watchdog: a write to mapped memory, so that it costs nothing to keep. The next process
finds it there and tells the store, where deaths on other machines are counted, too.
"""

import asyncio
import fcntl
import mmap
import os
import secrets
import struct
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import structlog

from schemas.errors import InvalidMessage
from streams.deadletters.letters import POISON
from streams.messages import Message
from streams.sources.raw import Decoded
from streams.store import Store, Suspect

log = structlog.get_logger(__name__)
DEATHS = 3
"""Whatever else kills a process hardly ever finds it at the same message each time; three times is no chance."""
FOLDER = "in-hand"
_HEAD = struct.Struct("<qqqH")
_MOST_TOPIC_BYTES = 1_000
_SIZE = 1 + _HEAD.size + _MOST_TOPIC_BYTES
Decode = Callable[[Message], Awaitable[Decoded]]
Place = tuple[str, int, int, int]
"""Topic, partition, offset and record time: a topic that was made anew has other times."""


class InHand:
    """The message that this process is decoding, one at a time, in a file that outlives it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / secrets.token_hex(8)
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)  # held until the process ends, however it does
        os.ftruncate(self._descriptor, _SIZE)
        self._memory = mmap.mmap(self._descriptor, _SIZE)

    def close(self) -> None:
        """The process ends as it should: nothing is left behind."""
        self._memory.close()
        self._path.unlink(missing_ok=True)
        os.close(self._descriptor)

    @contextmanager
    def holding(self, message: Message) -> Iterator[None]:
        """While the block runs, a death is one on this message."""
        topic = message.topic.encode("utf-8", "replace")[:_MOST_TOPIC_BYTES]
        head = _HEAD.pack(message.partition, message.offset, _ms(message.recorded_at), len(topic))
        self._memory[1 : 1 + len(head) + len(topic)] = head + topic
        self._memory[0] = 1
        try:
            yield
        finally:
            self._memory[0] = 0


def deaths_in(folder: Path) -> Iterator[tuple[Path, Suspect | None]]:
    """The files of processes that ended without removing them, each with the message that was in hand, if one was.

    Each is locked while it is handed out, so that of several processes that start at once one finds it.
    """
    for path in sorted(folder.glob("*")) if folder.is_dir() else ():
        with _locked(path) as file:
            if file is not None:
                yield path, _read(file, path.name)


class Hazards:
    """Messages on which processes died, by how often; and the one that this process has in hand."""

    def __init__(self, in_hand: InHand, deaths: Mapping[Place, int]) -> None:
        self._in_hand = in_hand
        self._deaths = deaths

    @classmethod
    async def open(cls, data_dir: Path, store: Store, now: datetime) -> "Hazards":
        """Find out how earlier processes on this folder died, and tell the store. Raises StoreUnavailable."""
        folder = data_dir / FOLDER
        await asyncio.to_thread(_report, folder, store, now)
        return cls(InHand(folder), counted(await asyncio.to_thread(store.suspects)))

    def close(self) -> None:
        """The process ends as it should."""
        self._in_hand.close()

    def watched(self, decode: Decode) -> Decode:
        """``decode``, except for messages that killed too often: those are a problem, and nobody looks at them."""

        async def guarded(message: Message) -> Decoded:
            deaths = self._deaths.get(_place(message), 0)
            if deaths >= DEATHS:
                return Decoded(problems=(_set_aside(message, deaths),))
            with self._in_hand.holding(message):
                return await decode(message)

        return guarded


def counted(suspects: Iterable[Suspect]) -> dict[Place, int]:
    """Deaths by message."""
    return Counter((one.topic, one.partition, one.offset, one.recorded_ms) for one in suspects)


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


def _report(folder: Path, store: Store, now: datetime) -> None:
    for path, suspect in deaths_in(folder):
        if suspect is not None:
            log.error(
                "died_on_message",
                topic=suspect.topic, partition=suspect.partition, offset=suspect.offset,
                consequence=f"after {DEATHS} deaths it is set aside unread",
            )  # fmt: skip
            store.insert_suspects([suspect], now)
        path.unlink(missing_ok=True)


def _set_aside(message: Message, deaths: int) -> InvalidMessage:
    log.error("message_set_aside", topic=message.topic, partition=message.partition, offset=message.offset)
    detail = (
        f"(message): {deaths} times a process died while it decoded this message, so it was set aside unread; after an "
        "update try `groundwatch deadletter replay` with this letter by name"
    )
    return InvalidMessage(POISON, detail)


def _place(message: Message) -> Place:
    return message.topic, message.partition, message.offset, _ms(message.recorded_at)


def _read(descriptor: int, name: str) -> Suspect | None:
    content = os.pread(descriptor, _SIZE, 0)
    if len(content) < _SIZE or not content[0]:
        return None
    partition, offset, recorded_ms, length = _HEAD.unpack_from(content, 1)
    topic = content[1 + _HEAD.size :][:length].decode("utf-8", "replace")
    return Suspect(topic=topic, partition=partition, offset=offset, recorded_ms=recorded_ms, death=name)


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
