"""Trains the cross-encoder: ``python -m detectors.models.own.train`` (needs scikit-learn, about an hour on two cores).

Stage 1 learns to compare from sentences and their corruptions, stage 2 from people's labels with some of stage 1 mixed
in. A run that was cut goes on from its last checkpoint, with the same order of batches.
"""

import argparse
import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch.nn.functional import binary_cross_entropy_with_logits as bce

from detectors.evidence.examples import FOLDS
from detectors.evidence.train import DATA_FILE, LICENCES, read_records
from detectors.evidence.weights import load_weights
from detectors.models.own.base import SHA256, base_config, base_folder
from detectors.models.own.batching import UNKNOWN, Input, as_input, pad, plan, targets, tensors
from detectors.models.own.encoding import Encoder
from detectors.models.own.human import Row, labelled
from detectors.models.own.network import Network, from_base, trained
from detectors.models.own.synthetic import Labelled, Source, beside_labelled, groups, source, words_of_all
from schemas.errors import ConfigError

HELD_OUT = FOLDS - 1
"""The fold of sources that is never trained on, the same fold as one of L1's: all figures are of it."""
MOST_CHUNKS = 2
"""How many stretches of evidence a claim is held against in use; it is trained on the first."""
_BATCH = 24
_WARM = 100
_TOKEN_LOSS = 2.0
_MOST_GOOD = 1.5
"""Claims that people call supported are kept up to this many times the others of their group, drawn anew each pass."""
_CHECKPOINT_SECONDS = 150
_WATCHED = 300


Encoded = Callable[[Labelled, Source], Input | None]


@dataclass(frozen=True, slots=True)
class Stage:
    """Batches in order, the highest learning rate and the share of dropout."""

    name: str
    batches: Sequence[Sequence[Input]]
    rate: float
    dropout: float


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of what is trained."""

    seed: int
    synthetic_pairs: int
    passes: int
    mixed_pairs: int = 400
    """Pairs of stage 1 beside people's, each pass."""
    corrupted_pairs: int = 2_000
    """People's good claims beside corruptions of them, each pass."""


def fold_of(record: Row) -> int:
    """As L1's folds: near-copies and shared pages stay together."""
    text = f"{record['dataset']}/{record['source_id']}"
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % FOLDS


def stages(records: Sequence[Row], encoder: Encoder, how: Plan) -> list[Stage]:
    """Both stages, ready encoded; the same for the same seed."""
    rng = Random(how.seed)  # noqa: S311 - reproducible, not secret
    terms = load_weights().terms
    sources = {texts: source(texts) for texts in sorted({_texts(record) for record in records})}
    encoded: Encoded = lambda one, where: as_input(one, where, encoder, terms)  # noqa: E731
    made = _synthetic(list(sources.values()), encoded, rng, how.synthetic_pairs + how.mixed_pairs * how.passes)
    first = _cut(made, how.synthetic_pairs)
    batches = plan(first, _BATCH, rng)
    people = [
        (one, sources[_texts(record)])
        for record, found in zip(records, labelled(records), strict=True)
        for one in found
    ]
    told = [item for one, where in people if (item := encoded(one, where)) is not None]
    corruptions = _corruptions(people, encoded, rng, how.corrupted_pairs * how.passes)
    spare = made[len(first) :]
    second: list[Sequence[Input]] = []
    for number in range(how.passes):
        mixed = [*_part(spare, number, how.passes), *_part(corruptions, number, how.passes)]
        second += plan([*([one] for one in _balanced(told, rng)), *mixed], _BATCH, rng)
    return [Stage("synthetic", batches, 1.2e-4, 0.0), Stage("people", second, 8e-5, 0.1)]


def _texts(record: Row) -> tuple[str, ...]:
    return tuple(passage["text"] for passage in record["passages"])


