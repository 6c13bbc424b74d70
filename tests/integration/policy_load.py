"""Processes, load and policies for the test that changes the policy while everything runs."""

import asyncio
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from tests.integration.fast_clock import FastClock
from tests.integration.running import START_SECONDS, Running, environment_for, producer

ROOT = Path(__file__).parents[2]
TOPIC = "traces"
SALT = "a salt that is known to the test, 32 and more"
RATE_EVERY_SECONDS = 0.25
PER_ROUND = 10
AHEAD_SECONDS = 240
"""A trace may be stamped almost five minutes ahead of its record."""
BEHIND_SECONDS = 120

CHANGES = {
    "raised": """\
name: raised
sampling:
  strata:
    - {name: bare, has_no_citation: true}
  allocations:
    - {stratum: bare, probability: 0.9}
  default_probability: 0.5
intents:
  "*":
    critical: [{name: period, pattern: '\\d+ days'}]
    fallbacks: {abstain: Ask the shop.}
""",
    "lowered": """\
name: lowered
sampling: {default_probability: 0.25}
thresholds: {supported: 0.9, unsupported: 0.2, contradicted: 0.4}
""",
}
PROBABILITIES = {
    # What the files above say, and the shipped policy for risk tier low, written out by hand.
    "default": {"weak_evidence": 0.3, "unsure_evidence": 0.25, "rest": 0.1},
    "raised": {"bare": 0.9, "rest": 0.5},
    "lowered": {"rest": 0.25},
}
OTHERWISE = {"default": 0.15, "raised": 0.5, "lowered": 0.25}
ANSWERS = (
    "You can return a lamp within 30 days of delivery [returns].",
    "You can return a lamp within 30 days of delivery.",
    "You can return a lamp within 90 days [returns].",
    "Lamps are sold in seven colours and two sizes.",
)


def recorded(trace_id: str, ts: datetime, answer: str) -> bytes:
    """A native trace."""
    return json.dumps(
        {
            "trace_id": trace_id,
            "ts": ts.isoformat(),
            "question": "How long can I return a lamp?",
            "answer": answer,
            "passages": [{"doc_id": "returns", "text": "Lamps may be returned within 30 days of delivery."}],
            "intent": "returns",
            "tier": "low",
        }
    ).encode()


@dataclass
class Load:
    """Sends traces without a pause while the block runs; ``sent`` has all of them, with the time of their record."""

    clock: FastClock
    sent: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    rng: random.Random = field(default_factory=lambda: random.Random(17))

    @contextmanager
    def on(self, address: str) -> Iterator[None]:
        """Send fresh traces to a broker."""
        stopping = threading.Event()
        thread = threading.Thread(target=lambda: asyncio.run(self._send(address, stopping)))
        thread.start()
        try:
            yield
        finally:
            stopping.set()
            thread.join()

    async def _send(self, address: str, stopping: threading.Event) -> None:
        async with producer(address) as made:
            while not stopping.is_set():
                for trace_id in self._fresh():
                    value, at = self.sent[trace_id]
                    await made.send(TOPIC, key=trace_id.encode(), value=value, timestamp_ms=at)
                await asyncio.sleep(RATE_EVERY_SECONDS)

    def burst(self, address: str, rounds: int) -> None:
        """Send fresh traces at once, so that there is something in flight."""
        self.again(address, [trace_id for _ in range(rounds) for trace_id in self._fresh()])

    def again(self, address: str, trace_ids: Sequence[str]) -> None:
        """Deliver these once more, as they were."""

        async def send() -> None:
            async with producer(address) as made:
                for trace_id in trace_ids:
                    value, at = self.sent[trace_id]
                    await made.send(TOPIC, key=trace_id.encode(), value=value, timestamp_ms=at)

        asyncio.run(send())

    def _fresh(self) -> list[str]:
        made = []
        for _ in range(PER_ROUND):
            now = self.clock.now()
            ts = now + timedelta(seconds=self.rng.uniform(-BEHIND_SECONDS, AHEAD_SECONDS))
            trace_id = f"t-{len(self.sent)}"
            value = recorded(trace_id, ts, self.rng.choice(ANSWERS))
            self.sent[trace_id] = (value, int(now.timestamp() * 1000))
            made.append(trace_id)
        return made


@dataclass(frozen=True)
class Deployment:
    """Where processes of one deployment run, and under which clock; ``kafka`` None is the embedded broker."""

    clock: FastClock
    folder: Path
    kafka: str | None = None
    store_dsn: str = ""

    def environment(self, name: str) -> dict[str, str]:
        """The settings of the process ``name``."""
        shared = {"GROUNDWATCH_STORE__DSN": self.store_dsn} if self.store_dsn else {}
        salt = {"GROUNDWATCH_INGEST__SALT": SALT}
        return environment_for(self.folder / name, self.kafka, TOPIC) | salt | shared | self.clock.environment

    def command(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command beside the process ``name`` to its end."""
        return subprocess.run(
            _program(*arguments),
            env={**os.environ, **self.environment(name)},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def start(self, name: str) -> Running:
        """Start ``groundwatch run`` and wait until it says where it is; the caller ends it."""
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        address_file, log_path = folder / "run.json", folder / "run.log"
        address_file.unlink(missing_ok=True)  # left behind by a killed process
        with log_path.open("ab") as log:
            process = subprocess.Popen(
                _program("run"), stdout=log, stderr=log, env={**os.environ, **self.environment(name)}, cwd=ROOT
            )
        deadline = time.monotonic() + START_SECONDS
        while not address_file.exists():
            assert process.poll() is None, log_path.read_text(errors="replace")[-3000:]
            assert time.monotonic() < deadline, log_path.read_text(errors="replace")[-3000:]
            time.sleep(0.1)
        return Running(process, folder, json.loads(address_file.read_text()), log_path)


def _program(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "tests.integration.fast_clock", *arguments]
