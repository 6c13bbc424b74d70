"""Two clusters in one process: a source that allows reading alone, and one for topics of ours."""

import asyncio
import os
import shlex
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from streams.attach.needs import acls
from streams.broker.connection import Connection
from tests.attach_samples import native
from tests.integration.groups import (
    QUICK,
    administrator,
    group,
    make_topic,
    send,
    unique,
)
from tests.integration.guarded_kafka import Doors, guarded_kafka, tool
from tests.integration.running import apache_kafka, groundwatch, produce, running

pytestmark = [pytest.mark.integration, pytest.mark.kafka_home]
TOPIC = "product"
GUARD = (
    "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users=User:ANONYMOUS",
    "log.cleaner.backoff.ms=200",
)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    """A cluster that refuses what is not allowed, and makes topics by itself."""
    with guarded_kafka(tmp_path_factory.mktemp("source"), *GUARD) as doors:
        yield doors


@pytest.fixture
def internal(tmp_path: Path) -> Iterator[str]:
    """A cluster of our own."""
    home = Path(os.environ["GROUNDWATCH_KAFKA_HOME"]).resolve()
    with apache_kafka(home, tmp_path / "internal", "num.partitions=4") as address:
        yield address


async def facts(address: str) -> tuple[set[str], dict[str, Any]]:
    """The topics of a cluster, and partitions and settings of the product's."""
    async with administrator(Connection(address)) as admin:
        names = {name for name in await admin.list_topics() if not name.startswith("__")}
        described = await admin.describe_topics([TOPIC])
        answers = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, TOPIC)])
    configs = {entry[0]: entry[1] for answer in answers for entry in answer.resources[0][4]}
    return names, {"partitions": len(described[0]["partitions"]), **configs}


@pytest.mark.timeout(600)
def test_reading_is_all_that_the_source_has_to_allow(source: Doors, internal: str, tmp_path: Path) -> None:
    """With the rights of docs/kafka.md and no other a deployment works, and the source is as it was."""
    asyncio.run(make_topic(Connection(source.administrator), TOPIC, 4))
    produce(source.administrator, TOPIC, [(None, native(number, datetime.now(UTC))) for number in range(20)])
    before = asyncio.run(facts(source.administrator))
    home = Path(os.environ["GROUNDWATCH_KAFKA_HOME"]).resolve()
    lines = [line for line in acls("source", "internal", [TOPIC]) if "--bootstrap-server source" in line]
    assert 2 == len(lines)
    for line in lines:
        words = shlex.split(line.replace("--bootstrap-server source ", ""))[1:]
        tool(home, "org.apache.kafka.tools.AclCommand", source.administrator, *words)
    settings = source.environment("plain", "SOURCE") | {
        "GROUNDWATCH_KAFKA__SOURCE__TOPICS": f"{TOPIC},not-there",
        "GROUNDWATCH_KAFKA__SOURCE__START": "2026-01-01T00:00:00Z",
        "GROUNDWATCH_KAFKA__SOURCE__REFRESH_SECONDS": "1",
    }
    with running(tmp_path / "data", internal, TOPIC, **settings) as run:
        run.wait_for(lambda: run.get("/api/v1/counts")["verdicts"] >= 20, 240, "verdicts")
        assert 0 == run.stop(), run.log_end()
        assert "topics_missing" in run.log_path.read_text()
    assert before == asyncio.run(facts(source.administrator))
    assert "not-there" not in before[0]


@pytest.mark.timeout(600)
def test_migrate_names_topics_that_differ(internal: str, tmp_path: Path) -> None:
    """They are left as they are: partitions, retention, sizes and copies as configured hold for new ones."""
    asyncio.run(make_topic(Connection(internal), "gw.drawn", 2, retention_ms="1000"))
    environment = {
        "GROUNDWATCH_EMBEDDED": "false",
        "GROUNDWATCH_DATA_DIR": str(tmp_path / "data"),
        "GROUNDWATCH_INGEST__SALT": "0123456789abcdef" * 2,
        "GROUNDWATCH_INGEST__MAX_MESSAGE_BYTES": "2000000",
        "GROUNDWATCH_KAFKA__INTERNAL__BOOTSTRAP_SERVERS": internal,
        "GROUNDWATCH_KAFKA__INTERNAL__PARTITIONS": "3",
        "GROUNDWATCH_KAFKA__INTERNAL__RETENTION_HOURS": "48",
    }
    log = tmp_path / "migrate.log"
    assert 0 == groundwatch("migrate", environment=environment, log_path=log).wait(60), log.read_text()
    told = " ".join(log.read_text().split())
    assert "topic gw.drawn: partitions is 2, configured is 3; it was left as it is" in told
    assert "topic gw.drawn: retention.ms is 1000, configured is 172800000" in told
    assert "gw.spans: " not in told

    async def made() -> dict[str, tuple[int, str]]:
        async with administrator(Connection(internal)) as admin:
            topics = {one["topic"]: len(one["partitions"]) for one in await admin.describe_topics()}
            ours = [name for name in topics if name.startswith("gw.")]
            answers = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, name) for name in ours])
        found = {}
        for answer in answers:
            for resource in answer.resources:
                found[resource[3]] = {entry[0]: entry[1] for entry in resource[4]}
        return {name: (topics[name], found[name]["retention.ms"]) for name in ours}

    topics = asyncio.run(made())
    assert ((2, "1000"), (3, "172800000")) == (topics["gw.drawn"], topics["gw.spans"])


def test_a_compacted_topic_is_read_and_committed_over_its_gaps(source: Doors, tmp_path: Path) -> None:
    """What compaction left is read; the rest is no loss, and holds up neither commits nor watermarks."""

    async def scenario() -> None:
        connection = Connection(source.administrator)
        quick = {"segment_ms": "100", "min_cleanable_dirty_ratio": "0.01", "max_compaction_lag_ms": "200"}
        topic = await make_topic(connection, unique("compacted"), 1, cleanup_policy="compact", **quick)
        for number in range(60):
            await send(connection, topic, [b"%d" % number], key=b"k%d" % (number % 5))
        async with asyncio.timeout(60):
            while len(await values(connection, topic, tmp_path)) > 30:
                await asyncio.sleep(1)
                await send(connection, topic, [b"again"], key=b"k0")
        reading = replace(QUICK, buffer_bytes=1_000)
        async with group(connection, unique("role"), [topic], tmp_path, reading=reading) as member:
            await member.until_idle()
            assert {b"k%d" % number for number in range(5)} == {message.key for message in member.got}
            assert member.got[-1].offset + 1 - len(member.got) >= 30
            assert {} == dict(reading.losses.messages)

    asyncio.run(scenario())


async def values(connection: Connection, topic: str, folder: Path) -> list[bytes | None]:
    """What the topic holds now."""
    async with group(connection, unique("look"), [topic], folder) as member:
        await member.until_idle()
        return member.values()
