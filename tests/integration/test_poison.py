"""What stops a partition at its head: a message that kills the process, and a format that nobody reads."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from schemas.codec import decode, encode, schema_header
from schemas.draw import DrawnTrace
from schemas.labels import Outcome
from schemas.verdict import Verdict
from streams.broker.connection import Connection
from streams.broker.topics import DRAWN, VERDICTS, TopicSpec, create_topics
from streams.cli.program import app
from streams.deadletters.hazards import DEATHS
from streams.store import Store
from tests.builders import drawn_trace, verdict
from tests.integration.fatal_worker import DRAWN_ID, WORD
from tests.integration.running import apache_kafka, environment_for, produce, producer, read_all

pytestmark = [pytest.mark.integration, pytest.mark.kafka]
LIFE_SECONDS = 180
MAX_RUN = 5


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """An Apache Kafka of its own: roles read topics of ours whole, whoever wrote there before."""
    home = Path(os.environ["GROUNDWATCH_KAFKA_HOME"]).resolve()
    with apache_kafka(home, tmp_path / "kafka") as found:
        yield found


class Deployment:
    """One source topic, its own data folder, and lives of a process with the role ingest."""

    def __init__(self, folder: Path, address: str, topic: str) -> None:
        self.folder, self.address, self.topic = folder, address, topic
        self.environment = environment_for(folder / "data", address, topic)
        (folder / "data").mkdir()
        asyncio.run(create_topics(Connection(address), [TopicSpec(topic, 1)]))
        assert 0 == self.start("streams.cli", "migrate").wait(LIFE_SECONDS), self.log()

    def start(self, module: str, *arguments: str, **settings: str) -> "subprocess.Popen[bytes]":
        """Start a process; what it says is in the log."""
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                env={**os.environ, **self.environment, **settings}, stdout=log, stderr=log,
            )  # fmt: skip

    @contextmanager
    def life(self, **settings: str) -> Iterator["subprocess.Popen[bytes]"]:
        """A process that nothing kills from inside."""
        process = self.start("streams.cli", "run", "--roles", "ingest", **settings)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(LIFE_SECONDS)

    def log(self) -> str:
        """Everything that was said."""
        return (self.folder / "log").read_text(errors="replace")

    def wait_for(self, text: str) -> None:
        """Wait until something was said."""
        deadline = time.monotonic() + LIFE_SECONDS
        while text not in self.log():
            assert time.monotonic() < deadline, self.log()[-3000:]
            time.sleep(0.2)

    def ids(self, table: str = "traces") -> set[str]:
        """Ids of the traces in a table."""
        store = Store.open(f"chdb://{self.folder / 'data' / 'store'}", read_only=True)
        try:
            rows = store._connection.query("SELECT trace_id FROM {table:Identifier} FINAL", {"table": table})
            return {row["trace_id"] for row in rows}
        finally:
            store.close()

    def letters(self, seconds: float = 3) -> list[dict[str, bytes]]:
        """Headers of the dead letters of this topic that are there within so long."""
        found = [dict(letter.headers) for letter in read_all(self.address, "gw.deadletter", 1_000, seconds)]
        return [headers for headers in found if headers["gw-topic"] == self.topic.encode()]


def native(trace_id: str) -> tuple[bytes, bytes]:
    """A good trace of a moment ago."""
    at = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
    passages = [{"doc_id": "returns", "text": "Within 30 days."}]
    fields = {"trace_id": trace_id, "ts": at, "question": "How long?", "answer": "30 days.", "passages": passages}
    return trace_id.encode(), json.dumps(fields).encode()


@pytest.mark.timeout(1200)
def test_a_message_that_kills_the_process_is_set_aside_after_three_deaths(tmp_path: Path, address: str) -> None:
    """Whatever it dies of; the letter has the bytes, and nothing else is lost."""
    deployment = Deployment(tmp_path, address, "deadly")
    key, value = native("deadly")
    fatal = value.replace(b"How long?", WORD)
    produce(address, "deadly", [native("before"), (key, fatal), native("after")])
    assert 3 == _deaths(deployment, "ingest"), deployment.log()[-3000:]
    (letter,) = deployment.letters()
    assert (b"poison_suspected", b"ingest", b"1") == (letter["gw-reason"], letter["gw-stage"], letter["gw-offset"])
    assert [fatal] == [one.value for one in read_all(address, "gw.deadletter", 1, 5) if one.key == key]
    assert {"before", "after"} == deployment.ids()
    assert '"event": "message_set_aside"' in deployment.log()


@pytest.mark.timeout(1200)
def test_a_verdict_that_kills_the_process_is_found_in_its_batch_and_set_aside(tmp_path: Path, address: str) -> None:
    """Agents of our own topics are held to the same: a few more deaths, since nobody knows which of the batch it is."""
    deployment = Deployment(tmp_path, address, "verdicts")
    now = datetime.now(UTC)  # what is older than retention the store drops at once
    made = {name: encode(verdict(name, ts=now, verified_at=now)) for name in ("before", WORD.decode(), "after")}
    send_records(address, VERDICTS, [(name.encode(), value) for name, value in made.items()], schema_header(Verdict))
    assert DEATHS + 1 == _deaths(deployment, "sink"), deployment.log()[-3000:]
    letters = [one for one in read_all(address, "gw.deadletter", 1, 10) if one.key == WORD]
    assert [made[WORD.decode()]] == [one.value for one in letters]
    assert (b"poison_suspected", b"sink") == tuple(dict(letters[0].headers)[name] for name in ("gw-reason", "gw-stage"))
    assert {"before", "after"} == deployment.ids("verdicts")


@pytest.mark.timeout(1200)
def test_a_drawn_trace_that_kills_the_process_is_an_error_with_a_letter(tmp_path: Path, address: str) -> None:
    """It was drawn, so it has an outcome; nothing but reading it is done any more."""
    deployment = Deployment(tmp_path, address, "drawn")
    made = {name: encode(drawn_trace(name, ts=datetime.now(UTC))) for name in ("d-before", DRAWN_ID, "d-after")}
    send_records(address, DRAWN, [(name.encode(), value) for name, value in made.items()], schema_header(DrawnTrace))
    assert DEATHS + 1 == _deaths(deployment, "verify"), deployment.log()[-3000:]
    found = [decode(Verdict, one.value) for one in read_all(address, VERDICTS, 1_000, 5)]
    outcomes = {one.trace_id: one.outcome for one in found if one.trace_id in made}
    assert set(made) == set(outcomes)
    assert [DRAWN_ID] == [name for name, outcome in outcomes.items() if outcome is Outcome.ERROR_INTERNAL]
    letters = [
        dict(one.headers)["gw-stage"]
        for one in read_all(address, "gw.deadletter", 1, 10)
        if one.key == DRAWN_ID.encode()
    ]
    assert letters.count(b"verify") == 1


def send_records(address: str, topic: str, records: list[tuple[bytes, bytes]], header: tuple[str, bytes]) -> None:
    """Records of ours, all on one partition, so that they come as one batch."""

    async def send() -> None:
        async with producer(address) as made:
            batch = made.create_batch()
            for key, value in records:
                batch.append(timestamp=None, key=key, value=value, headers=[header])
            await (await made.send_batch(batch, topic, partition=0))

    asyncio.run(send())


def _deaths(deployment: Deployment, role: str) -> int:
    """How many lives end at the deadly message, as it ends them, until one sets it aside."""
    codes = []
    while (code := _life(deployment, role)) not in {0, 1}:
        codes.append(code)
    assert set(codes) <= {139, -9}
    return len(codes)


def _life(deployment: Deployment, role: str) -> int:
    """The exit code of one life; it is stopped once the deadly message was set aside."""
    process = deployment.start("tests.integration.fatal_worker", "run", "--roles", role)
    deadline = time.monotonic() + LIFE_SECONDS
    while process.poll() is None and '"event": "message_set_aside"' not in deployment.log():
        assert time.monotonic() < deadline, deployment.log()[-3000:]
        time.sleep(0.2)
    process.terminate()
    return process.wait(LIFE_SECONDS)


@pytest.mark.timeout(1200)
def test_after_the_ceiling_a_restart_gives_up_nothing_more_and_a_person_can_go_on(tmp_path: Path, address: str) -> None:
    """By skipping what nobody can read; while ingest runs, nobody moves its place."""
    limit = {"GROUNDWATCH_INGEST__DEAD_LETTER_MAX_RUN": str(MAX_RUN)}
    deployment = Deployment(tmp_path, address, "foreign")
    produce(address, "foreign", [*[(b"k", b"<xml/>")] * 20, native("t-1"), native("t-2")])
    buried = []  # a slow broker may hand out the first of them as a batch that is too short for the limit
    for _ in range(2):
        assert 65 == deployment.start("streams.cli", "run", "--roles", "ingest", **limit).wait(LIFE_SECONDS)
        buried.append(len(deployment.letters()))
    assert "dead-letter ceiling: " in deployment.log()
    assert " (not_json); mend sources" in deployment.log()
    assert '"event": "ceiling_again"' in deployment.log()
    assert buried[0] == buried[1] < MAX_RUN

    skip = ["deadletter", "skip", "--topic", "foreign", "--partition", "0", "--to", "20", "--yes", "--json"]
    runner = CliRunner(env=deployment.environment)
    deadline = time.monotonic() + LIFE_SECONDS  # the stopped process is a member until its session has ended
    while (done := runner.invoke(app, skip)).exit_code and time.monotonic() < deadline:
        time.sleep(1)
    assert 20 - buried[0] == json.loads(done.stdout)["messages"], done.exception
    with deployment.life(**limit):
        deployment.wait_for('"event": "ceiling_left_behind"')
        assert "stop every process with the role ingest" in str(runner.invoke(app, skip).exception)
    assert {"t-1", "t-2"} == deployment.ids()
    [covered] = runner.invoke(app, ["coverage", "--topic", "foreign", "--json"]).stdout.splitlines()
    found = json.loads(covered)
    expected = {"read": 22, "skipped": 20 - buried[0], "dead_letter": buried[0], "stored": 2}
    assert [] == found["broken"]
    assert expected.items() <= found["messages"].items()
