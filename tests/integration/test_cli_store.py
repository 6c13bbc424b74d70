"""Commands without a running process: a stopped embedded store, and a ClickHouse server."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from schemas.labels import Outcome
from streams.cli.program import app
from streams.store import Store
from tests.builders import NOW, drawn_trace, policy_record, verdict
from tests.integration.configured_store import KINDS, configured

pytestmark = pytest.mark.integration


@pytest.fixture(params=KINDS)
def stored(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two traces, one of them judged."""
    with configured(request.param, tmp_path, monkeypatch, _two_traces):
        yield


def _two_traces(store: Store) -> None:
    store.insert_policy([policy_record()])
    store.insert_traces([drawn_trace("t-1"), drawn_trace("t-2")])
    store.insert_verdicts([verdict("t-1", Outcome.HALLUCINATED, verified_at=NOW)])
    store.rebuild_tallies(NOW)


def run(*arguments: str) -> Result:
    """A command, as it is typed."""
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, list(arguments))


@pytest.mark.usefixtures("stored")
def test_the_store_is_described_and_verified() -> None:
    """Every table with its size; faults end with 1 and say what to do."""
    stats = json.loads(run("store", "stats", "--json").stdout)
    assert (2, 1) == (stats["traces"], stats["verdicts"])
    assert "deduplicated" in run("store", "stats").output
    result = run("store", "verify", "--since", "2026-03-10")
    wanted = (
        "fine   verdicts traced",
        "2 drawn = 1 with a verdict + 1 pending (t-2)",
        "FAULT  migrations",
        "groundwatch migrate",
    )
    assert 1 == result.exit_code
    assert [part for part in wanted if part not in result.output] == []


@pytest.mark.usefixtures("stored")
def test_traces_and_policy_are_shown() -> None:
    """The same text as beside a running process."""
    listed = run("traces", "list", "--outcome", "hallucinated", "--json")
    assert ["t-1"] == [json.loads(line)["trace_id"] for line in listed.stdout.splitlines()]
    shown = run("traces", "show", "t-1").output
    assert [part for part in ("hallucinated", "unsupported", "policy p-test", "draw") if part not in shown] == []
    assert "1 buckets" in run("store", "rebuild", "--since", "2026-03-10", "--until", "2026-03-11").output


def test_a_store_that_was_never_made_is_not_made_by_looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the answer names what to start, or the demo's folder."""
    monkeypatch.setenv("GROUNDWATCH_DATA_DIR", str(tmp_path))
    (tmp_path / "demo").mkdir()
    result = run("store", "stats")
    wanted = ("groundwatch run", f"GROUNDWATCH_DATA_DIR={tmp_path}/demo")
    assert [part for part in wanted if part not in str(result.exception)] == []
    assert ["demo"] == [path.name for path in tmp_path.iterdir()]


def test_a_server_that_is_away_is_named_with_what_to_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a traceback of an HTTP client."""
    monkeypatch.setenv("GROUNDWATCH_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("GROUNDWATCH_EMBEDDED", "false")
    monkeypatch.setenv("GROUNDWATCH_STORE__DSN", "http://127.0.0.1:9")
    assert "store.dsn" in str(run("store", "verify").exception)
