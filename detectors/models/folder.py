"""What a model folder holds, found without loading it: layout, configuration, weights, tokenizer.

Code that lies in a folder is never run, and weights are safetensors or nothing: a pickle runs code when it is read.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path
from typing import Any

from detectors.models.labels import hallucination_index, has_entailment, nli_indices, shown_labels
from schemas.errors import ConfigError

_BLOCK = 1 << 20
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
_HHEM = frozenset({"HHEMv2", "HHEMv2Config"})


class Layout(StrEnum):
    """Ways in which published models judge a claim; also the name of the detector."""

    PAIR_SCORER = "pair_scorer"
    """HHEM-2.1-open: a T5 encoder on a prompt with premise and hypothesis; consistent or not."""
    NLI = "nli"
    """A sequence classifier on premise and hypothesis: entailment, contradiction, and what is neither."""
    SPAN_TAGGER = "span_tagger"
    """LettuceDetect: a token classifier on context and answer; each token of the answer supported or not."""


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder whose layout is known; ``weights`` and ``tokenizer`` exist."""

    path: Path
    layout: Layout
    config: Mapping[str, Any]
    weights: tuple[Path, ...]
    tokenizer: Path

    def digest(self) -> str:
        """Thirty-two hex digits over weights, tokenizer and configuration, wherever they lie."""
        content = blake2b(json.dumps(self.config, sort_keys=True).encode(), digest_size=16)
        for path in (self.tokenizer, *self.weights):
            content.update(f"\n{path.name}\n".encode())
            with path.open("rb") as file:
                while block := file.read(_BLOCK):
                    content.update(block)
        return content.hexdigest()


def read_folder(folder: Path, tokenizer: Path | None = None) -> ModelFolder:
    """What ``folder`` holds. Raises ConfigError that says what is missing, or what was found in place of a layout."""
    config = _config(folder)
    layout = recognise(config, str(folder))
    return ModelFolder(folder, layout, config, _weights(folder), _tokenizer(folder, tokenizer))


def recognise(config: Mapping[str, Any], where: str = "config.json") -> Layout:
    """The layout that a ``config.json`` describes, by its architecture, type and labels.

    Raises ConfigError where it is none of ours, with what it is instead.
    """
    architectures = [str(name) for name in config.get("architectures") or ()]
    kind = str(config.get("model_type", ""))
    if kind in _HHEM or "HHEMv2ForSequenceClassification" in architectures:
        return Layout.PAIR_SCORER
    if "T5ForTokenClassification" in architectures and kind == "t5" and len(shown_labels(config)) in {0, 2}:
        return Layout.PAIR_SCORER
    if any(name.endswith("ForSequenceClassification") for name in architectures) and has_entailment(config):
        nli_indices(config)
        return Layout.NLI
    if any(name.endswith("ForTokenClassification") for name in architectures) and kind != "t5":
        hallucination_index(config)
        return Layout.SPAN_TAGGER
    raise ConfigError(
        f"{where} is no model that we can ask: architectures {architectures or 'none'}, model_type {kind or 'none'!r}, "
        f"labels {shown_labels(config) or 'none'}; known are a pair scorer (HHEMv2ForSequenceClassification, or "
        "T5ForTokenClassification with two labels), an NLI classifier (…ForSequenceClassification with entailment and "
        "contradiction) and a span tagger (…ForTokenClassification with two labels)"
    )


def _config(folder: Path) -> Mapping[str, Any]:
    path = folder / "config.json"
    if not path.is_file():
        raise ConfigError(f"{folder} holds no config.json: give the folder of a model")
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(f"{path} is not JSON: {error}") from error
    if not isinstance(config, dict):
        raise ConfigError(f"{path} is not a JSON object")
    return config


def _weights(folder: Path) -> tuple[Path, ...]:
    found = tuple(sorted(folder.glob("model*.safetensors")))
    if found:
        return found
    pickles = sorted(path.name for pattern in _PICKLES for path in folder.glob(pattern))
    if pickles:
        raise ConfigError(
            f"{folder} holds {', '.join(pickles[:3])} and no model.safetensors: pickled weights run code when they are "
            "read, so they are never loaded; take a revision with safetensors, or convert them"
        )
    raise ConfigError(f"{folder} holds no model.safetensors")


def _tokenizer(folder: Path, given: Path | None) -> Path:
    place = given if given is not None else folder
    path = place / "tokenizer.json" if place.is_dir() else place
    if not path.is_file():
        hint = "" if given is not None else "; models without one name theirs in `tokenizer` (HHEM-2.1-open: flan-t5's)"
        raise ConfigError(f"{path} is missing: a model is read with its tokenizer.json{hint}")
    return path
