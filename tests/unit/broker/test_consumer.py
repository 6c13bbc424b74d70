"""Who stops a consumer and is cancelled meanwhile stays cancelled."""

import asyncio

import pytest
from aiokafka import AIOKafkaConsumer

from streams.broker.consumer import KafkaConsumer


async def test_task_that_is_cancelled_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not taken for a cancellation by the client."""
    never = asyncio.Event()

    async def waits(_consumer: object) -> None:
        await never.wait()

    monkeypatch.setattr(AIOKafkaConsumer, "stop", waits)
    task = asyncio.create_task(KafkaConsumer.__new__(KafkaConsumer).stop())  # nothing of it is used before
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
