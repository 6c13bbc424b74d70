"""Leaving: groups, topics and tables are gone, and the product's topics are as they were."""

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from typer.testing import CliRunner, Result

from schemas.errors import NotReached
from streams.broker.connection import Connection
from streams.broker.topics import TopicSpec, create_topics
from streams.cli.program import app
from tests.integration.running import apache_kafka, environment_for, produce, read_all, running

TOPIC = "product.traces"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """An Apache Kafka with a topic of a product."""
    home = Path(os.environ["GROUNDWATCH_KAFKA_HOME"]).resolve()
    with apache_kafka(home, tmp_path / "kafka") as found:
        spec = TopicSpec(TOPIC, 2, config={"retention.ms": "123456789"})
        asyncio.run(create_topics(Connection(found), [spec]))
        produce(found, TOPIC, [(b"k", b"not a trace")] * 3)
        yield found


async def described(address: str) -> dict[str, Any]:
    """What the cluster has: groups, topics, and the product's topic with its settings."""
    admin = AIOKafkaAdminClient(bootstrap_servers=address)
    await admin.start()
    try:
        groups = {name for name, *_ in await admin.list_consumer_groups()}
        topics = {str(topic["topic"]): topic for topic in await admin.describe_topics()}
        (config,) = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, TOPIC)])
    finally:
        await admin.close()
    return {"groups": groups, "topics": set(topics), "ours": topics[TOPIC], "config": config.resources}


def detach(environment: dict[str, str], *arguments: str) -> Result:
    """``groundwatch detach … --json``."""
    return CliRunner(env=environment).invoke(app, ["detach", *arguments, "--json"])


@pytest.mark.integration
@pytest.mark.kafka
@pytest.mark.timeout(600)
def test_detach_leaves_nothing_behind_and_touches_nothing_else(tmp_path: Path, address: str) -> None:
    """Refused while a process is at work; asked first; a second time there is nothing."""
    environment = environment_for(tmp_path / "data", address, TOPIC)
    before = asyncio.run(described(address))
    with running(tmp_path / "data", address, TOPIC) as run:
        assert 3 == len(read_all(address, "gw.deadletter", 3, 60))
        busy = {**environment, "GROUNDWATCH_DATA_DIR": str(tmp_path / "another machine")}
        refused = detach(busy, "--yes")
        assert isinstance(refused.exception, NotReached)
        assert "still at work: groundwatch." in str(refused.exception)
        assert "127.0.0.1" in str(refused.exception)
        beside = detach(environment, "--yes")
        assert "stop it, then detach" in str(beside.exception)
        assert 0 == run.stop()
    during = asyncio.run(described(address))
    assert {"gw.deadletter", "gw.policy"} < during["topics"]

    planned = json.loads(detach(environment, "--dry-run", "--store").stdout)
    assert during == asyncio.run(described(address))
    names = {group["name"] for group in planned["groups"]}
    assert {"groundwatch.ingest", "groundwatch.verify", "groundwatch.sink", "groundwatch.alert"} <= names
    unsure = CliRunner(env=environment).invoke(app, ["detach"], input="n\n")
    assert (1, during) == (unsure.exit_code, asyncio.run(described(address)))

    kept = json.loads(detach(environment, "--keep-topics", "--yes").stdout)
    assert (names, []) == ({group["name"] for group in kept["groups"]}, kept["topics"])
    assert during["topics"] == asyncio.run(described(address))["topics"]
    done = json.loads(detach(environment, "--yes", "--store").stdout)
    assert (set(planned["topics"]), planned["tables"], False) == (
        set(done["topics"]),
        done["tables"],
        done["is_dry_run"],
    )
    assert {"traces", "verdicts", "migrations", "dirty_by_traces"} <= set(done["tables"])
    after = asyncio.run(described(address))
    assert (before["ours"], before["config"]) == (after["ours"], after["config"])
    assert (before["groups"], before["topics"] | {"__consumer_offsets"}) == (after["groups"], after["topics"])
    again = json.loads(detach(environment, "--yes", "--store").stdout)
    assert {"groups": [], "topics": [], "tables": [], "is_dry_run": False, "left": [], "remedies": []} == again
    assert 3 == len(read_all(address, TOPIC, 3))


def test_an_embedded_deployment_has_nothing_to_detach(tmp_path: Path) -> None:
    """Its broker ends with its process."""
    found = detach({"GROUNDWATCH_DATA_DIR": str(tmp_path)}, "--yes")
    assert isinstance(found.exception, NotReached)
    assert "leaves nothing" in str(found.exception)
