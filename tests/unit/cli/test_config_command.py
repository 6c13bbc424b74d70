"""The configuration commands."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from streams.cli.config import ignored_variables
from streams.cli.program import app
from streams.settings.reference import annotated_example


def test_example_prints_the_annotated_file() -> None:
    """Redirected into a file it is a configuration."""
    assert annotated_example() == CliRunner().invoke(app, ["config", "example"]).output


def test_check_shows_what_differs_and_hides_secrets(tmp_path: Path) -> None:
    """A password never reaches the terminal."""
    path = tmp_path / "own.yaml"
    path.write_text("web: {port: 9000}\nkafka: {source: {sasl_password: hush}}", encoding="utf-8")
    result = CliRunner().invoke(app, ["config", "check", "-c", str(path)])
    assert result.exit_code == 0
    assert "web.port" in result.output
    assert "9000" in result.output
    assert "(secret)" in result.output
    assert "hush" not in result.output


def test_check_refuses_a_real_deployment_without_salt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found before the start, not at it."""
    path = tmp_path / "own.yaml"
    path.write_text("embedded: false", encoding="utf-8")
    result = CliRunner().invoke(app, ["config", "check", "-c", str(path)])
    assert "ingest.salt" in str(result.exception)


def test_check_reads_mapping_files(tmp_path: Path) -> None:
    """A wrong expression is found before the start."""
    (tmp_path / "mine.yaml").write_text("name: mine\nkind: trace\nfields: {trace_id: 'a..b'}", encoding="utf-8")
    path = tmp_path / "own.yaml"
    source = f"{{topic: traces, format: mapping, mapping: {tmp_path / 'mine.yaml'}}}"
    path.write_text(f"sources: [{source}]", encoding="utf-8")
    result = CliRunner().invoke(app, ["config", "check", "-c", str(path)])
    assert "fields.trace_id = 'a..b'" in str(result.exception)


def test_variables_that_set_nothing_are_listed() -> None:
    """A misspelt flat variable is visible; those of tests and other programs are not ours."""
    names = ["GROUNDWATCH_DATADIR", "GROUNDWATCH_DATA_DIR", "GROUNDWATCH_DATA", "GROUNDWATCH_WEB__PORT", "PATH"]
    assert ["GROUNDWATCH_DATADIR"] == ignored_variables(names)
