"""From a folder somebody brought to verdicts: pulled, checked, loaded as configured, refused once it is damaged."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from schemas.codec import encode
from schemas.errors import ConfigError
from streams.cli.program import app
from tests import tiny_models
from tests.builders import trace
from tests.builders_models import flip_a_byte

LAYOUTS = {"pair_scorer": tiny_models.hhem, "nli": tiny_models.nli, "span_tagger": tiny_models.tagger}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs a command in an empty folder, with one thread a model."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWATCH_MODELS__THREADS", "1")
    for name in ("GROUNDWATCH_CONFIG", "GROUNDWATCH_DATA", "GROUNDWATCH_KAFKA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return lambda *arguments: CliRunner(env={"COLUMNS": "200"}).invoke(app, list(arguments))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_model_of_each_layout_is_recognised_loads_and_judges(
    run: Callable[..., Result], tmp_path: Path, layout: str
) -> None:
    """Before verify is told to use it."""
    (tmp_path / "stick").mkdir()
    LAYOUTS[layout](tmp_path / "stick")
    pulled = json.loads(run("models", "pull", "m", "--from", "stick", "--json").stdout)
    checked = run("models", "check", "m", "--json")
    found = json.loads(checked.stdout)
    assert (0, layout, layout, []) == (checked.exit_code, pulled["layout"], found["layout"], found["faults"])
    assert found["fingerprint"].startswith(f"{layout}:")
    assert found["runs_on"] in {"cpu fp32", "cuda bf16"}


def test_the_model_of_the_configuration_judges_until_it_is_damaged(
    run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its fingerprint is in the verdict; one bit later nothing starts with it."""
    (tmp_path / "stick").mkdir()
    tiny_models.nli(tmp_path / "stick")
    run("models", "pull", "m", "--from", "stick")
    (tmp_path / "t.jsonl").write_bytes(encode(trace()))
    monkeypatch.setenv("GROUNDWATCH_MODELS__USE", "m")

    verdict = json.loads(run("check", "t.jsonl", "--json").stdout)
    parts = json.loads(run("fingerprint", "--json").stdout)["parts"]
    assert ["L0", "L1", "L2"] == verdict["layers"]
    assert ("L0,L1,L2", True) == (parts["layers"], parts["detector"].startswith("nli:"))

    flip_a_byte(tmp_path / "data" / "models" / "m" / "model.safetensors")
    refused = run("check", "t.jsonl")
    assert isinstance(refused.exception, ConfigError)
    assert "model.safetensors has another SHA-256" in str(refused.exception)
