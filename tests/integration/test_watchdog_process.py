"""Real processes with a fault that nobody sees from outside: each is ended with 79 and says why; no work is lost."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from streams.cli.exits import ExitCode
from tests.integration.running import apache_kafka, environment_for, groundwatch, produce
from tests.integration.stalling import VARIABLE
from tests.integration.test_end_to_end import native

pytestmark = [pytest.mark.integration, pytest.mark.timeout(240)]
QUICK = {
    "GROUNDWATCH_HEALTH__STALL_SECONDS": "6",
    "GROUNDWATCH_HEALTH__BATCH_SECONDS": "10",
    "GROUNDWATCH_HEALTH__LOOP_SECONDS": "6",
    "GROUNDWATCH_HEALTH__LAG_SECONDS": "1",
}
PATIENCE_SECONDS = 120.0


@dataclass
class Faulty:
    """A process with a fault, or with none."""

    process: subprocess.Popen[bytes]
    data_dir: Path

    def probe(self, path: str) -> httpx.Response | None:
        """An answer of its probes, None when nobody answers."""
        try:
            [file] = (self.data_dir / "health").glob("*.json")
            return httpx.get(json.loads(file.read_text())["url"] + path, timeout=10, trust_env=False)
        except (ValueError, OSError, httpx.HTTPError):
            return None

    def is_ready(self) -> bool:
        """Whether /readyz says so."""
        answer = self.probe("/readyz")
        return answer is not None and answer.status_code == 200

    def metric(self, line: str) -> float:
        """A sample of /metrics, 0 when it is not there."""
        answer = self.probe("/metrics")
        found = re.search(rf"^{re.escape(line)} (\S+)$", answer.text if answer else "", re.MULTILINE)
        return float(found[1]) if found else 0.0

    def log(self) -> str:
        """All that it wrote."""
        return (self.data_dir / "run.log").read_text(errors="replace")

    def wait_for(self, is_so: Callable[[], bool], what: str) -> None:
        """Wait while it lives; fails with the end of its log."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not is_so():
            assert self.process.poll() is None, f"ended with {self.process.returncode}: {self.log()[-2500:]}"
            assert time.monotonic() < deadline, f"{what}: {self.log()[-2500:]}"
            time.sleep(0.2)

    def stall(self) -> dict[str, str]:
        """The line with which the watchdog ended it."""
        assert ExitCode.STALLED == self.process.wait(PATIENCE_SECONDS), self.log()[-2500:]
        found = [json.loads(line) for line in self.log().splitlines() if '"watchdog_ended_process"' in line]
        return {"reason": found[-1]["reason"], "part": found[-1]["part"]}


@contextmanager
def faulty(data_dir: Path, fault: str, kafka: str | None = None, **more: str) -> Iterator[Faulty]:
    """Start it; killed at the end of the block if it is still there."""
    data_dir.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, **environment_for(data_dir, kafka, "traces"), **QUICK, VARIABLE: fault, **more}
    with (data_dir / "run.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.stalling", "run"], stdout=log, stderr=log, env=environment
        )
    try:
        yield Faulty(process, data_dir)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


@pytest.mark.kafka
def test_agent_that_takes_nothing_while_lag_grows_is_ended_and_its_work_done_after_the_restart(
    kafka_home: Path, tmp_path: Path
) -> None:
    """On Apache Kafka: no error, no line in the log, the loop answers; only the broker's numbers tell."""
    data_dir = tmp_path / "data"
    with apache_kafka(kafka_home, tmp_path / "kafka") as kafka:
        environment = environment_for(data_dir, kafka, "traces")
        data_dir.mkdir()
        assert 0 == groundwatch("migrate", environment=environment, log_path=data_dir / "run.log").wait(60)
        produce(kafka, "traces", [(None, native(f"first-{number}")) for number in range(5)])
        with faulty(data_dir, "agent", kafka) as process:
            process.wait_for(lambda: process.metric('groundwatch_agent_messages_total{agent="ingest"}') >= 1, "a batch")
            produce(kafka, "traces", [(None, native(f"later-{number}")) for number in range(20)])
            assert {"reason": "agent_idle", "part": "ingest"} == process.stall()
        with faulty(data_dir, "none", kafka) as process:
            lag = 'groundwatch_lag_messages{group="groundwatch.ingest",topic="traces"}'
            process.wait_for(
                lambda: (
                    process.metric('groundwatch_agent_messages_total{agent="ingest"}') >= 20
                    and process.metric(lag) == 0
                ),
                "the rest",
            )
            assert 1 == process.metric('groundwatch_watchdog_exits_total{reason="agent_idle"}')
            _stopped_and_continued(process, kafka)
            process.process.terminate()
            assert 0 == process.process.wait(60), process.log()[-6000:]
        shown = subprocess.run(
            [sys.executable, "-m", "streams.cli", "coverage", "--json"],
            capture_output=True, check=True, timeout=60, env={**os.environ, **environment},
        )  # fmt: skip
        messages = json.loads(shown.stdout)["messages"]
        assert (26, 26, 0) == (messages["produced"], messages["stored"], messages["missing"])


def _stopped_and_continued(process: Faulty, kafka: str) -> None:
    """A machine that stops the process for longer than every limit: it goes on, and nobody ends it."""
    process.process.send_signal(signal.SIGSTOP)
    produce(kafka, "traces", [(None, native("while-stopped"))])
    time.sleep(14)
    process.process.send_signal(signal.SIGCONT)
    process.wait_for(lambda: process.metric("groundwatch_suspensions_total") >= 1, "it notices")
    process.wait_for(lambda: process.metric('groundwatch_agent_messages_total{agent="ingest"}') >= 21, "it works on")
    process.wait_for(process.is_ready, "it is ready again")


def test_batches_loops_and_timers_that_hang_are_ended(tmp_path: Path) -> None:
    """Each in a process of its own, side by side: an endless batch, a blocked loop, a step that never returns."""
    expected = {
        "batch": {"reason": "batch_stuck", "part": "ingest"},
        "loop": {"reason": "loop_blocked", "part": "event loop"},
        "timer": {"reason": "timer_stuck", "part": "watermarks"},
    }
    with ExitStack() as stack:
        processes = {fault: stack.enter_context(faulty(tmp_path / fault, fault)) for fault in expected}
        for fault in ("batch", "loop"):
            process = processes[fault]
            process.wait_for((tmp_path / fault / "run.json").exists, "it starts")
            address = json.loads((tmp_path / fault / "run.json").read_text())["bootstrap_servers"]
            produce(address, "traces", [(None, native("t-1"))])
        assert expected == {fault: process.stall() for fault, process in processes.items()}
    stacks = processes["loop"].log()
    assert "tests/integration/stalling.py" in stacks, "it shows where everything stands"
    assert "How long can I return a lamp?" not in stacks
