"""One measurement of `bench/ingest.py`: a child process reads a topic and is stopped while the measured part is sent.

Clients fetch ahead, so a part that lay in the topic from the start would be half read before anything is counted.
"""

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from time import perf_counter

from benchkit.brokers import broker, fill
from benchkit.intakework import WARM

TOPIC = "ingest"
WARMED = "warm"
"""What a child prints once the warm part is done; at the end it prints a list of figures."""
PATIENCE_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Measured:
    """Messages a second of the clock and of processor time (all threads of the process), and its peak memory."""

    broker: str
    by_clock: float
    by_processor: float
    peak_mib: float


def on_fresh_broker(script: Path, kind: str, variant: str, values: Sequence[bytes]) -> Measured:
    """A variant that reads a topic, in a process of its own: the embedded engine opens one path a process."""
    with (
        tempfile.TemporaryDirectory(prefix="groundwatch-ingest-") as folder,
        broker(kind, Path(folder)) as (name, address),
    ):
        fill(address, TOPIC, values[:WARM])
        with _child(script, address, variant, len(values), f"{folder}/data") as child:
            _line(child, WARMED)
            child.send_signal(signal.SIGSTOP)
            fill(address, TOPIC, values[WARM:])
            began = perf_counter()  # the same clock in all processes
            child.send_signal(signal.SIGCONT)
            ended, spent, peak = json.loads(_line(child, "["))
        return Measured(name, (len(values) - WARM) / (ended - began), (len(values) - WARM) / spent, peak)


def without_broker(script: Path, variant: str, values: Sequence[bytes]) -> Measured:
    """A variant that is given the messages in a file and times itself."""
    with tempfile.TemporaryDirectory(prefix="groundwatch-ingest-") as folder:
        path = Path(folder) / "messages"
        path.write_bytes(b"\n".join(values))
        with _child(script, str(path), variant, len(values), f"{folder}/data") as child:
            clock, spent, peak = json.loads(_line(child, "["))
    return Measured("no broker", (len(values) - WARM) / clock, (len(values) - WARM) / spent, peak)


def _child(script: Path, *arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, str(script), "--one", *map(str, arguments)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    limit = Timer(PATIENCE_SECONDS, child.kill)
    limit.daemon = True
    limit.start()
    return child


def _line(child: "subprocess.Popen[str]", opening: str) -> str:
    assert child.stdout is not None
    for line in child.stdout:
        if line.startswith(opening):
            return line
    raise SystemExit(f"a measurement failed: {child.args!r}")
