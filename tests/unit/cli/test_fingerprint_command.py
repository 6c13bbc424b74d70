"""``groundwatch fingerprint``: the parts by name, and what a difference means."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from detectors.claims import splitter_name
from detectors.fingerprint import digest
from detectors.layers import Layers
from sampling.policy_file import default_policy_text
from schemas.errors import ConfigError, NotReached
from streams.cli import layered
from streams.cli.fingerprint_view import Made, compared
from streams.cli.program import app
from tests.fakes_layers import FakeStacked


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, without a running process or a store."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GROUNDWATCH_CONFIG", raising=False)
    monkeypatch.setenv("GROUNDWATCH_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("GROUNDWATCH_MODELS__USE", "none")
    for name in ("GROUNDWATCH_DATA", "GROUNDWATCH_KAFKA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def ask(*arguments: str) -> Result:
    """The command's result."""
    return CliRunner().invoke(app, ["fingerprint", *arguments])


def policy_file(folder: Path, name: str, **changes: str) -> str:
    """The default policy with lines replaced, as a file."""
    text = default_policy_text()
    for before, after in changes.items():
        assert f"{before}:" in text
        text = text.replace(f"  {before}: 0.7", f"  {before}: {after}")
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_parts_make_the_digits(folder: Path) -> None:
    """Each by name, so that a person can see what is in it."""
    found = json.loads(ask("--policy", policy_file(folder, "p.yaml"), "--json").stdout)

    assert digest(found["parts"]) == found["fingerprint"]
    assert {"detector", "layers", "splitter", "l0", "phrases", "threshold_supported"} <= found["parts"].keys()
    assert splitter_name() == found["parts"]["splitter"]


def test_sampling_bars_and_texts_are_no_parts(folder: Path) -> None:
    """They start no new series."""
    first = policy_file(folder, "a.yaml")
    second = folder / "b.yaml"
    second.write_text("name: other\nbars: {high: 0.9}\nsampling: {default_probability: 0.5}\n", encoding="utf-8")

    found = json.loads(ask("--compare", first, str(second), "--json").stdout)

    assert found["is_same_series"]
    assert [] == found["changed"]


def test_a_threshold_and_the_splitting_start_a_new_series_and_say_why(folder: Path) -> None:
    """Old and new value, and what it means for verdicts."""
    first = policy_file(folder, "a.yaml")
    second = folder / "b.yaml"
    second.write_text("name: x\nthresholds: {supported: 0.8}\nclaims: {split: atomic}\n", encoding="utf-8")

    shown = ask("--compare", first, str(second))

    assert 0 == shown.exit_code
    assert f"splitter: {splitter_name()} -> {splitter_name()}-atomic" in shown.stdout
    assert "answers are split into other claims" in shown.stdout
    assert "threshold_supported: 0.7 -> 0.8" in shown.stdout


def test_a_configuration_with_another_splitter_is_another_series(folder: Path) -> None:
    """A file of settings is told from a policy; the policy is then the one in force, here the default one."""
    config = folder / "gw.yaml"
    config.write_text(
        "verify: {claim_splitter: llm, splitter_url: 'http://127.0.0.1:1/v1', splitter_model: m}\n", encoding="utf-8"
    )

    found = json.loads(ask("--compare", "now", str(config), "--json").stdout)

    assert ["splitter"] == [change["part"] for change in found["changed"]]
    assert found["changed"][0]["after"].startswith("llm:m:")


def test_without_a_process_or_store_the_default_policy_is_taken_and_said(folder: Path) -> None:
    """On standard error, so that the JSON stays one line."""
    shown = ask("--json")

    assert "default policy" == json.loads(shown.stdout)["source"]
    assert "The default policy is taken" in shown.stderr
    assert folder.exists()


def test_what_cannot_be_compared_is_named(folder: Path) -> None:
    """Neither a file nor 16 digits; digits that no verdict has need a store."""
    assert isinstance(ask("--compare", "now", "nowhere.yaml").exception, ConfigError)
    assert isinstance(ask("--compare", "now", "0123456789abcdef").exception, NotReached)
    assert folder.exists()


def test_verdicts_of_older_versions_cannot_be_explained() -> None:
    """They did not store their parts, and a guess would be wrong."""
    old = Made(source="stored verdicts", fingerprint="f", parts={})

    with pytest.raises(NotReached, match="did not store"):
        compared(old, old)


def test_a_layer_above_l1_is_a_part_where_the_route_has_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Models judge in L1's place; a route without them keeps its series."""
    monkeypatch.setattr(layered, "load_layers", lambda _settings, _detector: Layers(models=FakeStacked()))
    policy = folder / "p.yaml"
    policy.write_text("name: x\nroutes: [{intent: fees, models: false}]\n", encoding="utf-8")

    with_models = json.loads(ask("--policy", str(policy), "--json").stdout)["parts"]
    without = json.loads(ask("--policy", str(policy), "--intent", "fees", "--json").stdout)["parts"]

    assert ("fake-stacked-1", "L0,L1,L2") == (with_models["detector"], with_models["layers"])
    assert "L0,L1" == without["layers"]


def test_a_layer_that_cannot_be_loaded_is_named_with_the_reason(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker beside this one may have it, and then makes another series."""
    absent = Layers(notes={"L2": "torch is not installed"})
    monkeypatch.setattr(layered, "load_layers", lambda _settings, _detector: absent)
    assert "without L2: torch is not installed" in ask("--policy", policy_file(folder, "p.yaml")).stdout
