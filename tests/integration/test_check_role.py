"""The role check by itself, as a process: ready, answering the example client, and counted."""

import json
import re
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.agents.test_check_api import example
from tests.fakes_inline import body
from tests.integration.running import environment_for, groundwatch

TOKEN = "a token of sixteen or more"  # noqa: S105  opens nothing
SECONDS = 120.0


@pytest.mark.integration
@pytest.mark.timeout(240)
def test_the_role_alone_checks_answers_by_the_policy_in_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the shipped detector and the first policy; no pages, no address file for commands."""
    log = tmp_path / "log"
    settings = {**environment_for(tmp_path / "data", None, "traces"), "GROUNDWATCH_WEB__CHECK_TOKEN": TOKEN}
    process = groundwatch("run", "--roles", "check", environment=settings, log_path=log)
    try:
        url = started(log)
        monkeypatch.setenv("GROUNDWATCH_URL", url)
        monkeypatch.setenv("GROUNDWATCH_CHECK_TOKEN", TOKEN)
        passages = body()["passages"]
        good, bad = (f"A refund is possible within {days} days of delivery." for days in (30, 90))
        assert good == example().text_to_send("How long?", good, passages, tier="low")
        judged = judged_in_time(url, bad)
        assert ("abstain", "contradicted") == (judged["decision"], judged["claims"][0]["label"])
        assert bad not in log.read_text()
        metrics = httpx.get(f"{url}/metrics", timeout=20, trust_env=False).text
        counted = r'^groundwatch_checks_total\{decision="abstain",reason="judged"\} 1\.0$'
        assert re.search(counted, metrics, re.MULTILINE)
        assert 404 == httpx.get(url, timeout=20, trust_env=False).status_code
        assert not (tmp_path / "data" / "run.json").exists()
    finally:
        process.terminate()
        process.wait(40)
    assert 0 == process.returncode


def judged_in_time(url: str, answer: str) -> dict[str, Any]:
    """A reply that is a judgement: the first policy allows 800 ms, which a busy machine may take for other things."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    deadline = time.monotonic() + SECONDS
    while True:
        found = httpx.post(f"{url}/v1/check", headers=headers, json=body(answer), timeout=20, trust_env=False).json()
        if found["checked"]:
            return dict(found)
        assert "out_of_time" == found["reason"]
        assert time.monotonic() < deadline, found


def started(log: Path) -> str:
    """Where it listens, as the log says."""
    deadline = time.monotonic() + SECONDS
    while True:
        lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
        for line in lines:
            if line["event"] == "check_started":
                return str(line["url"])
        assert time.monotonic() < deadline, log.read_text()[-3000:]
        time.sleep(0.3)
