"""Which layout a folder is of, what its outputs mean, and what is refused."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from detectors.models import Device, ModelOptions, Precision, load_model
from detectors.models.folder import Layout, read_folder, recognise
from detectors.models.labels import hallucination_index, nli_indices
from schemas.errors import ConfigError
from tests import tiny_models

NLI = {"architectures": ["DebertaV2ForSequenceClassification"], "model_type": "deberta-v2"}
TAGGER = {"architectures": ["ModernBertForTokenClassification"], "model_type": "modernbert"}


@pytest.mark.parametrize(
    ("layout", "config"),
    [
        (Layout.PAIR_SCORER, {"architectures": ["HHEMv2ForSequenceClassification"], "model_type": "HHEMv2Config"}),
        (Layout.PAIR_SCORER, {"model_type": "HHEMv2"}),
        (Layout.PAIR_SCORER, {"architectures": ["T5ForTokenClassification"], "model_type": "t5"}),
        (Layout.NLI, {**NLI, "id2label": {"0": "contradiction", "1": "entailment", "2": "neutral"}}),
        (Layout.NLI, {**NLI, "label2id": {"ENTAILMENT": 0, "NEUTRAL": 1, "CONTRADICTION": 2}}),
        (Layout.SPAN_TAGGER, {**TAGGER, "id2label": {"0": "LABEL_0", "1": "LABEL_1"}}),
        (Layout.SPAN_TAGGER, {**TAGGER, "id2label": {"0": "hallucinated", "1": "supported"}}),
        (Layout.SPAN_TAGGER, TAGGER),
    ],
)
def test_a_layout_is_recognised_by_its_configuration(layout: Layout, config: dict[str, Any]) -> None:
    """Architecture, type and labels say which it is."""
    assert layout is recognise(config)


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"architectures": ["LlamaForCausalLM"], "model_type": "llama"}, "LlamaForCausalLM"),
        ({}, "architectures none"),
        ({**NLI, "id2label": {"0": "negative", "1": "positive"}}, "positive"),
        ({**NLI, "id2label": {"0": "entailment", "1": "not_entailment"}}, "contradiction"),
        ({**NLI, "id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}}, "id2label"),
        ({**TAGGER, "id2label": {"0": "O", "1": "B-PER", "2": "I-PER"}}, "B-PER"),
        ({**TAGGER, "id2label": {"0": "O", "1": "NAME"}}, "hallucinated"),
    ],
)
def test_what_fits_no_layout_is_refused_with_what_it_is(config: dict[str, Any], named: str) -> None:
    """The message says what was found in place of a layout, or which label is missing."""
    with pytest.raises(ConfigError, match=named):
        recognise(config)


def test_the_order_of_labels_is_read_and_not_assumed() -> None:
    """Published models differ: entailment is first, second or third, and names come in any case."""
    for order in (("entailment", "neutral", "contradiction"), ("Contradiction", "Entailment", "Neutral")):
        found = nli_indices({"id2label": {str(index): name for index, name in enumerate(order)}})

        assert "entailment" == order[found.entailment].lower()
        assert "contradiction" == order[found.contradiction].lower()
    assert 0 == hallucination_index({"id2label": {"0": "hallucinated", "1": "supported"}})
    assert 1 == hallucination_index({})


def test_labels_in_another_order_give_the_same_scores(tmp_path: Path) -> None:
    """A model whose outputs are permuted, and whose configuration says so, judges as before."""
    plain, turned = tmp_path / "plain", tmp_path / "turned"
    plain.mkdir()
    tiny_models.nli(plain)
    shutil.copytree(plain, turned)
    order = [2, 0, 1]
    weights = load_file(turned / "model.safetensors")
    for name in ("classifier.weight", "classifier.bias"):
        weights[name] = weights[name][order].clone()
    save_file(weights, turned / "model.safetensors")
    labels = {str(new): tiny_models.NLI_LABELS[old] for new, old in enumerate(order)}
    _edit(
        turned, lambda config: {**config, "id2label": labels, "label2id": {name: int(i) for i, name in labels.items()}}
    )
    item = tiny_models.item("Refunds take 5 days.", "Refunds take 5 days after delivery.")

    assert load_model(plain).judge([item]) == load_model(turned).judge([item])


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt"])
def test_pickled_weights_are_refused(tmp_path: Path, name: str) -> None:
    """A pickle runs code when it is read, so it is not even opened."""
    tiny_models.nli(tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / name)

    with pytest.raises(ConfigError, match="never loaded"):
        load_model(tmp_path)


def test_code_in_a_folder_is_not_run(tmp_path: Path) -> None:
    """A published pair scorer names code of its own; the folder loads, and the code stays unread."""
    tiny_models.hhem(tmp_path)
    (tmp_path / "modeling_hhem_v2.py").write_text("raise SystemExit('the code of the folder was run')")

    assert "pair_scorer" == load_model(tmp_path).name


def test_a_known_model_loads_without_the_code_that_it_names(tmp_path: Path) -> None:
    """``auto_map`` beside a type that transformers knows is not looked at."""
    tiny_models.nli(tmp_path, auto_map={"AutoModelForSequenceClassification": "evil.Model"})
    (tmp_path / "evil.py").write_text("raise SystemExit('the code of the folder was run')")

    assert "nli" == load_model(tmp_path).name


def test_a_model_that_needs_its_own_code_is_refused(tmp_path: Path) -> None:
    """A type that transformers does not know could only be run by the folder's code."""
    tiny_models.nli(tmp_path, model_type="evil", auto_map={"AutoConfig": "evil.Config"})
    (tmp_path / "evil.py").write_text("raise SystemExit('the code of the folder was run')")

    with pytest.raises(ConfigError, match="never run"):
        load_model(tmp_path)


