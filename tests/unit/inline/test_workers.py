"""Threads that somebody waits for until a moment: results, errors, and work that does not end."""

import asyncio
import threading
from collections.abc import AsyncIterator
from time import monotonic

import pytest

from streams.inline.workers import NotBegun, Workers
from tests.fakes_inline import soon


@pytest.fixture
async def workers() -> AsyncIterator[Workers]:
    """One thread."""
    made = Workers("test", 1)
    yield made
    made.close()


def later() -> float:
    """A moment that no test reaches."""
    return monotonic() + 600


async def until_none_is_late(workers: Workers) -> None:
    """Wait for the thread that was let go: the one thread is free for other work no sooner."""
    await workers.run(lambda: None, later())
    assert 0 == workers.late


async def test_work_gives_its_result_from_another_thread(workers: Workers) -> None:
    """The loop is free meanwhile."""
    assert threading.get_ident() != await workers.run(threading.get_ident, later())


async def test_an_error_reaches_who_waits_and_costs_no_thread(workers: Workers) -> None:
    """The one thread goes on."""

    def failing() -> None:
        raise ValueError("x")

    for _ in range(2):
        with pytest.raises(ValueError, match="x"):
            await workers.run(failing, later())
    assert (2, 0) == (await workers.run(lambda: 2, later()), workers.late)


async def test_work_that_does_not_end_keeps_its_thread_and_nobody_waiting(workers: Workers) -> None:
    """It is counted while it runs; what comes meanwhile is never begun, and the thread is free again afterwards."""
    gate, begun = threading.Event(), []
    with pytest.raises(TimeoutError):
        await workers.run(gate.wait, soon())
    assert 1 == workers.late
    with pytest.raises(TimeoutError):
        await workers.run(lambda: begun.append(1), soon())
    assert (1, []) == (workers.late, begun)
    gate.set()
    await until_none_is_late(workers)


async def test_who_stops_waiting_leaves_the_work_to_its_thread(workers: Workers) -> None:
    """As when a server closes."""
    gate = threading.Event()
    waiting = asyncio.create_task(workers.run(gate.wait, later()))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert 1 == workers.late
    gate.set()
    await until_none_is_late(workers)


async def test_threads_do_not_keep_the_process_alive() -> None:
    """A model that hangs must not stop it from ending."""
    made = Workers("daemons", 2)
    named = [thread for thread in threading.enumerate() if thread.name.startswith("daemons-")]
    assert [True, True] == [thread.daemon for thread in named]
    made.close()


async def test_work_that_would_end_too_late_is_not_begun(workers: Workers) -> None:
    """Under overload it would only make the next ones late as well; the thread stays free."""
    gate, begun = threading.Event(), []
    first = asyncio.create_task(workers.run(gate.wait, later()))
    await asyncio.sleep(0)
    with pytest.raises(NotBegun):
        await workers.run(lambda: begun.append(1), later(), needs_seconds=600.0)
    second = asyncio.create_task(workers.run(lambda: None, later()))
    await asyncio.sleep(0)
    assert 2.0 == workers.wait_seconds(2.0)
    gate.set()
    await second
    assert await first
    assert ([], 0) == (begun, workers.late)
