"""From the settings to models: which one, when there is none, and when the start is refused."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from detectors.models import Device, ModelOptions, Precision
from schemas.errors import ConfigError
from schemas.labels import Layer
from streams.layers import load_layers, present
from streams.models import loading
from streams.models.loading import found_model, load_models
from streams.models.orders import order_of
from streams.models.pull import pull_from_folder
from streams.settings import Settings
from streams.settings.models import Models
from tests.builders import check_item
from tests.builders_models import flip_a_byte, model_folder
from tests.fakes_detectors import ScriptedDetector
from tests.fakes_layers import FakeStacked

COMMIT = "a" * 40


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A data folder with one model, named m, of a known commit."""
    source = model_folder(tmp_path / "stick")
    pull_from_folder(order_of({}, "m", revision=COMMIT), tmp_path / "models", source)
    return tmp_path


def test_none_loads_nothing_and_misses_nothing(data_dir: Path) -> None:
    """Nobody asked."""
    assert (None, "") == load_models(Models(use="none"), data_dir, ScriptedDetector())


def test_auto_takes_ours_stacked_on_l1(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the options of the settings."""
    stacked, below = FakeStacked(), ScriptedDetector()
    asked: list[tuple[object, ModelOptions]] = []

    def load(l1: object, options: ModelOptions) -> FakeStacked:
        asked.append((l1, options))
        return stacked

    monkeypatch.setattr(loading, "load_stacked", load)
    assert (stacked, "") == load_models(Models(precision="bf16", device="cpu", threads=3), data_dir, below)
    ((l1, options),) = asked
    assert below is l1
    assert (Precision.BF16, Device.CPU, 3) == (options.precision, options.device, options.threads)


@pytest.mark.parametrize("error", [ConfigError("torch is not installed"), ImportError("libcudart")])
def test_auto_goes_on_without_ours_and_says_why(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """And `own` refuses to start."""

    def absent(_l1: object, _options: object) -> FakeStacked:
        raise error

    monkeypatch.setattr(loading, "load_stacked", absent)
    assert (None, str(error)) == load_models(Models(), data_dir, ScriptedDetector())
    with pytest.raises(ConfigError, match=f"own cannot be loaded: {error}"):
        load_models(Models(use="own"), data_dir, ScriptedDetector())


def test_a_named_model_judges_in_l1s_place(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody fitted weights to stack it with; its tokenizer may be another's."""
    asked: list[tuple[Path, ModelOptions]] = []
    model = ScriptedDetector()

    def load(folder: Path, options: ModelOptions) -> ScriptedDetector:
        asked.append((folder, options))
        return model

    monkeypatch.setattr(loading, "load_model", load)
    found, why = load_models(Models(use="m"), data_dir, ScriptedDetector())
    assert found is not None
    assert ("", model.fingerprint, model.name) == (why, found.fingerprint, found.name)
    item = check_item()
    assert model.judge([item]) == found.judge_after([item], [None]) == found.judge([item])
    assert [(data_dir / "models" / "m", None)] == [(folder, options.tokenizer) for folder, options in asked]

    (data_dir / "x").mkdir()
    foundation = model_folder(data_dir / "x" / "foundation")
    load_models(Models(use=str(data_dir / "x")), data_dir, ScriptedDetector())
    assert foundation == asked[-1][1].tokenizer


def test_a_named_model_that_is_absent_refuses_the_start(data_dir: Path) -> None:
    """Verdicts without it would be another series than was asked for."""
    with pytest.raises(ConfigError, match="groundwatch models pull hhem"):
        found_model(Models(use="hhem-2.1-open"), data_dir)
    with pytest.raises(ConfigError, match="correct the path"):
        found_model(Models(use=str(data_dir / "nowhere")), data_dir)


def test_a_named_model_that_is_damaged_refuses_the_start(data_dir: Path) -> None:
    """One bit of the weights."""
    flip_a_byte(data_dir / "models" / "m" / "model.safetensors")
    with pytest.raises(ConfigError, match=r"m is damaged: model\.safetensors has another SHA-256"):
        found_model(Models(use="m"), data_dir)


def test_a_model_of_another_commit_than_the_settings_say_refuses_the_start(data_dir: Path) -> None:
    """Workers with different models would make different series."""
    assert data_dir / "models" / "m" == found_model(Models(use="m", revision=COMMIT), data_dir).folder
    with pytest.raises(ConfigError, match=f"is of {COMMIT}, not of {'b' * 40}"):
        found_model(Models(use="m", revision="b" * 40), data_dir)


def test_layers_say_what_is_there(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> None:
    """And what is not, by layer."""
    settings = Settings(data_dir=data_dir)
    monkeypatch.setattr(loading, "load_stacked", lambda _l1, _options: FakeStacked())
    whole = load_layers(settings, ScriptedDetector())
    assert Layer.L2.value in present(whole)
    assert {} == whole.notes

    def absent(_l1: object, _options: object) -> FakeStacked:
        raise ImportError("no torch")

    monkeypatch.setattr(loading, "load_stacked", absent)
    bare = load_layers(settings, ScriptedDetector())
    assert Layer.L2.value not in present(bare)
    assert {"L2": "no torch"} == bare.notes


def test_without_the_extra_a_process_runs_l1_and_says_so(tmp_path: Path) -> None:
    """As a plain installation: no library of models can be found, and one line of the log names what is missing."""
    program = textwrap.dedent("""
        import json, sys

        class Absent:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] in {"torch", "transformers", "tokenizers", "safetensors", "huggingface_hub"}:
                    raise ModuleNotFoundError(f"No module named {name!r}", name=name)
                return None

        sys.meta_path.insert(0, Absent())
        from detectors.evidence import load_evidence_detector
        from streams.layers import load_layers
        from streams.logging import configure_logging
        from streams.settings import Settings
        from tests.builders import check_item

        configure_logging("info", "json")
        detector = load_evidence_detector()
        layers = load_layers(Settings(), detector)
        print(json.dumps([layers.models is None, *layers.notes, len(detector.judge([check_item()])[0])]))
    """)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parents[3], capture_output=True, text=True, check=True
    )
    assert '[true, "L2", 1]\n' == done.stdout
    (line,) = done.stderr.splitlines()
    assert "layers_loaded" in line
    assert "torch" in line
