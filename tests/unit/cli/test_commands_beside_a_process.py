"""Commands beside a running process: they ask it, and never open its store."""

import json
import os
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner, Result

import streams.cli.opened
from sampling.policy_file import parse_policy
from schemas.alert import Alert
from schemas.errors import ConfigError, NotReached
from schemas.policy import Overlay, OverlayReason, PolicyRecord
from streams.cli.program import app
from streams.cli.reach import RunningProcess
from streams.run_file import RunFile
from streams.settings import Settings
from tests.builders import NOW, alert, policy_record

ALERTS = [alert("a-1"), alert("a-2", state="resolved")]
POLICIES = [
    policy_record("p-1"),
    PolicyRecord(policy_id="heartbeat", published_at=NOW, complete_until=NOW),
    PolicyRecord(
        policy_id="s-1",
        published_at=NOW - timedelta(hours=1),
        effective_from=NOW,
        overlay=Overlay(reason=OverlayReason.SURGE, until=NOW + timedelta(days=2), at_least=1),
    ),
]


def answer(request: httpx.Request) -> httpx.Response:
    """The API of a process, as far as commands use it."""
    path, method = request.url.path, request.method
    if path == "/api/v1/alerts":
        states = request.url.params.get_list("state")
        rows = [row.model_dump(mode="json") for row in ALERTS if not states or row.state in states]
        return httpx.Response(200, json=rows[: int(request.url.params["limit"])])
    if path == "/api/v1/alerts/a-1":
        return httpx.Response(200, json=ALERTS[0].model_dump(mode="json"))
    if path == "/api/v1/policy" and method == "GET":
        return httpx.Response(200, json=[record.model_dump(mode="json") for record in POLICIES])
    if path == "/api/v1/policy":
        published = policy_record("p-9", author=request.url.params["author"], effective_from=NOW)
        return httpx.Response(201, json=published.model_dump(mode="json"))
    return httpx.Response(404, json={"error": "no such alert; see /api/v1/alerts"})


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs a command beside the process."""

    def running(_settings: Settings) -> RunningProcess:
        return RunningProcess(RunFile("http://127.0.0.1:1", "t", os.getpid()), httpx.MockTransport(answer))

    monkeypatch.setattr(streams.cli.opened, "running_process", running)
    runner = CliRunner(env={"COLUMNS": "250"})
    return lambda *arguments: runner.invoke(app, list(arguments))


def test_alerts_are_listed(command: Callable[..., Result]) -> None:
    """State, slice, rate with interval, since when, and the id for `show`."""
    output = command("alerts", "list").output
    assert [part for part in ("firing", "refunds/medium", "20.0 %", "a-1", "a-2") if part not in output] == []


def test_alerts_can_be_chosen_by_state(command: Callable[..., Result]) -> None:
    """The state goes to the process, in its own spelling."""
    rows = command("alerts", "list", "--state", "resolved", "--json").stdout.splitlines()
    assert ["a-2"] == [json.loads(row)["alert_id"] for row in rows]


def test_alert_is_shown_as_json(command: Callable[..., Result]) -> None:
    """The whole record, for scripts."""
    assert ALERTS[0] == Alert.model_validate_json(command("alerts", "show", "a-1", "--json").stdout)


@pytest.mark.parametrize("alert_id", ["nowhere", "../policy", "a/b?c"])
def test_unknown_alert_is_not_reached(command: Callable[..., Result], alert_id: str) -> None:
    """An odd id asks for nothing else."""
    assert isinstance(command("alerts", "show", alert_id).exception, NotReached)


def test_log_lists_policies_and_overlays_without_heartbeats(command: Callable[..., Result]) -> None:
    """Oldest first: what, since when, by whom."""
    output = command("policy", "log").output
    assert [part for part in ("p-1", "the beginning", "overlay (surge, π at least 1 for *") if part not in output] == []
    assert "heartbeat" not in output
    ids = [json.loads(row)["policy_id"] for row in command("policy", "log", "--json").stdout.splitlines()]
    assert ["p-1", "s-1"] == ids


def test_policy_in_force_is_shown_as_a_file(command: Callable[..., Result]) -> None:
    """What holds now and by id: with its overlay, as YAML that could be applied."""
    output = command("policy", "show").output
    assert [part for part in ("# policy p-1, from the beginning", "name: test") if part not in output] == []
    assert "p-1+s-1" == json.loads(command("policy", "show", "p-1+s-1", "--json").stdout)["policy_id"]
    assert parse_policy(output) == POLICIES[0].document


def test_policy_of_a_time_is_shown(command: Callable[..., Result]) -> None:
    """With the overlay that held then, and what was still to come."""
    during = command("policy", "show", "--at", "2026-03-10T13:00Z", "--json")
    assert ("p-1+s-1", ["s-1"]) == (
        json.loads(during.stdout)["policy_id"], [name for name, _ in json.loads(during.stdout)["overlays"]],
    )  # fmt: skip
    assert ["s-1"] == json.loads(command("policy", "show", "--at", "2026-03-10", "--json").stdout)["upcoming"]


@pytest.mark.parametrize("arguments", [["p-9"], ["p-1+p-9"], ["p-1", "--at", "6h"], ["--at", "noon"]])
def test_unknown_policy_or_time_says_what_to_write(command: Callable[..., Result], arguments: list[str]) -> None:
    """The list of ids, or the form of a time."""
    error = command("policy", "show", *arguments).exception
    assert isinstance(error, NotReached | ConfigError)
    assert re.search(r"policy log|6h|not both", str(error))


def test_policy_is_published_through_the_process(command: Callable[..., Result], tmp_path: Path) -> None:
    """With its author, and the answer says from when it holds."""
    file = tmp_path / "policy.yaml"
    file.write_text("name: mine\n", encoding="utf-8")
    output = command("policy", "apply", str(file), "--author", "ana").output
    assert "Policy p-9 published; in force from 2026-03-10 12:00 UTC." in output


@pytest.mark.parametrize("text", ["name: mine\nsampling: {default_probability: 0}\n", "nme: mine\n", "- a\n", ""])
def test_wrong_policy_is_refused_before_anything_is_asked(
    command: Callable[..., Result], tmp_path: Path, text: str
) -> None:
    """The old one stays in force."""
    file = tmp_path / "policy.yaml"
    file.write_text(text, encoding="utf-8")
    assert isinstance(command("policy", "apply", str(file)).exception, ConfigError)


def test_missing_policy_file_is_named(command: Callable[..., Result], tmp_path: Path) -> None:
    """A wrong path is a usage error."""
    assert "gone.yaml" in str(command("policy", "apply", str(tmp_path / "gone.yaml")).exception)


def test_example_policy_can_be_applied(command: Callable[..., Result], tmp_path: Path) -> None:
    """What we print we also accept."""
    file = tmp_path / "policy.yaml"
    file.write_text(command("policy", "example").stdout, encoding="utf-8")
    assert command("policy", "apply", str(file)).exit_code == 0


def test_embedded_policy_needs_a_running_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its topic lives in that process."""
    monkeypatch.setenv("GROUNDWATCH_DATA_DIR", str(tmp_path))
    file = tmp_path / "policy.yaml"
    file.write_text("name: mine\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["policy", "apply", str(file)])
    assert "start `groundwatch run`" in str(result.exception)


def test_embedded_replay_needs_a_running_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its broker lives in that process."""
    monkeypatch.setenv("GROUNDWATCH_DATA_DIR", str(tmp_path))
    file = tmp_path / "t.jsonl"
    file.write_text("{}\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["replay", str(file)])
    assert "no running process with an embedded broker" in str(result.exception)
