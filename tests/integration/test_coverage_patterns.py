"""Coverage where topics are read by pattern: also of those of which nothing was read yet, and never of others."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from streams.broker.connection import Connection
from streams.broker.topics import TopicSpec, create_topics
from streams.cli.program import app
from tests.integration.running import apache_kafka, environment_for, produce, running
from tests.integration.test_end_to_end import native

pytestmark = [pytest.mark.integration, pytest.mark.kafka, pytest.mark.timeout(900)]
PATIENCE_SECONDS = 120.0
PATTERN = {"GROUNDWATCH_KAFKA__SOURCE__TOPICS": "", "GROUNDWATCH_KAFKA__SOURCE__TOPIC_PATTERN": r"rag\..*"}


def coverage(environment: dict[str, str]) -> dict[str, Any]:
    """What the command says of each topic; a broker or a store that is too busy to be asked is asked again."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (done := CliRunner(env=environment).invoke(app, ["coverage", "--json"])).exit_code:
        assert time.monotonic() < deadline, (done.output, done.exception)
        time.sleep(1)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {one["topic"]: one for one in found}


def test_topics_of_a_pattern_are_accounted_for_from_the_moment_they_are_there(kafka_home: Path, tmp_path: Path) -> None:
    """Read ones in full, a new one as waiting; asked of a running process and of a stopped one."""
    with apache_kafka(kafka_home, tmp_path / "kafka") as kafka:
        asyncio.run(create_topics(Connection(kafka), [TopicSpec("rag.a", 2), TopicSpec("other", 1)]))
        produce(kafka, "rag.a", [(b"a", native(f"a-{number}")) for number in range(3)] + [(b"b", b"{no json")])
        produce(kafka, "other", [(b"a", native("other"))])
        data_dir = tmp_path / "data"
        environment = environment_for(data_dir, kafka, "rag.a") | PATTERN
        with running(data_dir, kafka, "rag.a", **PATTERN) as process:

            def is_read() -> bool:
                try:
                    (found,) = process.get("/api/v1/coverage")
                except httpx.HTTPStatusError:  # broker or store are too busy to be asked: 503
                    return False
                return bool(found["messages"]["read"] == 4 and not found["traces"]["pending"])

            process.wait_for(is_read, 240, "all is read and judged")
            assert {"rag.a"} == coverage(environment).keys()
            assert 0 == process.stop()
        asyncio.run(create_topics(Connection(kafka), [TopicSpec("rag.b", 1)]))
        produce(kafka, "rag.b", [(b"a", native(f"b-{number}")) for number in range(2)])
        found = coverage(environment)
    assert {"rag.a", "rag.b"} == found.keys()
    assert {"read": 4, "stored": 3, "dead_letter": 1, "missing": 0}.items() <= found["rag.a"]["messages"].items()
    assert {"produced": 2, "waiting": 2, "read": 0, "missing": 0}.items() <= found["rag.b"]["messages"].items()
