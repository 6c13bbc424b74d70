"""A replay through a real broker: what arrives, under which key, with which stamp."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, ConsumerRecord
from typer.testing import CliRunner

from schemas.errors import BrokerUnavailable
from streams.broker.connection import Connection
from streams.broker.embedded import embedded_broker, free_port
from streams.broker.topics import TopicSpec, create_topics
from streams.cli.program import app
from streams.cli.replaying import Recorded, Stamp, due_at_rate, understand
from streams.cli.sending import Sent, Target, send_all
from tests.builders import trace

pytestmark = pytest.mark.integration
LIMIT = 1_000_000


@pytest.fixture
async def broker(tmp_path: Path) -> AsyncIterator[Connection]:
    """A broker of its own with the topic `traces`."""
    async with embedded_broker(tmp_path / "broker.log") as connection:
        await create_topics(connection, [TopicSpec("traces", 2)])
        yield connection


async def arrived(connection: Connection, count: int) -> list[ConsumerRecord]:
    """The first ``count`` messages of the topic."""
    consumer = AIOKafkaConsumer("traces", **connection.aiokafka_options(), auto_offset_reset="earliest")
    await consumer.start()
    try:
        return [await asyncio.wait_for(consumer.getone(), 20) for _ in range(count)]
    finally:
        await consumer.stop()


def lines(*contents: bytes) -> list[Recorded]:
    """Recorded lines."""
    return [understand(content) for content in contents]


async def test_every_line_arrives_and_bad_ones_as_they_are(broker: Connection) -> None:
    """Key is the trace id; event time is the time of sending."""
    began = datetime.now(UTC)
    good = trace("t-1", ts="2020-01-01T00:00:00Z").model_dump_json(exclude_none=True).encode()
    seen: list[Sent] = []
    due = due_at_rate(lines(good, b"not json"), 0)
    counts = await send_all(Target(broker, "traces", LIMIT), due, Stamp(), seen.append)
    assert (2, 1, 0) == (counts.sent, counts.not_json, counts.refused)
    messages = {message.key: message.value for message in await arrived(broker, 2)}
    assert messages[None] == b"not json"
    assert datetime.fromisoformat(json.loads(messages[b"t-1"])["ts"]) >= began
    assert seen


async def test_kept_time_carries_its_header(broker: Connection) -> None:
    """So that ingest knows that the old time is meant."""
    await send_all(
        Target(broker, "traces", LIMIT), due_at_rate(lines(b"{}"), 0), Stamp(keeps_time=True), lambda _: None
    )
    (message,) = await arrived(broker, 1)
    assert (("gw-keep-time", b"1"),) == tuple(message.headers)


async def test_too_large_line_is_counted_and_stops_nothing(broker: Connection) -> None:
    """The rest goes on."""
    large = json.dumps({"trace_id": "x", "answer": "a" * 20_000}).encode()
    counts = await send_all(
        Target(broker, "traces", 10_000), due_at_rate(lines(large, b"{}"), 0), Stamp(), lambda _: None
    )
    assert (1, 1) == (counts.sent, counts.refused)


async def test_unreachable_broker_is_named() -> None:
    """An error that a user understands."""
    nowhere = Connection(f"127.0.0.1:{free_port()}")
    with pytest.raises(BrokerUnavailable):
        await send_all(Target(nowhere, "traces", LIMIT), due_at_rate(lines(b"{}"), 0), Stamp(), lambda _: None)


def test_command_replays_a_file_and_prints_a_summary(broker: Connection, tmp_path: Path) -> None:
    """Through settings, file, producer and broker."""
    config = tmp_path / "own.yaml"
    config.write_text(
        f"embedded: false\nkafka: {{source: {{bootstrap_servers: '{broker.bootstrap_servers}'}}}}", encoding="utf-8"
    )
    recorded = tmp_path / "t.jsonl"
    recorded.write_bytes(b"\n".join(trace(f"t-{n}").model_dump_json().encode() for n in range(50)))
    result = CliRunner().invoke(app, ["replay", str(recorded), "-c", str(config), "--rate", "0", "--json"])
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert (50, 0, 0) == (summary["sent"], summary["not_json"], summary["refused"])
