"""Dead letters as an engineer meets them: a wrong mapping, its letters, the mended mapping, and everything is there."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from streams.broker.connection import Connection
from streams.broker.topics import TopicSpec, create_topics
from streams.cli.program import app
from streams.store import Store
from tests.integration.running import Running, apache_kafka, environment_for, produce, read_all, running

TOPIC = "traces"
MAPPED = 30
MAPPING = """
name: answers
kind: trace
fields: {{trace_id: "{id}", ts: "at", question: "ask", answer: "say", passages: "hits", intent: "area"}}
"""
JUNK = b"\x1b[2Jjunk \xff\x00"


@pytest.fixture(
    params=[
        pytest.param("embedded", marks=pytest.mark.integration),
        pytest.param("kafka", marks=[pytest.mark.integration, pytest.mark.kafka]),
    ]
)
def process(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Running, str | None]]:
    """A process whose mapping looks for the id in the wrong place; its broker's address where that is Apache Kafka."""
    config = tmp_path / "groundwatch.yaml"
    config.write_text(f"sources: [{{topic: {TOPIC}, format: mapping, mapping: {mapping(tmp_path)}}}]\n")
    set_id(tmp_path, "nowhere")
    own = {"GROUNDWATCH_CONFIG": str(config)}
    if request.param == "embedded":
        with running(tmp_path / "data", None, TOPIC, **own) as found:
            yield found, None
        return
    home = Path(os.environ["GROUNDWATCH_KAFKA_HOME"]).resolve()
    with apache_kafka(home, tmp_path / "kafka") as address:
        asyncio.run(create_topics(Connection(address), [TopicSpec(TOPIC, 2)]))
        with running(tmp_path / "data", address, TOPIC, **own) as found:
            yield found, address


def mapping(folder: Path) -> Path:
    """The mapping file."""
    return folder / "answers.yaml"


def set_id(folder: Path, field: str) -> None:
    """Say where the id is."""
    mapping(folder).write_text(MAPPING.format(id=field))


def answers(name: str, count: int, first: int = 0) -> list[tuple[bytes | None, bytes | None]]:
    """Messages of a product's own format with the id under ``name``."""
    at = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
    rest = {"at": at, "ask": "How long?", "say": "Within 30 days.", "hits": [{"text": "Within 30 days."}], "area": "x"}
    return [(b"k%d" % n, json.dumps({name: f"t-{n}", **rest}).encode()) for n in range(first, first + count)]


def deadletter(run: Running, kafka: str | None, *arguments: str) -> tuple[int, list[dict[str, Any]]]:
    """``groundwatch deadletter … --json``: exit code and lines."""
    folder = run.data_dir.parent
    environment = environment_for(run.data_dir, kafka, TOPIC) | {"GROUNDWATCH_CONFIG": str(folder / "groundwatch.yaml")}
    done = CliRunner(env=environment).invoke(app, ["deadletter", *arguments, "--json"])
    assert done.exit_code in {0, 1}, done
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, [json.loads(line) for line in done.stdout.splitlines()]


def directly(run: Running, kafka: str, *arguments: str) -> tuple[int, int]:
    """As a command of its own, with nothing but the result on standard output: exit code, and what was taken in."""
    folder = run.data_dir.parent
    environment = environment_for(run.data_dir, kafka, TOPIC) | {"GROUNDWATCH_CONFIG": str(folder / "groundwatch.yaml")}
    done = subprocess.run(
        [sys.executable, "-m", "streams.cli", "deadletter", *arguments, "--json"],
        env={**os.environ, **environment}, capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout)["taken_in"]


def wait_for_counts(run: Running, **expected: int) -> None:
    """Wait until the store holds so much, and not more."""
    run.wait_for(lambda: expected.items() <= run.get("/api/v1/counts").items(), 60, str(expected))


@pytest.mark.timeout(600)
def test_letters_of_a_wrong_mapping_are_taken_in_once_it_is_mended(process: tuple[Running, str | None]) -> None:
    """Without a restart; each counts once, and what is still unreadable stays on the list."""
    run, kafka = process
    folder = run.data_dir.parent
    address = kafka or run.bootstrap_servers
    sent = [*answers("req", MAPPED), (b"junk\x1b", JUNK)]
    produce(address, TOPIC, sent)
    letters = read_all(address, "gw.deadletter", len(sent), 30)
    assert {value for _, value in sent} == {letter.value for letter in letters}

    code, listed = deadletter(run, kafka, "list", "--limit", "100")
    assert (0, len(sent)) == (code, len(listed))
    assert {"mapping/answers", "mapping"} == {letter["decoder"] for letter in listed}
    (junk,) = [letter for letter in listed if letter["reason"] == "not_json"]
    _, (shown,) = deadletter(run, kafka, "show", junk["letter"])
    assert ("junk\\x1b", True) == (shown["key"], shown["preview"].isprintable())
    raw = folder / "raw"
    assert 0 == deadletter(run, kafka, "show", junk["letter"], "--raw", str(raw))[0]
    assert JUNK == raw.read_bytes()
    assert (1, len(sent)) == refused(deadletter(run, kafka, "replay", "--all", "--dry-run"))

    set_id(folder, "req")
    code, (counts,) = deadletter(run, kafka, "replay", "--all", "--dry-run")
    assert (1, MAPPED, 1) == (code, counts["readable"], counts["refused"])
    assert 0 == run.get("/api/v1/counts")["traces"]
    code, (counts,) = deadletter(run, kafka, "replay", "--reason", "missing_field")
    assert (0, MAPPED, 0) == (code, counts["taken_in"], counts["refused"])
    wait_for_counts(run, traces=MAPPED, verdicts=run.get("/api/v1/counts")["drawn"])
    assert [junk["letter"]] == [letter["letter"] for letter in deadletter(run, kafka, "list")[1]]
    assert len(sent) == sum(group["letters"] for group in deadletter(run, kafka, "summary")[1])
    assert (1, 1) == refused(deadletter(run, kafka, "replay", "--all"))
    assert MAPPED == run.get("/api/v1/counts")["traces"]

    produce(address, TOPIC, answers("request", 5, first=100))
    read_all(address, "gw.deadletter", 2 * MAPPED + 6, 10)
    assert 0 == run.stop()
    set_id(folder, "request")
    if kafka is None:
        return
    assert (0, 5) == directly(run, kafka, "replay", "--topic", TOPIC, "--reason", "missing_field")
    store = Store.open(f"chdb://{run.data_dir / 'store'}", read_only=True)
    try:
        assert MAPPED + 5 == store.counts().traces
    finally:
        store.close()


def refused(answer: tuple[int, list[dict[str, Any]]]) -> tuple[int, int]:
    """Exit code, and how many letters were refused."""
    code, (counts,) = answer
    return code, counts["refused"]
