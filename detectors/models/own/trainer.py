"""One stage of training, which can be cut at any time and goes on from its checkpoint; needs torch and scikit-learn."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits as bce

from detectors.models.own.batching import UNKNOWN, Input, pad, targets, tensors
from detectors.models.own.network import Network
from detectors.models.own.stages import Stage

_WARM = 100
_TOKEN_LOSS = 2.0
_CHECKPOINT_SECONDS = 150


class Trainer:
    """One stage; keeps a checkpoint of network, optimiser and random state."""

    def __init__(self, network: Network, stage: Stage, path: Path, config: Mapping[str, Any]) -> None:
        self._stage, self._path = stage, path
        self._network = Network(config, stage.dropout)
        self._network.load_state_dict(network.state_dict())
        self._network.bert.embeddings.word_embeddings.weight.requires_grad_(False)  # noqa: FBT003 - as in network
        self._parameters = [one for one in self._network.parameters() if one.requires_grad]
        self._optimiser = torch.optim.AdamW(self._parameters, lr=stage.rate, weight_decay=0.01, fused=True)
        self._step = 0
        self.seconds = 0.0

    def run(self, watched: Sequence[Input]) -> Network:
        """All steps that are left."""
        self._resume()
        began, saved, spent, pairs, losses = time.monotonic(), time.monotonic(), self.seconds, 0, []
        for step in range(self._step, len(self._stage.batches)):
            losses.append(self.step(step))
            pairs += len(self._stage.batches[step])
            self.seconds = spent + time.monotonic() - began
            if self._step % 50 == 0:
                rate = pairs / (time.monotonic() - began)
                print(  # noqa: T201 - progress
                    f"{self._stage.name} {self._step}/{len(self._stage.batches)} loss {np.mean(losses[-50:]):.3f} "
                    f"{rate:.1f} pairs/s {self.seconds:.0f} s",
                    flush=True,
                )
            if time.monotonic() - saved > _CHECKPOINT_SECONDS:
                self.save()
                saved = time.monotonic()
            if self._step % 300 == 0 or self._step == len(self._stage.batches):
                print(f"unseen sources, claims: AUC {watch(self._network, watched)}", flush=True)  # noqa: T201
        self.save()
        return self._network

    def step(self, number: int) -> float:
        """One step of the optimiser; returns the loss."""
        items = self._stage.batches[number]
        batch = pad([item.pair for item in items])
        target, tokens = (torch.from_numpy(part) for part in targets(items, batch))
        total = len(self._stage.batches)
        scale = min((number + 1) / _WARM, (total - number) / max(total - _WARM, 1), 1.0)
        for group in self._optimiser.param_groups:
            group["lr"] = self._stage.rate * scale
        self._network.train()
        with torch.autocast("cpu", torch.bfloat16):
            support, wrong = self._network(*tensors(batch))
        known = tokens != UNKNOWN
        loss = bce(support, target)
        if known.any():
            loss = loss + _TOKEN_LOSS * bce(wrong[known], tokens[known])
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._parameters, 1.0)
        self._optimiser.step()
        self._optimiser.zero_grad()
        self._step = number + 1
        return float(loss.detach())

    def save(self) -> None:
        """Write the checkpoint, whole or not at all."""
        state = {
            "network": self._network.state_dict(),
            "optimiser": self._optimiser.state_dict(),
            "step": self._step,
            "seconds": self.seconds,
            "random": torch.get_rng_state(),
        }
        beside = self._path.with_suffix(".new")
        torch.save(state, beside)
        beside.replace(self._path)

    def _resume(self) -> None:
        if not self._path.exists():
            return
        state = torch.load(self._path, weights_only=True)
        self._network.load_state_dict(state["network"])
        self._optimiser.load_state_dict(state["optimiser"])
        self._step, self.seconds = state["step"], state["seconds"]
        torch.set_rng_state(state["random"])


def watch(network: Network, inputs: Sequence[Input]) -> str:
    """AUC of claims per data set."""
    from sklearn.metrics import roc_auc_score  # noqa: PLC0415 - training alone

    network.eval()
    scores = np.zeros(len(inputs))
    order = np.argsort([len(item.pair.ids) for item in inputs])
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        for at in range(0, len(order), 64):
            rows = order[at : at + 64]
            scores[rows] = network(*tensors(pad([inputs[row].pair for row in rows])))[0].numpy()
    names = np.array([item.group.split("/")[0] for item in inputs])
    target = np.array([item.target for item in inputs])
    return " ".join(
        f"{name} {roc_auc_score(target[names == name], scores[names == name]):.3f}"
        for name in np.unique(names)
        if 0 < target[names == name].mean() < 1
    )
