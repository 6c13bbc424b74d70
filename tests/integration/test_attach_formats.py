"""Every format that we read, through a real process: a request in pieces, shuffled, sent twice, is one stored trace."""

import asyncio
import json
import os
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition

from streams.broker.connection import Connection
from streams.broker.topics import SPANS as OWN_SPANS
from streams.broker.topics import TopicSpec, create_topics
from streams.store import ALL_TENANTS, Store
from tests.integration.format_messages import (
    ANSWER,
    LOGS,
    QUESTION,
    SCHEMA,
    SCHEMA_ID,
    SPANS,
    TEXT,
    Case,
    cases,
    fixtures_used,
)
from tests.integration.running import Running, apache_kafka, produce, read_all, running
from tests.source_messages import FOLDER
from tests.unit.sources.registry_server import running_registry

FORMATS = {
    SPANS: {"format": "otlp", "signal": "traces"},
    LOGS: {"format": "otlp", "signal": "logs"},
    "jaeger": {"format": "jaeger"},
    "langfuse": {"format": "langfuse"},
    "langsmith": {"format": "langsmith"},
    "mlflow": {"format": "mlflow"},
    "langchain": {"format": "langchain"},
    "llamaindex": {"format": "llamaindex"},
    "native": {"format": "native"},
}
AVRO = "avro"
TOPICS = [*FORMATS, AVRO]
QUICK = {
    "GROUNDWATCH_ASSEMBLY__QUIET_SECONDS": "9",
    "GROUNDWATCH_PRIVACY__FIELDS__CONVERSATION_ID": "keep",
}


def settings(registry_url: str, *, is_told: bool) -> dict[str, str]:
    """Settings of the run; ``is_told``: every topic says what it holds, else only the one with a registry."""
    sources: list[dict[str, Any]] = [{"topic": AVRO, "format": "rag_json", "registry_url": registry_url}]
    sources += [{"topic": topic, **format_} for topic, format_ in FORMATS.items() if is_told]
    return {**QUICK, "GROUNDWATCH_SOURCES": json.dumps(sources)}


def mixed(all_cases: Sequence[Case], seed: int) -> dict[str, list[bytes]]:
    """By topic every message twice, in any order."""
    by_topic: dict[str, list[bytes]] = {}
    for case in all_cases:
        for topic, value in case.messages:
            by_topic.setdefault(topic, []).extend([value, value])
    for values in by_topic.values():
        random.Random(seed).shuffle(values)
    return by_topic


def committed(address: str, group: str, topics: Sequence[str]) -> int:
    """How many messages of these topics a group has committed; the topics begin at offset 0."""

    async def look() -> int:
        reader = AIOKafkaConsumer(*topics, bootstrap_servers=address)
        member = AIOKafkaConsumer(bootstrap_servers=address, group_id=group, enable_auto_commit=False)
        async with reader, member:
            places = [
                TopicPartition(topic, one) for topic in topics for one in reader.partitions_for_topic(topic) or ()
            ]
            member.assign(places)  # asks for offsets without joining the group
            return sum([await member.committed(place) or 0 for place in places])

    return asyncio.run(look())


def check(run: Running, address: str, wanted: Sequence[Case]) -> None:
    """Everything is read, committed and as the contract says; nothing is a dead letter."""
    sent = 2 * sum(len(case.messages) for case in wanted)
    run.wait_for(lambda: run.get("/api/v1/counts")["traces"] >= len(wanted), 90, "traces stored")
    run.wait_for(lambda: sent == committed(address, "groundwatch.ingest", TOPICS), 30, "sources committed")
    spans = len(read_all(address, OWN_SPANS))
    run.wait_for(lambda: spans == committed(address, "groundwatch.assemble", [OWN_SPANS]), 30, "spans committed")
    letters = [(dict(one.headers)["gw-reason"], one.value) for one in read_all(address, "gw.deadletter", 1, 2)]
    assert [] == letters
    assert 0 == run.stop()
    store = Store.open(f"chdb://{run.data_dir / 'store'}", read_only=True)
    try:
        assert len(wanted) == store.counts().traces
        assert {case.name: expected(case) for case in wanted} == {case.name: found(store, case) for case in wanted}
    finally:
        store.close()


def expected(case: Case) -> dict[str, Any]:
    """What must be stored of a request."""
    return {
        "question": QUESTION,
        "answer": ANSWER,
        "passages": [TEXT],
        "conversation": case.conversation,
        "slice": case.intent,
        "close_reason": case.close_reason,
        "late": 0,
    }


def found(store: Store, case: Case) -> dict[str, Any]:
    """What is stored of it."""
    stored = store.trace(case.trace_id, tenants=ALL_TENANTS)
    if stored is None:
        return {}
    trace = stored.drawn.trace
    return {
        "question": trace.question,
        "answer": trace.answer,
        "passages": [passage.text for passage in trace.passages or ()],
        "conversation": trace.conversation_id,
        "slice": (trace.intent, trace.tier.value),
        "close_reason": trace.close_reason,
        "late": trace.late_spans,
    }


def test_every_fixture_goes_through_a_broker() -> None:
    """A new format that is left out here would be a gap."""
    assert {path.name for path in FOLDER.iterdir()} | {AVRO} == fixtures_used()


@pytest.mark.integration
@pytest.mark.timeout(240)
def test_every_format_told_by_its_topic_is_stored_as_one_trace(tmp_path: Path) -> None:
    """Embedded broker; each topic's setting says what it holds."""
    pytest.importorskip("fastavro")
    wanted = cases(datetime.now(UTC))
    with running_registry() as registry:
        registry.register(SCHEMA_ID, json.dumps(SCHEMA))
        told = settings(registry.url, is_told=True)
        with running(tmp_path / "data", None, ",".join(TOPICS), **told) as run:
            for topic, values in mixed(wanted, 1).items():
                produce(run.bootstrap_servers, topic, [(None, value) for value in values])
            check(run, run.bootstrap_servers, wanted)


@pytest.mark.integration
@pytest.mark.kafka
@pytest.mark.timeout(300)
def test_every_format_recognised_on_apache_kafka(tmp_path: Path) -> None:
    """Topics of several partitions and no keys, so that the spans of a request are spread; formats are recognised."""
    pytest.importorskip("fastavro")
    home = Path(os.environ["GROUNDWATCH_KAFKA_HOME"]).resolve()
    wanted = cases(datetime.now(UTC))
    with running_registry() as registry, apache_kafka(home, tmp_path / "kafka") as address:
        registry.register(SCHEMA_ID, json.dumps(SCHEMA))
        asyncio.run(create_topics(Connection(address), [TopicSpec(topic, 3) for topic in TOPICS]))
        for topic, values in mixed(wanted, 2).items():
            produce(address, topic, [(None, value) for value in values])
        with running(tmp_path / "data", address, ",".join(TOPICS), **settings(registry.url, is_told=False)) as run:
            check(run, address, wanted)
