"""``attach`` on real brokers: what it reads, what it leaves behind (nothing), and what it says when it may not read."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiokafka.admin import AIOKafkaAdminClient

from streams.attach.topics import BEGINNING, Wanted, read_topics
from streams.broker.connection import Connection
from streams.broker.embedded import embedded_broker
from streams.broker.topics import TopicSpec, create_topics
from streams.cli.shapes import SHAPES
from tests.attach_samples import INTENTS, mixed
from tests.integration.running import apache_kafka, producer

TRACES = 400
PARTITIONS = 64


async def fill(address: str, topic: str, values: list[bytes]) -> None:
    """Nil keys, the spans of a trace over the partitions; a message every 50 ms up to now, by their record times."""
    began_ms = int(time.time() * 1000) - 50 * len(values)
    async with producer(address) as made:
        for first in range(0, len(values), 200):
            futures = [
                await made.send(topic, value=value, partition=n * 7 % PARTITIONS, timestamp_ms=began_ms + 50 * n)
                for n, value in enumerate(values[first : first + 200], start=first)
            ]
            await asyncio.gather(*futures)


async def groups(address: str) -> list[str]:
    """The consumer groups that the broker knows."""
    admin = AIOKafkaAdminClient(bootstrap_servers=address)
    await admin.start()
    try:
        return [name for name, *_ in await admin.list_consumer_groups()]
    finally:
        await admin.close()


def attach(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder of its own."""
    return subprocess.run(
        [sys.executable, "-m", "streams.cli", "attach", *arguments],
        capture_output=True, text=True, check=False, cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **environment},
    )  # fmt: skip


def report(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Its JSON, in the shape that scripts rely on."""
    assert 0 == done.returncode, done.stderr[-3000:]
    SHAPES["attach"].model_validate_json(done.stdout)
    return dict(json.loads(done.stdout))


def check(found: dict[str, Any], most: int) -> None:
    """What is true of the mixed topic whatever broker it is on; up to ``most`` messages were read."""
    (topic,) = found["topics"]
    assert PARTITIONS == topic["partitions"]
    assert 0.8 * most <= found["messages"] <= most
    assert {"otlp_proto", "otlp_json_traces", "native_json", "unknown"} == {form["encoding"] for form in found["forms"]}
    assert {"openinference", "native_json"} == {name for form in found["forms"] for name in form["conventions"]}
    assert 0.97 < found["decoded_share"] < 1
    assert ["not_json"] == [problem["reason"] for problem in found["problems"]]
    assert 1.0 == found["coverage"]["no_key_share"]
    assert found["coverage"]["spread_share"] > 0.9
    assert set(INTENTS) == {row["intent"] for row in found["dry_run"]["outcomes"]}


@pytest.mark.integration
async def test_embedded_broker_is_read_like_any_other(tmp_path: Path) -> None:
    """All of a small topic of 64 partitions; no group afterwards."""
    values = mixed(100)
    async with embedded_broker(tmp_path / "broker.log") as connection:
        await create_topics(connection, [TopicSpec("otlp", PARTITIONS)])
        address = connection.bootstrap_servers
        await fill(address, "otlp", values)
        arguments = ("--bootstrap", address, "--topic", "otlp", "--json", "--dry-run", "-n", "5000")
        done = await asyncio.to_thread(attach, *arguments, folder=tmp_path)
        check(report(done), len(values))
        absent = await asyncio.to_thread(attach, "--bootstrap", address, "--topic", "olpt", folder=tmp_path)
        assert 1 == absent.returncode
        assert "did you mean otlp?" in absent.stderr
        assert not await asyncio.to_thread((tmp_path / "groundwatch.yaml").exists)


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Apache Kafka with a mixed topic of 64 partitions, nil keys, and an empty one."""
    home = Path(os.environ["GROUNDWATCH_KAFKA_HOME"]).resolve()
    with apache_kafka(home, tmp_path_factory.mktemp("kafka") / "data", "auto.create.topics.enable=true") as address:
        topics = [TopicSpec("otlp", PARTITIONS), TopicSpec("empty", 3)]
        asyncio.run(create_topics(Connection(address), topics))
        asyncio.run(fill(address, "otlp", mixed(TRACES)))
        yield address


@pytest.mark.integration
@pytest.mark.kafka
def test_newest_messages_of_64_partitions_without_a_group(kafka: str, tmp_path: Path) -> None:
    """Spread over all partitions, read with no group left behind, and no topic made by asking for it."""
    done = attach("--bootstrap", kafka, "--topic", "otlp", "--json", "--dry-run", folder=tmp_path)
    found = report(done)
    check(found, 500)
    assert [] == asyncio.run(groups(kafka))
    assert found["topics"][0]["max_message_bytes"]
    missing = attach("--bootstrap", kafka, "--topic", "other", folder=tmp_path)
    assert (1, True) == (missing.returncode, "shows no topic other" in missing.stderr)
    assert "other" not in asyncio.run(topic_names(kafka))
    empty = attach("--bootstrap", kafka, "--topic", "empty", folder=tmp_path)
    assert (1, True) == (empty.returncode, "empty: empty" in empty.stderr)


@pytest.mark.integration
@pytest.mark.kafka
def test_the_newest_stretch_of_every_partition_is_read(kafka: str) -> None:
    """One stretch of time over all partitions, without gaps and up to their ends; so most of its traces are whole."""
    found = asyncio.run(read_topics(Connection(kafka), ["otlp"], Wanted(count=640)))
    by_partition: dict[int, list[int]] = {}
    for message in found.messages:
        by_partition.setdefault(message.partition, []).append(message.offset)
    assert PARTITIONS == len(by_partition)
    assert 500 <= len(found.messages) <= 640
    assert all(offsets == list(range(offsets[0], offsets[0] + len(offsets))) for offsets in by_partition.values())
    (topic,) = found.topics
    everything = asyncio.run(read_topics(Connection(kafka), ["otlp"], Wanted(count=50_000, start=BEGINNING)))
    assert topic.available == len(everything.messages)
    newest = {message.partition: message.offset for message in everything.messages}
    assert newest == {partition: offsets[-1] for partition, offsets in by_partition.items()}


@pytest.mark.integration
@pytest.mark.kafka
def test_most_of_a_sample_is_whole_traces(kafka: str, tmp_path: Path) -> None:
    """From either end of the topic."""
    for since in ("latest", "earliest"):
        found = report(attach("--bootstrap", kafka, "--topic", "otlp", "--json", "--from", since, folder=tmp_path))
        assert found["whole_traces"] > 0.8 * found["traces"], since


async def topic_names(address: str) -> list[str]:
    """All topics."""
    admin = AIOKafkaAdminClient(bootstrap_servers=address)
    await admin.start()
    try:
        return list(await admin.list_topics())
    finally:
        await admin.close()
