"""A commit that its thread no longer gets to is not done; a task that is cancelled itself stays cancelled."""

import asyncio

import pytest
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from streams.broker.member import MemberThread

OFFSETS = {TP("questions", 0): 7}


def _member(monkeypatch: pytest.MonkeyPatch, *, is_stopping: bool) -> MemberThread:
    """One that begins to stop, or does not, while its commit is on the way."""

    async def cancelled(_thread: object, _offsets: object) -> bool:
        monkeypatch.setattr(MemberThread, "should_stop", is_stopping)
        raise asyncio.CancelledError

    monkeypatch.setattr(driver.AIOKafkaConsumerThread, "commit", cancelled)
    monkeypatch.setattr(MemberThread, "should_stop", False)
    return MemberThread.__new__(MemberThread)  # no thread is started: the base class's commit is all it would serve


async def test_thread_that_stops_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody answers there any more, and its client would wait for that before it closes its connections."""

    async def never(_thread: object, _offsets: object) -> bool:
        raise AssertionError

    member = _member(monkeypatch, is_stopping=True)
    monkeypatch.setattr(driver.AIOKafkaConsumerThread, "commit", never)
    monkeypatch.setattr(MemberThread, "should_stop", True)
    assert await member.commit(OFFSETS) is False


async def test_commit_that_a_stopping_thread_drops_is_not_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raised further it would end the thread before its client has closed its connections."""
    assert await _member(monkeypatch, is_stopping=True).commit(OFFSETS) is False


async def test_commit_that_a_running_thread_drops_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing explains it."""
    with pytest.raises(asyncio.CancelledError):
        await _member(monkeypatch, is_stopping=False).commit(OFFSETS)


async def test_task_that_is_cancelled_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while the thread stops."""
    never = asyncio.Event()

    async def waits(_thread: object, _offsets: object) -> bool:
        return await never.wait()

    member = _member(monkeypatch, is_stopping=True)
    monkeypatch.setattr(driver.AIOKafkaConsumerThread, "commit", waits)
    task = asyncio.create_task(member.commit(OFFSETS))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("is_stopping", [True, False])
async def test_commit_on_a_closed_loop_is_not_done_only_while_stopping(
    monkeypatch: pytest.MonkeyPatch, *, is_stopping: bool
) -> None:
    """An agent in its last batch is no bug; a loop that closed by itself is one."""

    async def closed(_thread: object, _offsets: object) -> bool:
        raise RuntimeError("Event loop is closed")

    member = _member(monkeypatch, is_stopping=is_stopping)
    monkeypatch.setattr(MemberThread, "should_stop", is_stopping)
    monkeypatch.setattr(driver.AIOKafkaConsumerThread, "commit", closed)
    loop = asyncio.new_event_loop()
    loop.close()
    member.thread_loop = loop
    if is_stopping:
        assert await member.commit(OFFSETS) is False
    else:
        with pytest.raises(RuntimeError, match="closed"):
            await member.commit(OFFSETS)
