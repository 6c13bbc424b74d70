"""Threads for work that somebody waits for until a moment and no longer; what goes on after it holds its thread alone.

They are daemons, unlike those of an executor: one that hangs must not keep the process from ending.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import TypeVar

T = TypeVar("T")


class NotBegun(TimeoutError):
    """There was no thread in time."""


class Workers:
    """So many threads; ``run`` belongs to one event loop."""

    def __init__(self, name: str, threads: int) -> None:
        self.late = 0
        """Pieces of work that nobody waits for any more, and that still hold a thread."""
        self.waiting = 0
        """Pieces of work that wait for a thread."""
        self._threads = threads
        self._free = asyncio.Semaphore(threads)
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        for number in range(threads):
            Thread(target=self._serve, name=f"{name}-{number}", daemon=True).start()

    async def run(self, work: Callable[[], T], until: float, needs_seconds: float = 0.0) -> T:
        """What ``work`` gives, or raises. Raises TimeoutError at ``until`` (``time.monotonic``), or NotBegun before.

        Work that has no thread ``needs_seconds`` before that is not begun: it would only keep others from ending in
        time. Work that has one goes on, and its result is dropped.
        """
        await self._thread(until - needs_seconds)
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        self._work.put(partial(self._do, loop, done, work))
        try:
            async with asyncio.timeout(until - monotonic()):
                return await done
        finally:
            if done.cancelled():
                self.late += 1

    def wait_seconds(self, each_seconds: float) -> float:
        """How long work that came now would wait for a thread, if each piece took so long."""
        return self.waiting * each_seconds / self._threads

    async def _thread(self, by: float) -> None:
        seconds = by - monotonic()
        if seconds <= 0:
            raise NotBegun
        self.waiting += 1
        try:
            async with asyncio.timeout(seconds):
                await self._free.acquire()
        except TimeoutError as error:
            raise NotBegun from error
        finally:
            self.waiting -= 1

    def close(self) -> None:
        """Let the threads end after what they are at."""
        for _ in range(self._threads):
            self._work.put(None)

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            work()

    def _do(self, loop: asyncio.AbstractEventLoop, done: "asyncio.Future[T]", work: Callable[[], T]) -> None:
        try:
            result = work()
        except Exception as error:  # noqa: BLE001 - whoever waits gets it
            tell = partial(self._finish, done, partial(done.set_exception, error))
        else:
            tell = partial(self._finish, done, partial(done.set_result, result))
        if not loop.is_closed():
            loop.call_soon_threadsafe(tell)

    def _finish(self, done: "asyncio.Future[T]", settle: Callable[[], None]) -> None:
        self._free.release()
        if done.cancelled():
            self.late -= 1
        else:
            settle()
