"""The program of the page for producers against a real broker: what it sends arrives and is read."""

import asyncio
import os
import sys
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer

from streams.broker.embedded import embedded_broker
from streams.broker.topics import TopicSpec, create_topics
from streams.messages import Message
from streams.sources.native import decode_native
from tests.builders import NOW
from tests.unit.test_producer_page import blocks

pytestmark = pytest.mark.integration


async def test_the_program_runs_and_its_trace_is_read(tmp_path: Path) -> None:
    """In a process of its own, with nothing changed but the address."""
    (program,) = blocks("python")
    async with embedded_broker(tmp_path / "broker.log") as connection:
        await create_topics(connection, [TopicSpec("rag-answers", 1)])
        surroundings = {**os.environ, "KAFKA": connection.bootstrap_servers}
        process = await asyncio.create_subprocess_exec(sys.executable, "-W", "error", "-c", program, env=surroundings)
        assert 0 == await asyncio.wait_for(process.wait(), 60)
        consumer = AIOKafkaConsumer("rag-answers", **connection.aiokafka_options(), auto_offset_reset="earliest")
        await consumer.start()
        try:
            record = await asyncio.wait_for(consumer.getone(), 20)
        finally:
            await consumer.stop()
    message = Message(record.topic, 0, record.offset, record.key, record.value, (), NOW.replace(year=2100))
    assert (record.key.decode(), "returns") == (decode_native(message).trace_id, decode_native(message).intent)
