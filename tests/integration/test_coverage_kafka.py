"""Coverage of a real topic: transactions, copies, junk, spans, a kill in between; and what was committed unread."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from streams.broker.connection import Connection
from streams.broker.topics import TopicSpec, create_topics
from streams.cli.exits import ExitCode
from tests.chaos.load import in_order, requests, send
from tests.integration.running import Running, apache_kafka, environment_for, produce, producer, running
from tests.integration.test_end_to_end import native

pytestmark = [pytest.mark.integration, pytest.mark.kafka, pytest.mark.timeout(240)]
TOPIC = "traces"
REQUESTS, IN_TRANSACTIONS, JUNK, COPIES, UNREAD = 30, 10, 5, 3, 4
QUICK = {"GROUNDWATCH_ASSEMBLY__GRACE_SECONDS": "1", "GROUNDWATCH_ASSEMBLY__QUIET_SECONDS": "5"}


async def in_transactions(address: str, first: bytes) -> None:
    """Traces in a transaction that is committed, the ``first`` among them, and as many in one that is not."""
    made = AIOKafkaProducer(bootstrap_servers=address, transactional_id="test")
    await made.start()
    try:
        for name, is_committed in (("kept", True), ("aborted", False)):
            await made.begin_transaction()
            for number in range(IN_TRANSACTIONS):
                value = native(f"{name}-{number}") if number or not is_committed else first
                await made.send(TOPIC, value=value, partition=number % 3)
            await (made.commit_transaction() if is_committed else made.abort_transaction())
    finally:
        await made.stop()


async def commit_unread(address: str) -> None:
    """Send messages and commit past them without reading any, as a loss would look from outside."""
    place = TopicPartition(TOPIC, 1)
    async with producer(address) as made:
        for number in range(UNREAD):
            await made.send_and_wait(TOPIC, value=native(f"unread-{number}"), partition=place.partition)
    member = AIOKafkaConsumer(bootstrap_servers=address, group_id="groundwatch.ingest", enable_auto_commit=False)
    await member.start()
    try:
        member.assign([place])
        [end] = (await member.end_offsets([place])).values()
        await member.commit({place: end})
    finally:
        await member.stop()


def coverage(environment: dict[str, str]) -> tuple[int, dict[str, Any]]:
    """Exit code and answer of the command."""
    command = [sys.executable, "-m", "streams.cli", "coverage", "--json", "--topic", TOPIC]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False, env={**os.environ, **environment})
    return done.returncode, json.loads(done.stdout or "{}")


def test_everything_is_accounted_for_and_a_loss_is_named(kafka_home: Path, tmp_path: Path) -> None:
    """Over a kill and a restart the sums hold and nothing counts twice; what was committed unread is missing."""
    data_dir = tmp_path / "data"
    with apache_kafka(kafka_home, tmp_path / "kafka") as kafka:
        environment = environment_for(data_dir, kafka, TOPIC)
        asyncio.run(create_topics(Connection(kafka), [TopicSpec(TOPIC, 3)]))
        first = native("kept-0")
        made = list(requests(range(REQUESTS), datetime.now(UTC), 7, low=500, high=1_500))
        with running(data_dir, kafka, TOPIC, **QUICK) as process:
            asyncio.run(send(kafka, TOPIC, in_order(made, 7)))
            asyncio.run(in_transactions(kafka, first))
            process.wait_for(lambda: process.get("/api/v1/counts")["traces"] > 0, 60, "something is stored")
            process.stop(signal.SIGKILL)
        produce(kafka, TOPIC, [(b"junk", b"{no json")] * JUNK + [(b"copy", first)] * COPIES)
        with running(data_dir, kafka, TOPIC, **QUICK) as process:
            process.wait_for(lambda: _is_done(process), 120, "all is done", lambda: _found(process))
            code, found = coverage(environment)
            assert (ExitCode.OK, []) == (code, found["broken"])
            assert 0 == process.stop()
        messages, traces = found["messages"], found["traces"]
        assert (JUNK, COPIES, 0) == (messages["dead_letter"], messages["duplicate"], messages["missing"])
        assert messages["no_message"] >= IN_TRANSACTIONS, "the messages of the aborted one, and the markers of both"
        assert REQUESTS + IN_TRANSACTIONS == traces["stored"] == traces["drawn"] + traces["not_drawn"]
        assert traces["drawn"] == traces["judged"] + traces["errors"] + traces["unresolved"]

        asyncio.run(commit_unread(kafka))
        code, found = coverage(environment)
        assert (ExitCode.FOUND_FAULTS, UNREAD) == (code, found["messages"]["missing"])
        assert f"{TOPIC}-1 at " in found["broken"][0]


def _found(process: Running) -> dict[str, Any]:
    [found] = process.get(f"/api/v1/coverage?topic={TOPIC}")
    return dict(found)


def _is_done(process: Running) -> bool:
    found = _found(process)
    messages, traces = found["messages"], found["traces"]
    nothing_left = not messages["waiting"] and not any(found["in_flight"].values()) and not traces["pending"]
    return bool(nothing_left and messages["duplicate"] == COPIES and traces["stored"] == REQUESTS + IN_TRANSACTIONS)
