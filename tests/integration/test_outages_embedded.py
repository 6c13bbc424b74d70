"""Outages of what is embedded: its broker dies with all it held, and the disk under its store is full.

Also how a process ends in each case that the shell knows: 0, 1, 65 (in the tests of the flow), 69, 70, 75.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from tests.chaos.load import requests
from tests.chaos.workers import lines
from tests.integration.running import Running, environment_for, groundwatch, produce, running

pytestmark = [pytest.mark.integration, pytest.mark.timeout(900)]
TOPIC = "traces"
KEPT_FREE_BYTES = 1_000_000_000
"""What the embedded store leaves free: below it, inserts are refused."""
MEBIBYTE = 1 << 20


def send(run: Running, first: int, count: int) -> None:
    """Native traces from number ``first`` on."""
    made = requests(range(2 * first, 2 * (first + count), 2), datetime.now(UTC), 1, low=500, high=1_500)
    produce(run.bootstrap_servers, TOPIC, [(None, one.messages[0]) for one in made])


def counts(run: Running) -> tuple[int, int, int]:
    """Traces, drawn ones and verdicts; zeros while the store does not answer."""
    try:
        found = run.get("/api/v1/counts")
    except httpx.HTTPError:
        return 0, 0, 0
    return found["traces"], found["drawn"], found["verdicts"]


def is_judged(run: Running, traces: int) -> bool:
    """So many traces are stored and each drawn one has its verdict."""
    stored, drawn, verdicts = counts(run)
    return stored == traces and drawn == verdicts > 0


def child_named(pid: int, name: str) -> int:
    """The child process of that name."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    (found,) = [int(one) for one in children if Path(f"/proc/{one}/comm").read_text().strip() == name]
    return found


def test_a_broker_that_dies_ends_the_process_and_drawn_traces_are_judged_after_the_restart(tmp_path: Path) -> None:
    """What it held is gone, so going on would be a silent standstill: 1, with the reason; the store knows the rest."""
    with running(tmp_path / "data", None, TOPIC) as run:
        send(run, 0, 300)
        run.wait_for(lambda: counts(run)[0] >= 100, 240, "traces")
        os.kill(child_named(run.process.pid, "tansu"), signal.SIGKILL)
        assert 1 == run.process.wait(120)
        (said,) = lines(run.log_path.read_text(), "broker_ended")
        assert "ended with code -9" in said["error"]
    with running(tmp_path / "data", None, TOPIC) as run:
        traces, *_ = counts(run)
        run.wait_for(lambda: is_judged(run, traces), 240, "verdicts")
        assert 100 <= traces
        assert 0 == run.stop()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, a little larger than what the store leaves free."""
    folder = tmp_path / "disk"
    folder.mkdir()
    size = f"size={KEPT_FREE_BYTES // MEBIBYTE + 100}m"
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(folder)], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("this user may not mount a file system")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_holds_everything_and_goes_on_when_there_is_room(tmp_path: Path, small_disk: Path) -> None:
    """Messages stay on the broker, the log says what is full; what was stored stays readable and nothing is torn."""
    settings = {"GROUNDWATCH_STORE__DSN": f"chdb://{small_disk / 'store'}"}
    filler = small_disk / "filler"
    with running(tmp_path / "data", None, TOPIC, **settings) as run:
        send(run, 0, 60)
        run.wait_for(lambda: is_judged(run, 60), 240, "the first traces")
        with filler.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(small_disk).free - KEPT_FREE_BYTES + 20 * MEBIBYTE)
        send(run, 60, 200)
        run.wait_for(lambda: len(lines(run.log_path.read_text(), "batch_waits")) > 1, 240, "a batch that waits")
        waits = lines(run.log_path.read_text(), "batch_waits")
        assert "free disk space" in waits[0]["error"]
        assert 60 == counts(run)[0]
        filler.unlink()
        run.wait_for(lambda: is_judged(run, 260), 240, "all traces")
        assert 0 == run.stop()
    checked = subprocess.run(
        [sys.executable, "-m", "streams.cli", "store", "verify"],
        env={**os.environ, **environment_for(tmp_path / "data", None, TOPIC), **settings},
        capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert 0 == checked.returncode, checked.stdout + checked.stderr


def test_a_broker_that_never_comes_ends_the_process_with_69(tmp_path: Path) -> None:
    """After ``start_seconds``, with the address."""
    environment = environment_for(tmp_path, "127.0.0.1:1", TOPIC) | {"GROUNDWATCH_START_SECONDS": "1"}
    log_path = tmp_path / "run.log"
    assert 69 == groundwatch("run", environment=environment, log_path=log_path).wait(60)
    assert "no broker answers at 127.0.0.1:1" in log_path.read_text().splitlines()[-1]


def test_a_stop_while_it_waits_for_a_broker_ends_the_process_with_0(tmp_path: Path) -> None:
    """Nothing was begun, so nothing is left undone."""
    environment = environment_for(tmp_path, "127.0.0.1:1", TOPIC)
    log_path = tmp_path / "run.log"
    process = groundwatch("run", environment=environment, log_path=log_path)
    run = Running(process, tmp_path, {}, log_path)
    run.wait_for(lambda: bool(lines(log_path.read_text(), "start_waits")), 240, "a line about waiting")
    assert 0 == run.stop()
