"""The wall clock of a real process is set hours forward, hours back, and right again, while traces come."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.integration.jumping_clock import VARIABLE
from tests.integration.running import Running, environment_for, produce
from tests.integration.test_end_to_end import native

pytestmark = [pytest.mark.integration, pytest.mark.timeout(240)]
SENT = 15
HOUR = 3600
PATIENCE_SECONDS = 90.0


@pytest.fixture
def process(tmp_path: Path) -> Iterator[tuple[Running, Path]]:
    """A process with all roles on the embedded broker, and the file that sets its clock."""
    clock = tmp_path / "clock"
    clock.write_text("0")
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    environment = {**os.environ, **environment_for(data_dir, None, "traces"), VARIABLE: str(clock)}
    with (data_dir / "run.log").open("ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.jumping_clock", "run"], stdout=log, stderr=log, env=environment
        )
    running = Running(child, data_dir, {}, data_dir / "run.log")
    try:
        running.wait_for((data_dir / "run.json").exists, PATIENCE_SECONDS, "it starts")
        running.address = json.loads((data_dir / "run.json").read_text())
        yield running, clock
    finally:
        child.kill()
        child.wait()


def coverage(running: Running) -> dict[str, Any]:
    """What became of the messages of the topic since yesterday."""
    since = (datetime.now(UTC) - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    found: list[dict[str, Any]] = running.get(f"/api/v1/coverage?since={since}")
    return next(one for one in found if one["topic"] == "traces")


def test_nothing_stalls_expires_or_closes_early_when_the_clock_jumps(process: tuple[Running, Path]) -> None:
    """After each step everything sent is stored and judged; watermarks go on, never back and never beyond now."""
    running, clock = process
    sent = 0
    for step in (0, 7 * HOUR, -7 * HOUR, 30 * 24 * HOUR, 0):
        clock.write_text(str(step))
        names = [f"t-{number}" for number in range(sent, sent + SENT)]
        produce(running.bootstrap_servers, "traces", [(name.encode(), native(name)) for name in names])
        sent += SENT
        running.wait_for(lambda: _is_done(running, sent), PATIENCE_SECONDS, f"{sent} traces, clock {step:+} s")  # noqa: B023  asked in this round
    found = coverage(running)
    assert (sent, 0, 0) == (found["messages"]["stored"], found["messages"]["expired"], found["messages"]["dead_letter"])
    assert [] == found["broken"]
    ticks = [json.loads(line) for line in running.log_path.read_text().splitlines() if '"alert_tick"' in line]
    marks = [tick["watermark"] for tick in ticks]
    assert marks == sorted(marks)
    now = datetime.now(UTC).isoformat()
    assert max(marks) < now
    assert all(tick["folded_until"] is None or tick["folded_until"] < now for tick in ticks)
    assert running.page("/readyz").status_code == 200
    assert running.stop() == 0


def _is_done(running: Running, sent: int) -> bool:
    found = coverage(running)
    traces = found["traces"]
    return bool(found["messages"]["stored"] == sent and traces["drawn"] == traces["judged"] and not traces["pending"])
