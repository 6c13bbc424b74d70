"""A TCP relay in front of a broker or a store, which a test cuts, silences, or makes act at a certain request.

Faults sit outside the product, so that what is tested is the program that users run.
"""

import asyncio
import socket
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Literal, Self

OFFSET_COMMIT = 8
"""Kafka's number of the request that commits offsets."""
PRODUCE = 0
_CHUNK = 1 << 16
_KEY_END, _ID_START, _ID_END = 2, 4, 8
"""Where a Kafka request names its kind and its correlation id; an answer begins with the latter."""


@dataclass(slots=True)
class Trap:
    """Acts at the n-th Kafka request of a kind: before it is passed on, or when its answer is there and not yet told.

    Either way the connection ends, as it does when the process at the other end dies.
    """

    api: int
    countdown: int
    moment: Literal["before", "after"]
    act: Callable[[], None]


class Proxy:
    """Relays 127.0.0.1:``port`` to ``target`` while the ``with`` block runs; safe to steer from any thread."""

    def __init__(self, target: int = 0, *, is_kafka: bool = False) -> None:
        self.target = target
        self.trap: Trap | None = None
        self._is_kafka = is_kafka
        self._is_silent = False
        self._flow = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])

    def __enter__(self) -> Self:
        self._thread.start()
        self.heal()
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    def cut(self) -> None:
        """Connection refused from now on; what is open breaks off."""
        self._call(self._close())

    def silence(self) -> None:
        """Connections are taken and stay open, but nothing passes: a network that swallows packets."""
        self._call(self._set_flow(is_on=False))

    def heal(self) -> None:
        """Everything passes again."""
        self._call(self._set_flow(is_on=True))
        self._call(self._open())

    def _call(self, step: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(step, self._loop).result(10)

    async def _set_flow(self, *, is_on: bool) -> None:
        if is_on:
            self._flow.set()
        else:
            self._flow.clear()

    async def _open(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._relay, "127.0.0.1", self.port)

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in list(self._writers):
            writer.transport.abort()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            self._writers.discard(writer)
            return
        self._writers.add(back)
        awaited: dict[bytes, Trap] = {}
        ways = [self._requests(reader, back, awaited), self._answers(there, writer, awaited)]
        tasks = [asyncio.create_task(way) for way in ways]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for one in (writer, back):
            one.transport.abort()
            self._writers.discard(one)

    async def _requests(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, awaited: dict[bytes, Trap]
    ) -> None:
        while data := await self._read(reader):
            trap = self._sprung(data)
            if trap is not None and trap.moment == "before":
                trap.act()
                return
            if trap is not None:
                awaited[data[4:][_ID_START:_ID_END]] = trap
            writer.write(data)
            await writer.drain()

    async def _answers(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, awaited: dict[bytes, Trap]
    ) -> None:
        while data := await self._read(reader):
            trap = awaited.pop(data[4:8], None) if awaited else None
            if trap is not None:
                trap.act()
                return
            writer.write(data)
            await writer.drain()

    async def _read(self, reader: asyncio.StreamReader) -> bytes:
        """The next bytes, of Kafka a whole frame; none when the connection has ended."""
        try:
            if self._is_kafka:
                length = await reader.readexactly(4)
                data = length + await reader.readexactly(int.from_bytes(length))
            else:
                data = await reader.read(_CHUNK)
        except (asyncio.IncompleteReadError, ConnectionError):
            return b""
        await self._flow.wait()
        return data

    def _sprung(self, data: bytes) -> Trap | None:
        trap = self.trap
        if trap is None or int.from_bytes(data[4:][:_KEY_END]) != trap.api:
            return None
        trap.countdown -= 1
        if trap.countdown:
            return None
        self.trap = None
        return trap
