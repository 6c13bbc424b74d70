"""The program as a whole: commands, help, and exit codes."""

import sys

import pytest
from typer.testing import CliRunner

from schemas.errors import (
    BrokerUnavailable,
    ConfigError,
    GroundwatchError,
    InvalidMessage,
    NotReached,
    StoreUnavailable,
)
from streams.cli import program
from streams.cli.exits import ExitCode, exit_code
from streams.cli.program import app, main


def test_help_names_the_exit_codes() -> None:
    """A supervisor's author needs them."""
    output = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["--help"]).output
    assert [
        code for code in ("2 wrong", "65 stopped", "69 Kafka", "70 a bug", "75 stopped") if code not in output
    ] == []


def test_version_is_printed_by_command_and_option() -> None:
    """Both spellings that people try."""
    runner = CliRunner()
    assert runner.invoke(app, ["version"]).output == runner.invoke(app, ["--version"]).output
    assert runner.invoke(app, ["version"]).output.startswith("groundwatch 0")


def test_misspelt_command_is_a_usage_error_with_a_suggestion() -> None:
    """The nearest command is named."""
    result = CliRunner().invoke(app, ["alrts"])
    assert result.exit_code == ExitCode.WRONG_CONFIG
    assert "alerts" in result.output


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("x"), ExitCode.WRONG_CONFIG),
        (NotReached("x"), ExitCode.FOUND_FAULTS),
        (InvalidMessage("not_json", "x"), ExitCode.FOUND_FAULTS),
        (StoreUnavailable("x"), ExitCode.UNAVAILABLE),
        (BrokerUnavailable("x"), ExitCode.UNAVAILABLE),
    ],
)
def test_errors_have_their_exit_codes(error: GroundwatchError, code: ExitCode) -> None:
    """Scripts tell the kinds apart."""
    assert code == exit_code(error)


def test_wrong_setting_ends_with_2_and_one_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No traceback for a mistake of the user."""
    monkeypatch.setattr(sys, "argv", ["groundwatch", "config", "check"])
    monkeypatch.setenv("GROUNDWATCH_WEB__PORT", "99999")
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == ExitCode.WRONG_CONFIG
    shown = capsys.readouterr().err
    assert "GROUNDWATCH_WEB__PORT = '99999'" in shown
    assert "Traceback" not in shown


def test_unforeseen_error_ends_with_70(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A bug shows its traceback and a code of its own."""

    def broken() -> None:
        message = "boom"
        raise RuntimeError(message)

    monkeypatch.setattr(program, "app", broken)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == ExitCode.BUG
    assert "RuntimeError: boom" in capsys.readouterr().err