def test_weights_without_a_classifier_are_refused(tmp_path: Path) -> None:
    """A library would fill what is missing with chance, and scores would mean nothing."""
    tiny_models.nli(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    save_file({name: one for name, one in weights.items() if "classifier" not in name}, tmp_path / "model.safetensors")

    with pytest.raises(ConfigError, match="classifier"):
        load_model(tmp_path)


@pytest.mark.parametrize("change", ["head", "embedding", "labels"])
def test_a_pair_scorer_with_other_weights_is_refused(tmp_path: Path, change: str) -> None:
    """No classifier, no embedding, or three outputs."""
    tiny_models.hhem(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    if change == "labels":
        weights["t5.classifier.weight"] = torch.zeros(3, 32)
    else:
        del weights["t5.classifier.weight" if change == "head" else "t5.transformer.shared.weight"]
    save_file(weights, tmp_path / "model.safetensors")

    with pytest.raises(ConfigError, match="two outputs"):
        load_model(tmp_path)


@pytest.mark.parametrize("make", [tiny_models.hhem, tiny_models.nli], ids=["pair_scorer", "nli"])
@pytest.mark.parametrize("change", ["torn", "other-size", "tokenizer"])
def test_damaged_files_are_refused(tmp_path: Path, make: Callable[[Path], Path], change: str) -> None:
    """Each library has errors of its own for them; all become one that names the place."""
    make(tmp_path)
    path = tmp_path / "model.safetensors"
    weights = load_file(path)
    if change == "other-size":
        name = next(name for name in weights if "classifier" not in name and weights[name].dim() > 1)
        save_file({**weights, name: weights[name][:-1].clone()}, path)
    elif change == "torn":
        path.write_bytes(path.read_bytes()[:1_000])
    else:
        (tmp_path / "tokenizer.json").write_text('{"version": "1.0"}')

    with pytest.raises(ConfigError, match=str(tmp_path)):
        load_model(tmp_path)


@pytest.mark.parametrize("prompt", ["{text1} and {text2.__class__}", "{text1}", "{text1} {text2} {0}", "{"])
def test_a_prompt_with_other_fields_is_refused(tmp_path: Path, prompt: str) -> None:
    """A prompt of a folder may name the two texts, and look into nothing."""
    tiny_models.hhem(tmp_path, prompt=prompt)

    with pytest.raises(ConfigError, match="text1"):
        load_model(tmp_path)


def test_a_model_without_a_tokenizer_says_what_to_give(tmp_path: Path) -> None:
    """The published pair scorer has none: the option names the other's folder or file."""
    folder, other = tmp_path / "model", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    tiny_models.hhem(folder)
    (folder / "tokenizer.json").rename(other / "tokenizer.json")

    with pytest.raises(ConfigError, match="tokenizer"):
        load_model(folder)
    by_folder = load_model(folder, ModelOptions(tokenizer=other))
    by_file = load_model(folder, ModelOptions(tokenizer=other / "tokenizer.json"))
    assert by_folder.fingerprint == by_file.fingerprint


@pytest.mark.parametrize("content", ["", "[]", "{", None], ids=["empty", "list", "broken", "absent"])
def test_a_folder_without_a_configuration_is_refused(tmp_path: Path, content: str | None) -> None:
    """The message names the file."""
    if content is not None:
        (tmp_path / "config.json").write_text(content)

    with pytest.raises(ConfigError, match=r"config\.json"):
        read_folder(tmp_path)


def test_the_fingerprint_follows_what_decides_scores(tmp_path: Path) -> None:
    """Weights, configuration and options that change scores change it; batches, threads and the place do not."""
    first, moved = tmp_path / "first", tmp_path / "moved"
    first.mkdir()
    tiny_models.nli(first)
    shutil.copytree(first, moved)
    known = load_model(first).fingerprint

    assert known == load_model(moved, ModelOptions(threads=1, batch_tokens=64, queue_tokens=999)).fingerprint
    changed = [
        load_model(first, ModelOptions(precision=Precision.BF16)).fingerprint,
        load_model(first, ModelOptions(window_tokens=100)).fingerprint,
        load_model(first, ModelOptions(full_context=True)).fingerprint,
    ]
    weights = load_file(moved / "model.safetensors")
    weights["classifier.bias"] += 0.5
    save_file(weights, moved / "model.safetensors")
    assert 5 == len({known, load_model(moved).fingerprint, *changed})


@pytest.mark.parametrize(
    "options",
    [
        {"threads": -1},
        {"evidence_tokens": 4},
        {"evidence_passages": 0},
        {"batch_tokens": 0},
        {"overlap_tokens": 256},
        {"precision": Precision.INT8, "device": Device.CUDA},
    ],
    ids="-".join,
)
def test_options_that_cannot_work_are_refused(options: dict[str, Any]) -> None:
    """Before anything is loaded."""
    with pytest.raises(ConfigError):
        ModelOptions(**options)


def test_a_gpu_that_is_not_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for by name, a GPU is not silently replaced by a processor."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    tiny_models.nli(tmp_path)

    with pytest.raises(ConfigError, match="GPU"):
        load_model(tmp_path, ModelOptions(device=Device.CUDA))


def test_a_window_above_the_models_positions_is_refused(tmp_path: Path) -> None:
    """It has no positions there; only relative ones stretch."""
    tiny_models.nli(tmp_path)

    with pytest.raises(ConfigError, match="window_tokens"):
        load_model(tmp_path, ModelOptions(window_tokens=4096))


def _edit(folder: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
