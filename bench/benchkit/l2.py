"""A pair scorer of flan-t5-base's size with random weights, pairs of given lengths, and the loop everyone writes."""

import json
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from transformers import PreTrainedTokenizerFast, T5Config, T5ForTokenClassification

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from detectors.models.pairs import HHEM_PROMPT
from tests import tiny_models

Pair = tuple[str, str]
_SIZES: dict[str, Any] = {
    "vocab_size": 32_128,
    "d_model": 768,
    "d_kv": 64,
    "d_ff": 2_048,
    "num_layers": 12,
    "num_heads": 12,
    "feed_forward_proj": "gated-gelu",
}
_EMBEDDED = "transformer.encoder.embed_tokens.weight"
_HEAD = 0.1
"""Factor on the classifier's weights, so that scores lie between 0 and 1 and not at them."""


def build(folder: Path, layers: int) -> None:
    """The folder of a model as HHEM-2.1-open is published, 110 M parameters at 12 layers, with a small tokenizer."""
    torch.manual_seed(5)
    network: Any = T5ForTokenClassification(T5Config(**{**_SIZES, "num_layers": layers}))
    state = {f"t5.{name}": tensor.clone() for name, tensor in network.state_dict().items() if name != _EMBEDDED}
    state["t5.classifier.weight"] *= _HEAD
    save_file(state, folder / "model.safetensors")
    config = {"architectures": ["HHEMv2ForSequenceClassification"], "model_type": "HHEMv2Config"}
    (folder / "config.json").write_text(json.dumps(config))
    tiny_models.sentence_pieces().save(str(folder / "tokenizer.json"))


def pairs(count: int, low: int, high: int) -> list[Pair]:
    """Premises and hypotheses whose prompts have ``low`` to ``high`` tokens."""
    dice = random.Random(9)
    words = [word for word in tiny_models.WORDS if word.isalpha()]
    tokenizer = tiny_models.sentence_pieces()
    frame = len(tokenizer.encode(HHEM_PROMPT.format(text1="", text2="")).ids)
    made = []
    for _ in range(count):
        claim = dice.randint(5, 8)
        premise = max(1, dice.randint(low, high) - frame - claim)
        made.append((" ".join(dice.choices(words, k=premise)), " ".join(dice.choices(words, k=claim))))
    return made


def naive(folder: Path, layers: int) -> Callable[[Sequence[Pair]], list[float]]:
    """Tokenise a pair, run the model, take the score, next pair."""
    network: Any = T5ForTokenClassification(T5Config(**{**_SIZES, "num_layers": layers}))
    stored = {name.removeprefix("t5."): one for name, one in load_file(folder / "model.safetensors").items()}
    network.load_state_dict({**stored, _EMBEDDED: stored["transformer.shared.weight"]})
    network.eval()
    wrapped: Any = PreTrainedTokenizerFast
    tokenizer = wrapped(tokenizer_file=str(folder / "tokenizer.json"))

    def score(asked: Sequence[Pair]) -> list[float]:
        found = []
        for premise, hypothesis in asked:
            prompt = HHEM_PROMPT.format(text1=premise, text2=hypothesis)
            inputs = tokenizer(prompt, return_tensors="pt", return_token_type_ids=False)
            with torch.no_grad():
                found.append(float(torch.softmax(network(**inputs).logits[:, 0, :], dim=-1)[0, 1]))
        return found

    return score
