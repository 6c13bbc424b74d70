"""Finding and asking the running process."""

import os
from pathlib import Path

import httpx
import pytest

from schemas.errors import ConfigError, GroundwatchError, NotReached, StoreUnavailable
from streams.cli.reach import RunningProcess
from streams.run_file import RUN_FILE, RunFile, find_running, remove_run_file, write_run_file

HERE = RunFile("http://127.0.0.1:1", "hush", os.getpid(), "127.0.0.1:2")
NO_PROCESS = 2**22 + 1
"""Above the largest process id of Linux."""


def answering(status: int, body: object) -> RunningProcess:
    """A running process that gives one answer to everything."""
    return RunningProcess(HERE, httpx.MockTransport(lambda _: httpx.Response(status, json=body)))


def test_written_address_is_found(tmp_path: Path) -> None:
    """What one process writes the other reads."""
    write_run_file(tmp_path, HERE)
    assert HERE == find_running(tmp_path)


def test_address_file_is_private(tmp_path: Path) -> None:
    """It holds a token."""
    assert write_run_file(tmp_path, HERE).stat().st_mode & 0o777 == 0o600
    assert "hush" not in repr(HERE)


def test_demo_below_the_data_folder_is_found(tmp_path: Path) -> None:
    """Commands beside `make run` need no options."""
    write_run_file(tmp_path / "demo", HERE)
    assert HERE == find_running(tmp_path)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"url": 1}', "null", '"x"'])
def test_damaged_address_file_counts_as_none(tmp_path: Path, content: str) -> None:
    """A half-written file must not break a command."""
    (tmp_path / RUN_FILE).write_text(content, encoding="utf-8")
    assert find_running(tmp_path) is None


def test_address_of_a_dead_process_counts_as_none(tmp_path: Path) -> None:
    """After SIGKILL the file stays behind."""
    write_run_file(tmp_path, RunFile("http://127.0.0.1:1", "t", NO_PROCESS))
    assert find_running(tmp_path) is None


def test_only_the_owner_withdraws_its_address(tmp_path: Path) -> None:
    """A process that ends late leaves its successor's file alone."""
    write_run_file(tmp_path, HERE)
    remove_run_file(tmp_path, HERE.pid + 1)
    assert HERE == find_running(tmp_path)
    remove_run_file(tmp_path, HERE.pid)
    assert find_running(tmp_path) is None


def test_requests_carry_the_token() -> None:
    """Without it the process refuses."""
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["Authorization"])
        return httpx.Response(200, json=[])

    RunningProcess(HERE, httpx.MockTransport(answer)).get("/api/v1/alerts")
    assert seen == ["Bearer hush"]


@pytest.mark.parametrize(
    ("status", "error"),
    [(400, ConfigError), (401, NotReached), (404, NotReached), (500, StoreUnavailable), (503, StoreUnavailable)],
)
def test_refusals_become_errors(status: int, error: type[GroundwatchError]) -> None:
    """A refused policy is a mistake in it; a store that is away is not."""
    with pytest.raises(error):
        answering(status, {"error": "line 3"}).get("/x")


def test_refusal_shows_its_text() -> None:
    """What is wrong in the policy reaches the user."""
    with pytest.raises(ConfigError, match="line 3"):
        answering(400, {"error": "line 3"}).post("/x", "text")


def test_no_answer_is_named() -> None:
    """A process that is just starting has its file but no port yet."""

    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    with pytest.raises(NotReached, match=f"pid {os.getpid()}"):
        RunningProcess(HERE, httpx.MockTransport(refuse)).get("/x")
