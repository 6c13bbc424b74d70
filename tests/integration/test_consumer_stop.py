"""The stop of a consumer while its fetches cannot go on: the client's own ends in a cancellation of who calls it."""

import asyncio
from pathlib import Path

import pytest
from aiokafka import TopicPartition

from streams.broker.connection import Connection
from streams.broker.consumer import KafkaConsumer
from streams.broker.embedded import embedded_broker
from streams.broker.topics import TopicSpec, create_topics

pytestmark = pytest.mark.integration
LONG_MS = 60_000
"""A fetch that failed waits so long before it is tried again."""


async def _reader(connection: Connection) -> KafkaConsumer:
    reader = KafkaConsumer(**connection.aiokafka_options(), group_id=None, retry_backoff_ms=LONG_MS)
    await reader.start()
    reader.assign([TopicPartition("traces", 0)])
    return reader


async def test_stop_while_a_fetch_waits_to_be_tried_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The connection was lost with the broker: all is closed at once, and who stops it goes on."""
    async with embedded_broker(tmp_path / "broker.log") as connection:
        await create_topics(connection, [TopicSpec("traces", 1)])
        reader = await _reader(connection)
        assert {} == await reader.getmany(timeout_ms=300)
    while "Failed fetch messages" not in caplog.text:  # noqa: ASYNC110  a line of the log sets no event
        await asyncio.sleep(0.05)
    await asyncio.wait_for(reader.stop(), 5)
    task = asyncio.current_task()
    assert task is not None
    assert 0 == task.cancelling()
