"""What every command owes: help with an example, JSON where it prints data, a page that says the same."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from streams.cli.check import check
from streams.cli.exits import MEANINGS, ExitCode
from streams.cli.program import app
from streams.cli.reference import commands, commands_markdown, help_of, parameters_of
from streams.cli.shapes import NO_JSON, SHAPES

COMMANDS = dict(commands())
PAGE = Path(__file__).parents[3] / "docs" / "commands.md"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_it_does_with_an_example_to_copy(name: str) -> None:
    """A newcomer finds out by --help alone; the example begins with the command itself."""
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, [*name.split(), "--help"])
    assert result.exit_code == ExitCode.OK
    text = help_of(COMMANDS[name])
    examples = text.partition("For example")[2]
    assert f"`groundwatch {name}" in examples
    assert len(text.splitlines()[0]) > 20
    assert re.sub(r"\W+", "", text.splitlines()[0]) in re.sub(r"\W+", "", result.output)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_parameter_is_explained(name: str) -> None:
    """No option without a text."""
    assert [p.names for p in parameters_of(COMMANDS[name]) if not p.text] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_what_prints_data_prints_it_as_json_too(name: str) -> None:
    """With a shape that scripts can rely on; what has none says why."""
    has_json = "--json" in {parameter.names for parameter in parameters_of(COMMANDS[name])}
    assert has_json == (name in SHAPES) == (name not in NO_JSON)


def test_shapes_are_of_commands_that_exist() -> None:
    """A command that went takes its shape along."""
    assert SHAPES.keys() | NO_JSON.keys() == COMMANDS.keys()


def test_the_page_is_in_step() -> None:
    """`make docs` rewrites it."""
    assert commands_markdown() == PAGE.read_text(encoding="utf-8")


def test_every_exit_code_has_a_meaning_on_the_page() -> None:
    """And in one place only."""
    assert set(ExitCode) == MEANINGS.keys()
    assert [f"| {code.value} |" for code in ExitCode if f"\n| {code.value} | " not in commands_markdown()] == []


def test_examples_name_options_that_exist() -> None:
    """What is copied from the help works."""
    known = {
        name: {n for p in parameters_of(call) for n in re.split("[, /]+", p.names)} for name, call in COMMANDS.items()
    }
    wrong = [
        f"{name}: {option}"
        for name, call in COMMANDS.items()
        for option in re.findall(
            r"(?<=\s)(--?[a-z][a-z-]*)", "\n".join(re.findall(r"`groundwatch ([^`|]*)", help_of(call)))
        )
        if option not in known[name] and option != "-c"
    ]
    assert wrong == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_offers_commands_and_fixed_words(shell: str) -> None:
    """What --install-completion installs asks the program itself, in this way."""
    line = "groundwatch traces list --tier "
    env = {"_GROUNDWATCH_COMPLETE": f"complete_{shell}", "COMP_WORDS": line, "COMP_CWORD": "4"}
    env |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    result = CliRunner().invoke(app, [], env=env, prog_name="groundwatch")
    assert [word for word in ("low", "medium", "high") if word not in result.output] == []


def test_completion_can_be_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """For whoever keeps completions in a place of their own."""
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")  # no shell may be above a test
    result = CliRunner().invoke(app, ["--show-completion", "bash"], prog_name="groundwatch")
    assert "_GROUNDWATCH_COMPLETE" in result.output


def test_completion_asks_nobody_when_nothing_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An embedded store is not opened for a press of the tab key, and no error disturbs the line."""
    monkeypatch.setenv("GROUNDWATCH_DATA_DIR", str(tmp_path))
    env = {"_GROUNDWATCH_COMPLETE": "complete_bash", "COMP_WORDS": "groundwatch alerts show ", "COMP_CWORD": "3"}
    assert "" == CliRunner().invoke(app, [], env=env, prog_name="groundwatch").output.strip()
    assert [] == list(tmp_path.iterdir())


def test_lines_of_check_have_their_shape(tmp_path: Path) -> None:
    """Its words are its own, so they are compared here."""
    from streams.cli.checking import Checked, as_json  # noqa: PLC0415  loads weights
    from streams.cli.recorded import Line  # noqa: PLC0415
    from tests.builders import trace, verdict  # noqa: PLC0415

    row = as_json(Checked(Line(tmp_path, 1, b"", 0), trace(), verdict()))
    assert SHAPES["check"].model_fields.keys() == row.keys() | {"error"}
    SHAPES["check"].model_validate(json.loads(json.dumps(row)))


def test_version_and_configuration_are_json_too() -> None:
    """Both are read by scripts that start deployments."""
    run: Callable[..., Any] = CliRunner().invoke
    SHAPES["version"].model_validate_json(run(app, ["version", "--json"]).output)
    rows = [json.loads(line) for line in run(app, ["config", "check", "--all", "--json"]).output.splitlines()]
    assert {"setting": "ingest.salt", "value": None, "is_secret": True} in rows
    assert check.__name__ in COMMANDS