def _part(made: Sequence[list[Input]], number: int, of: int) -> Sequence[list[Input]]:
    return made[number * len(made) // of : (number + 1) * len(made) // of]


def _synthetic(sources: Sequence[Source], encoded: Encoded, rng: Random, wanted: int) -> list[list[Input]]:
    known = words_of_all(sources)
    each = 2 + wanted // (2 * len(sources))
    found = [(group, one) for one in sources for group in groups(one, known, rng, each * 3)]
    made = _all_encoded(found, encoded)
    rng.shuffle(made)
    return _cut(made, wanted)


def _corruptions(
    people: Sequence[tuple[Labelled, Source]], encoded: Encoded, rng: Random, wanted: int
) -> list[list[Input]]:
    known = words_of_all([where for _, where in people])
    good = [(one, where) for one, where in people if one.supported]
    rng.shuffle(good)
    found = [(group, where) for one, where in good[:wanted] if (group := beside_labelled(one, where, known, rng))]
    return _cut(_all_encoded(found[: wanted // 2 + 100], encoded), wanted)


def _all_encoded(found: Sequence[tuple[list[Labelled], Source]], encoded: Encoded) -> list[list[Input]]:
    made = [[item for one in group if (item := encoded(one, where)) is not None] for group, where in found]
    return [items for items, (group, _) in zip(made, found, strict=True) if len(items) == len(group)]


def _cut(made: Sequence[list[Input]], pairs: int) -> list[list[Input]]:
    total, kept = 0, []
    for group in made:
        if total >= pairs:
            break
        kept.append(group)
        total += len(group)
    return kept


def _balanced(people: Sequence[Input], rng: Random) -> list[Input]:
    kept: list[Input] = []
    for name in sorted({item.group for item in people}):
        good = [item for item in people if item.group == name and item.target > 0]
        bad = [item for item in people if item.group == name and item.target == 0]
        few, many = sorted((good, bad), key=len)
        most = int(_MOST_GOOD * len(few))
        kept += [*few, *rng.sample(many, min(most, len(many)))]
    return kept


def run(records: Sequence[Row], how: Plan, folder: Path, out: Path) -> dict[str, Any]:
    """Train, or go on with a run that was cut; writes the weights to ``out`` and returns what was done."""
    folder.mkdir(parents=True, exist_ok=True)
    base = base_folder()
    encoder = Encoder(base)
    used = [record for record in records if fold_of(record) != HELD_OUT]
    both = stages(used, encoder, how)
    watched = stages_watch([record for record in records if fold_of(record) == HELD_OUT], encoder)
    torch.manual_seed(how.seed)
    network = from_base(base)
    done: dict[str, Any] = {"pairs": {}, "seconds": {}}
    for number, stage in enumerate(both):
        trainer = Trainer(network, stage, folder / f"stage-{number}.pt", base_config(base))
        print(f"{stage.name}: {sum(map(len, stage.batches))} pairs, {len(stage.batches)} steps", flush=True)  # noqa: T201
        network = trainer.run(watched)
        done["pairs"][stage.name] = sum(map(len, stage.batches))
        done["seconds"][stage.name] = round(trainer.seconds)
    save_file(trained(network), out)
    return done


def stages_watch(records: Sequence[Row], encoder: Encoder) -> list[Input]:
    """Some claims of unseen sources, for the progress lines alone; nothing is chosen by them."""
    terms = load_weights().terms
    rng = Random(0)  # noqa: S311 - reproducible, not secret
    found = list(zip(records, labelled(records), strict=True))
    items = []
    for record, claims in rng.sample(found, min(_WATCHED, len(found))):
        where = source([passage["text"] for passage in record["passages"]])
        for one in claims:
            item = as_input(one, where, encoder, terms)
            if item is not None and (item.target == 0 or rng.random() < 0.5):  # noqa: PLR2004 - the good are many
                items.append(item)
    return items


class Trainer:
    """One stage; keeps a checkpoint of network, optimiser and random state."""

    def __init__(self, network: Network, stage: Stage, path: Path, config: dict[str, Any]) -> None:
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and write weights and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("GROUNDWATCH_DATA"), help=f"folder of {DATA_FILE}")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("model.safetensors"))
    parser.add_argument("--checkpoints", type=Path, default=Path("data/train-l2"))
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--synthetic-pairs", type=int, default=30_000)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--date", required=True, help="date for the training record, YYYY-MM-DD")
    options = parser.parse_args(arguments)
    if options.data is None or not (Path(options.data) / DATA_FILE).exists():
        raise ConfigError(f"no training data at {options.data}; set GROUNDWATCH_DATA to the folder of {DATA_FILE}")
    path = Path(options.data) / DATA_FILE
    torch.set_num_threads(options.threads)
    how = Plan(options.seed, options.synthetic_pairs, options.passes)
    done = run(read_records(path), how, options.checkpoints, options.out)
    record = {
        "date": options.date,
        "data_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "weights_sha256": hashlib.sha256(options.out.read_bytes()).hexdigest(),
        "base_sha256": SHA256,
        "seed": options.seed,
        "most_chunks": MOST_CHUNKS,
        "calibration": {"slope": 1.0, "intercept": 0.0},
        "split": f"trained on {FOLDS - 1} of {FOLDS} folds by sha256(dataset/source_id); fold {HELD_OUT} is held out",
        "licences": LICENCES,
        **done,
    }
    options.out.with_name("record.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
