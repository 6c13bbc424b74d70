"""The place where torch and transformers are used: weights into a network, token ids into probabilities.

Classes come from transformers by name, never from the folder: ``auto_map`` is not looked at.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel, T5Config, T5ForTokenClassification
from transformers.activations import NewGELUActivation
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING,
)
from transformers.utils import logging as transformers_logging

from detectors.models.batching import Encoded
from detectors.models.engine import Array
from detectors.models.folder import Layout, ModelFolder
from detectors.models.linears import Bf16Linear, Int8Linear, replace_modules
from detectors.models.options import Device, ModelOptions, Precision
from detectors.models.t5 import t5_config, t5_weights
from schemas.errors import ConfigError

_HEAD = "classifier"
"""What the last layer is called in all three layouts; it stays in fp32."""


class Reading(StrEnum):
    """Which outputs of a network count."""

    FIRST = "first"
    """Those of the first token."""
    WHOLE = "whole"
    """Those of the input as a whole."""
    EACH = "each"
    """Those of each token."""


_READINGS = {
    Layout.PAIR_SCORER: Reading.FIRST,
    Layout.NLI: Reading.WHOLE,
    Layout.SPAN_TAGGER: Reading.EACH,
}


class Network:
    """A loaded model: ``detectors.models.engine.Forward``."""

    def __init__(self, folder: ModelFolder, options: ModelOptions) -> None:
        self.device = device_of(options.device)
        self.precision = precision_of(options.precision, self.device)
        try:
            model = _load(folder)
        except ConfigError:
            raise
        except Exception as error:  # torn files and weights of another size; each library has errors of its own
            raise ConfigError(f"{folder.path} cannot be loaded: {type(error).__name__}: {error}") from error
        if self.precision is not Precision.FP32:
            make = Bf16Linear if self.precision is Precision.BF16 else Int8Linear
            replace_modules(model, nn.Linear, make, spare=_HEAD)
            for parameter in model.parameters():  # what stays in fp32 would hold the whole file in memory
                parameter.data = parameter.data.clone()
        # The same function of nine steps in one, within 1e-6: a tenth of the time in fp32, a third in int8.
        replace_modules(model, NewGELUActivation, lambda _: nn.GELU(approximate="tanh"))
        config: PreTrainedConfig = model.config
        self._model: Any = model.to(self.device).eval()  # type: ignore[arg-type]
        self._reading = _READINGS[folder.layout]
        self._padding = int(config.pad_token_id or 0)
        self.has_types = folder.layout is not Layout.PAIR_SCORER and getattr(config, "type_vocab_size", 0) > 1
        self.longest = _longest(config)
        self._threads = options.threads

    @property
    def has_fixed_rows(self) -> bool:
        """True on GPUs, whose arithmetic depends on the shape of a batch."""
        return self.device.type == "cuda"

    def __call__(self, inputs: Sequence[Encoded], length: int, rows: int) -> list[Array]:
        """Probabilities of each input: over the labels, or over the labels of each token."""
        if self._threads:
            torch.set_num_threads(self._threads)
        ids = np.full((rows, length), self._padding, dtype=np.int64)
        types, mask = np.zeros_like(ids), np.zeros_like(ids)
        for row in range(rows):
            encoded = inputs[row % len(inputs)]
            size = len(encoded.ids)
            ids[row, :size], mask[row, :size] = encoded.ids, 1
            types[row, :size] = encoded.types or 0
        arrays = {"input_ids": ids, "attention_mask": mask, **({"token_type_ids": types} if self.has_types else {})}
        try:
            with torch.inference_mode():
                tensors = {name: torch.from_numpy(array).to(self.device) for name, array in arrays.items()}
                probabilities = self._probabilities(self._model(**tensors).logits)
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            raise
        found = probabilities.cpu().numpy()[: len(inputs)]
        if self._reading is not Reading.EACH:
            return list(found)
        return [one[: len(encoded.ids)] for one, encoded in zip(found, inputs, strict=True)]

    def _probabilities(self, logits: Tensor) -> Tensor:
        counted = logits[:, 0] if self._reading is Reading.FIRST else logits
        return torch.softmax(counted.float(), dim=-1)


def _load(folder: ModelFolder) -> PreTrainedModel:
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    if folder.layout is Layout.PAIR_SCORER:
        return _load_t5(folder)
    mapping = MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING
    if folder.layout is Layout.SPAN_TAGGER:
        mapping = MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING
    config = _known_config(folder.config)
    if type(config) not in mapping:
        raise ConfigError(f"{folder.path}: transformers has no {folder.layout.value} of type {config.model_type!r}")
    network: Any = mapping[type(config)]
    model, report = network.from_pretrained(
        folder.path,
        config=config,
        dtype=torch.float32,
        use_safetensors=True,
        local_files_only=True,
        output_loading_info=True,
    )
    if report["missing_keys"]:
        missing = ", ".join(sorted(report["missing_keys"])[:3])
        raise ConfigError(f"{folder.path}: the weights lack {missing}; what they lack would be left to chance")
    loaded: PreTrainedModel = model
    return loaded


def _known_config(config: Mapping[str, Any]) -> PreTrainedConfig:
    kind = str(config.get("model_type", ""))
    if kind not in CONFIG_MAPPING:
        raise ConfigError(
            f"model_type {kind!r} is none that this version of transformers knows; code that comes with a model is "
            "never run"
        )
    known = {name: value for name, value in config.items() if name != "auto_map"}
    made: PreTrainedConfig = CONFIG_MAPPING[kind].from_dict(known)
    return made


def _load_t5(folder: ModelFolder) -> PreTrainedModel:
    stored: dict[str, Tensor] = {}
    for path in folder.weights:
        stored |= load_file(path)
    weights = t5_weights(stored, str(folder.path))
    known = t5_config(weights, folder.config)
    config = T5Config(**known)
    with torch.device("meta"):
        model = T5ForTokenClassification(config)
    # Both names of the embedding hold the same tensor, as when transformers ties them.
    model.load_state_dict({name: tensor.float() for name, tensor in weights.items()}, strict=True, assign=True)
    return model


def runs_on(options: ModelOptions) -> str:
    """Where models of these options compute here, and in which numbers, for people. Raises ConfigError as they do."""
    device = device_of(options.device)
    return f"{device.type} {precision_of(options.precision, device).value}"


def device_of(wanted: Device) -> torch.device:
    """Where models of these options compute. Raises ConfigError where a GPU is wanted and there is none."""
    if wanted is Device.CUDA and not torch.cuda.is_available():
        raise ConfigError("device is cuda, and torch finds no GPU: take auto or cpu")
    is_gpu = wanted is Device.CUDA or (wanted is Device.AUTO and torch.cuda.is_available())
    return torch.device("cuda" if is_gpu else "cpu")


def precision_of(wanted: Precision, device: torch.device) -> Precision:
    """The numbers they compute in there. Raises ConfigError for those that a GPU has not."""
    if wanted is Precision.INT8 and device.type == "cuda":
        raise ConfigError("precision int8 is for processors: take bf16 on a GPU")
    if wanted is Precision.AUTO:
        return Precision.BF16 if device.type == "cuda" else Precision.FP32
    return wanted


def _longest(config: PreTrainedConfig) -> int:
    """Most tokens that the network takes; T5 has no bound of its own, and was made with 512."""
    positions = getattr(config, "max_position_embeddings", None)
    if positions is None:
        return int(getattr(config, "n_positions", 512))
    # In the RoBERTa family positions begin behind the padding's own.
    return int(positions) - (int(config.pad_token_id or 0) + 1 if "roberta" in config.model_type else 0)
