"""Worker processes on one broker and one store, each with a data folder, that a test kills, pauses and restarts."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.integration.running import START_SECONDS, Running, environment_for

MIGRATE_SECONDS = 180.0
ROOT = Path(__file__).parents[2]


def engine(session_seconds: float = 6.0, **more: float) -> str:
    """Settings of Faust for a child: after how long a silent worker is given up, and ``more``."""
    times = {"broker_session_timeout": session_seconds, "broker_heartbeat_interval": session_seconds / 5}
    return json.dumps(times | more)


QUICK = {
    "GROUNDWATCH_ASSEMBLY__GRACE_SECONDS": "1",
    "GROUNDWATCH_ASSEMBLY__QUIET_SECONDS": "8",
    "GROUNDWATCH_DRAIN_SECONDS": "5",
    "GROUNDWATCH_MODELS__USE": "none",
    "CHAOS_ENGINE": engine(),
}
"""Settings and times with which waits are short."""
AT_WORK = ('"batch_ingested"', '"traces_assembled"', '"verdict"')
"""Lines of the log that show that a worker has handled something."""
Environment = Mapping[str, str]


@dataclass(slots=True)
class Worker:
    """One worker, of which several processes live one after the other; its log goes on."""

    data_dir: Path
    environment: dict[str, str]
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    log_from: int = 0
    """Where in the log the present process begins."""
    restart_seconds: list[float] = field(default_factory=list)
    """For each start, the time until something was handled, where it came to that."""

    @property
    def log_path(self) -> Path:
        """What all its processes wrote."""
        return self.data_dir / "run.log"

    @property
    def is_alive(self) -> bool:
        """Whether its process runs (or is paused)."""
        return self.process is not None and self.process.poll() is None

    def start(self, **more: str) -> None:
        """Begin a process; returns at once. ``more`` is added to the environment this time."""
        self.data_dir.mkdir(parents=True, exist_ok=True)
        (self.data_dir / "run.json").unlink(missing_ok=True)
        self.log_from = self.log_path.stat().st_size if self.log_path.exists() else 0
        self.started_at = time.monotonic()
        self.process = _child("run", {**self.environment, **more}, self.log_path)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, if there is somebody to get it."""
        if self.process is not None and self.is_alive:
            self.process.send_signal(number)

    def wait(self, seconds: float = 240.0) -> int:
        """Wait for the end and give the exit code, negative for a signal."""
        assert self.process is not None
        return self.process.wait(seconds)

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.signal(signal.SIGKILL)
        if self.process is not None:
            self.process.wait(30)

    def stop(self) -> int:
        """SIGTERM, and the exit code."""
        self.signal(signal.SIGTERM)
        return self.wait()

    def log(self) -> str:
        """What the present process has written."""
        if not self.log_path.exists():
            return ""
        with self.log_path.open("rb") as file:
            file.seek(self.log_from)
            return file.read().decode("utf-8", "replace")

    def running(self) -> Running:
        """The present process once its address is known, to ask it. Fails when it ends before."""
        assert self.process is not None
        address = self.data_dir / "run.json"
        deadline = time.monotonic() + START_SECONDS
        while not address.exists():
            assert self.is_alive, f"ended with {self.process.returncode}: {self.log()[-3000:]}"
            assert time.monotonic() < deadline, self.log()[-3000:]
            time.sleep(0.1)
        return Running(self.process, self.data_dir, json.loads(address.read_text()), self.log_path)

    def note_work(self) -> bool:
        """True once the present process has handled something; remembers how long that took the first time."""
        if not self.started_at:
            return True
        if any(line in self.log() for line in AT_WORK):
            self.restart_seconds.append(time.monotonic() - self.started_at)
            self.started_at = 0.0
            return True
        return False


def _child(command: str, environment: Environment, log_path: Path) -> subprocess.Popen[bytes]:
    with log_path.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.child", command],
            stdout=log,
            stderr=log,
            env={**os.environ, **environment},
            cwd=ROOT,
        )


def environment_of(data_dir: Path, kafka: str, topic: str, dsn: str, **more: str) -> dict[str, str]:
    """Settings of a worker on a broker and a store that it shares with others."""
    return {**environment_for(data_dir, kafka, topic), "GROUNDWATCH_STORE__DSN": dsn, **QUICK, **more}


@contextmanager
def workers(  # noqa: PLR0913  a fleet is these facts
    folder: Path, kafka: str, topic: str, dsn: str, *, count: int, more: Environment | None = None
) -> Iterator[Sequence[Worker]]:
    """Workers that are not started yet, with tables and topics made; killed at the end of the block."""
    made = []
    for number in range(count):
        data_dir = folder / f"worker-{number}"
        data_dir.mkdir(parents=True, exist_ok=True)
        made.append(Worker(data_dir, environment_of(data_dir, kafka, topic, dsn, **dict(more or {}))))
    log_path = folder / "migrate.log"
    code = _child("migrate", made[0].environment, log_path).wait(MIGRATE_SECONDS)
    assert code == 0, log_path.read_text(errors="replace")[-3000:]
    try:
        yield made
    finally:
        for worker in made:
            worker.signal(signal.SIGCONT)
            worker.kill()


def lines(text: str, event: str) -> list[dict[str, Any]]:
    """The lines of a JSON log with that event."""
    found = []
    for line in text.splitlines():
        if f'"{event}"' in line:
            try:
                found.append(json.loads(line))
            except ValueError:  # cut off by a kill
                continue
    return [one for one in found if one.get("event") == event]
