"""``groundwatch models`` as it is typed: what is listed, exit codes, and messages that say what to do."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from schemas.claim import CheckItem
from schemas.errors import ConfigError, HubUnavailable, NotReached
from schemas.labels import Outcome
from schemas.verdict import ClaimJudgement
from streams.cli import modelling
from streams.cli.exits import exit_code
from streams.cli.program import app
from streams.models.catalogue import catalogue
from tests.builders_models import flip_a_byte, model_folder

Run = Callable[..., Result]


class Loaded:
    """A model that was loaded without loading anything."""

    name, fingerprint = "loaded", "loaded-1"

    def __init__(self, error: Outcome | None = None) -> None:
        self.error = error

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """The same for every claim."""
        judged = ClaimJudgement(support=0.9) if self.error is None else ClaimJudgement(error=self.error)
        return [[judged] * len(item.claims) for item in items]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in an empty folder with an empty folder of models."""
    monkeypatch.chdir(tmp_path)
    for name in ("GROUNDWATCH_CONFIG", "GROUNDWATCH_DATA", "GROUNDWATCH_KAFKA_HOME"):
        monkeypatch.delenv(name, raising=False)

    def invoke(*arguments: str, **variables: str) -> Result:
        for name, value in variables.items():
            monkeypatch.setenv(f"GROUNDWATCH_MODELS__{name.upper()}", value)
        return CliRunner(env={"COLUMNS": "200"}).invoke(app, ["models", *arguments])

    return invoke


def rows(result: Result) -> list[dict[str, object]]:
    """What was printed with --json."""
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_list_names_ours_the_catalogue_and_what_lies_there(run: Run, tmp_path: Path) -> None:
    """With state and with what verify uses; a folder without a manifest is unchecked."""
    model_folder(tmp_path / "data" / "models" / "by-hand")
    found = {str(row["name"]): row for row in rows(run("list", "--json", use="by-hand"))}
    assert ["own", *catalogue(), "by-hand"] == list(found)
    assert "absent" == found["hhem-2.1-open"]["state"]
    assert ("unchecked", "folder", True) == tuple(found["by-hand"][key] for key in ("state", "source", "is_used"))
    assert ["by-hand"] == [name for name, row in found.items() if row["is_used"]]
    assert "nli-deberta-v3-base" in run("list").stdout


def test_list_shows_the_folder_that_the_settings_name(run: Run, tmp_path: Path) -> None:
    """Outside the folder of models."""
    folder = model_folder(tmp_path / "elsewhere")
    found = rows(run("list", "--json", use=str(folder)))[-1]
    assert (str(folder), True) == (found["name"], found["is_used"])


def test_pull_from_a_folder_then_check_then_a_flipped_byte(run: Run, tmp_path: Path) -> None:
    """Whole: 0. One bit turned: damaged, with the file's name, and 1."""
    model_folder(tmp_path / "stick")
    pulled = run("pull", "nli", "--from", "stick", "--json")
    assert (0, True, "nli") == (pulled.exit_code, rows(pulled)[0]["is_new"], rows(pulled)[0]["layout"])
    whole = run("check", "nli", "--files-only", "--json")
    assert (0, "present", []) == (whole.exit_code, rows(whole)[0]["state"], rows(whole)[0]["faults"])

    flip_a_byte(tmp_path / "data" / "models" / "nli" / "model.safetensors")
    damaged = run("check", "--files-only")
    assert 1 == damaged.exit_code
    assert "model.safetensors has another SHA-256" in damaged.stdout
    assert "damaged" in damaged.stdout


def test_check_of_a_model_that_is_absent_says_how_to_get_it(run: Run) -> None:
    """And ends with 1."""
    found = run("check", "hhem-2.1-open", "--json")
    assert (1, "absent") == (found.exit_code, rows(found)[0]["state"])
    assert "groundwatch models pull hhem-2.1-open" in found.stdout


def test_check_lets_the_model_judge_and_says_where_and_how_fast(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What verify would wait for at its start."""
    model_folder(tmp_path / "data" / "models" / "nli")
    monkeypatch.setattr(modelling, "load_folder", lambda _found, _settings: Loaded())
    monkeypatch.setattr(modelling, "runs_on", lambda _settings: "cpu fp32")
    checked = rows(run("check", "nli", "--json"))[0]
    assert ("loaded-1", "cpu fp32") == (checked["fingerprint"], checked["runs_on"])
    assert float(str(checked["claims_per_second"])) > 0
    assert "claims a second" in run("check", "nli").stdout


def test_a_model_that_fails_on_claims_or_does_not_load_is_a_fault(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A verdict of each would be in error."""

    def broken(_found: object, _settings: object) -> Loaded:
        raise ConfigError("no such device")

    model_folder(tmp_path / "data" / "models" / "nli")
    monkeypatch.setattr(modelling, "load_folder", lambda _found, _settings: Loaded(Outcome.ERROR_MODEL))
    monkeypatch.setattr(modelling, "runs_on", lambda _settings: "cpu fp32")
    failing = run("check", "nli", "--json")
    assert (1, ["claims come out as error:model"]) == (failing.exit_code, rows(failing)[0]["faults"])
    monkeypatch.setattr(modelling, "load_folder", broken)
    unloaded = run("check", "nli", "--json")
    assert (1, ["does not load: no such device"]) == (unloaded.exit_code, rows(unloaded)[0]["faults"])


def test_offline_no_hub_is_asked_and_the_message_names_the_way(run: Run) -> None:
    """At once, without a wait."""
    result = run("pull", "hhem-2.1-open", offline="true")
    assert isinstance(result.exception, ConfigError)
    assert "--from" in str(result.exception)


def test_a_hub_that_is_away_ends_with_69_and_an_unknown_name_with_1(run: Run) -> None:
    """A script tries the first again, and not the second."""
    away = run("pull", "hhem-2.1-open", hub="http://127.0.0.1:9")
    assert isinstance(away.exception, HubUnavailable)
    unknown = run("pull", "hhem")
    assert isinstance(unknown.exception, NotReached)
    assert (69, 1) == (exit_code(away.exception), exit_code(unknown.exception))


@pytest.mark.parametrize("name", ["..", "../../etc", "auto", "-x"])
def test_no_name_leads_out_of_the_folder(run: Run, tmp_path: Path, name: str) -> None:
    """Nothing is written beside it."""
    model_folder(tmp_path / "stick")
    result = run("pull", "--from", "stick", "--as", name, "--", "m")
    assert isinstance(result.exception, ConfigError)
    assert ["data", "stick"] == sorted(path.name for path in tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_named(run: Run, tmp_path: Path) -> None:
    """It is a file."""
    model_folder(tmp_path / "stick")
    (tmp_path / "taken").touch()
    result = run("pull", "m", "--from", "stick", dir="taken")
    assert isinstance(result.exception, ConfigError)
    assert "taken" in str(result.exception)
