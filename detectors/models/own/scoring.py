"""Runs the network over pairs; imported only where a model is loaded, because it needs torch."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from detectors.models.linears import Bf16Linear, Int8Linear, replace_modules
from detectors.models.options import ModelOptions, Precision
from detectors.models.own.base import base_config
from detectors.models.own.batching import pad, tensors
from detectors.models.own.detector import Scored
from detectors.models.own.encoding import Pair
from detectors.models.own.network import EMBEDDINGS, Network
from detectors.models.runtime import device_of, precision_of
from schemas.errors import ConfigError

_DECIMALS = 3


class TorchScorer:
    """The network with its weights; safe to share across threads, one call at a time computes.

    Padding is masked and batches hold pairs of like length, so batch mates change a score by rounding alone: less than
    0.002 in log-odds in fp32.
    """

    def __init__(self, network: Network, options: ModelOptions) -> None:
        if options.threads:
            torch.set_num_threads(options.threads)
        self._device = device_of(options.device)
        self.precision = precision_of(options.precision, self._device)
        if self.precision is not Precision.FP32:
            make = Bf16Linear if self.precision is Precision.BF16 else Int8Linear
            replace_modules(network.bert, nn.Linear, make)  # the heads stay as they are
        self._network = network.eval().to(self._device)
        self._batch_tokens = options.batch_tokens

    @property
    def runs_on(self) -> str:
        """Device and numbers, as ``cpu fp32``."""
        return f"{self._device.type} {self.precision.value}"

    def score(self, pairs: Sequence[Pair]) -> list[Scored]:
        """One result a pair, in order."""
        found: list[Scored | None] = [None] * len(pairs)
        order = sorted(range(len(pairs)), key=lambda at: len(pairs[at].ids))
        with torch.inference_mode():
            for rows in self._batches(order, pairs):
                arguments: tuple[Tensor, ...] = tensors(pad([pairs[row] for row in rows]))
                support, wrong = (
                    part.cpu().tolist() for part in self._network(*(one.to(self._device) for one in arguments))
                )
                for at, row in enumerate(rows):
                    pair = pairs[row]
                    logits = wrong[at][pair.claim_start : pair.claim_end]
                    found[row] = Scored(round(support[at], _DECIMALS), tuple(round(one, _DECIMALS) for one in logits))
        return [one for one in found if one is not None]

    def _batches(self, order: Sequence[int], pairs: Sequence[Pair]) -> Iterator[list[int]]:
        batch: list[int] = []
        for row in order:
            if batch and len(pairs[row].ids) * (len(batch) + 1) > self._batch_tokens:
                yield batch
                batch = []
            batch.append(row)
        if batch:
            yield batch


def load_network(weights: Path, base: Path) -> Network:
    """The network with the base model's word embeddings and our weights. Raises ConfigError for weights of another."""
    network = Network(base_config(base))
    state = {name: value.float() for name, value in load_file(weights).items()}
    embeddings = load_file(base / "model.safetensors")["embeddings.word_embeddings.weight"]
    try:
        network.load_state_dict({**state, EMBEDDINGS: embeddings.float()})
    except RuntimeError as error:
        raise ConfigError(f"{weights} does not fit the network of this version: {error}") from error
    return network
