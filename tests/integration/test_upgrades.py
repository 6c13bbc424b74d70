"""Workers of two versions beside each other: each reads what the other writes, or waits to be upgraded."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from streams.broker.connection import Connection
from streams.broker.topics import TopicSpec, create_topics
from tests.integration.running import apache_kafka, environment_for, produce, read_all

TOPIC = "traces"
SECONDS = 120
HALF = 20


def native(number: int) -> tuple[bytes, bytes]:
    """A good trace of a moment ago."""
    at = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
    passages = [{"doc_id": "returns", "text": "Within 30 days."}]
    fields = {"trace_id": f"t-{number}", "ts": at, "question": "How long?", "answer": "Within 30 days of delivery."}
    return b"%d" % number, json.dumps({**fields, "passages": passages, "tier": "high"}).encode()


@contextmanager
def worker(folder: Path, address: str, roles: str, schema: str = "") -> Iterator["subprocess.Popen[bytes]"]:
    """A process with these roles, of this version or of one that writes ``schema``."""
    folder.mkdir(exist_ok=True)
    newer = {"GROUNDWATCH_TEST_SCHEMA": schema} if schema else {}
    module = "tests.integration.newer_worker" if schema else "streams.cli"
    quick = {"GROUNDWATCH_DRAIN_SECONDS": "3"}  # a worker whose batch waits for an upgrade never drains: 75
    environment = {**os.environ, **environment_for(folder, address, TOPIC), **newer, **quick}
    (folder / "run.json").unlink(missing_ok=True)
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", module, "run", "--roles", roles], env=environment, stdout=log, stderr=log
        )
    try:
        yield process
        process.terminate()
        assert process.wait(SECONDS) in {0, 75}, (folder / "log").read_text()[-3000:]
    finally:
        process.kill()


def until(is_so: Callable[[], bool], *folders: Path) -> None:
    """Wait; fails with what the processes said."""
    deadline = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < deadline, [(folder / "log").read_text()[-2000:] for folder in folders]
        time.sleep(0.3)


def counts(folder: Path) -> dict[str, Any]:
    """What the store of that process holds; empty while it starts."""
    try:
        address = json.loads((folder / "run.json").read_text())
        headers = {"Authorization": f"Bearer {address['token']}"}
        answer = httpx.get(f"{address['url']}/api/v1/counts", headers=headers, timeout=20, trust_env=False)
        found: dict[str, Any] = answer.json()
    except (OSError, ValueError, httpx.HTTPError):
        return {}
    return found


@pytest.mark.integration
@pytest.mark.kafka
@pytest.mark.timeout(480)
def test_a_rolling_upgrade_loses_nothing_in_either_direction(tmp_path: Path) -> None:
    """A minor version is read both ways; a major one waits until the reader is upgraded; there are no dead letters."""
    main, verify = tmp_path / "main", tmp_path / "verify"
    home = Path(os.environ["GROUNDWATCH_KAFKA_HOME"]).resolve()
    roles = "ingest,sink,alert,web"
    with apache_kafka(home, tmp_path / "kafka") as address:
        asyncio.run(create_topics(Connection(address), [TopicSpec(TOPIC, 2)]))
        migrate = [sys.executable, "-m", "streams.cli", "migrate"]
        for folder in (main, verify):
            environment = {**os.environ, **environment_for(folder, address, TOPIC)}
            subprocess.run(migrate, env=environment, check=True, capture_output=True, timeout=SECONDS)
        produce(address, TOPIC, [native(number) for number in range(HALF)])
        with worker(verify, address, "verify"):
            with worker(main, address, roles, "1.1"):
                until(lambda: counts(main).get("drawn", 0) == counts(main).get("verdicts", -1) > 0, main, verify)
                until(lambda: counts(main).get("traces") == HALF, main)
            with worker(main, address, roles, "2.0"):
                produce(address, TOPIC, [native(number) for number in range(HALF, 2 * HALF)])
                until(lambda: counts(main).get("traces") == 2 * HALF, main)
                until(lambda: "DrawnTrace/2.0 comes from a newer groundwatch" in (verify / "log").read_text(), verify)
        with worker(main, address, roles, "2.0"), worker(verify, address, "verify", "2.0"):
            until(lambda: counts(main).get("drawn", 0) == counts(main).get("verdicts", -1) > 0, main, verify)
            assert 2 * HALF == counts(main)["traces"]
        schemas = {dict(one.headers)["gw-schema"] for one in read_all(address, "gw.drawn", 1, 5)}
        assert {b"DrawnTrace/1.1", b"DrawnTrace/2.0"} == schemas
        assert [] == read_all(address, "gw.deadletter", 1, 3)
