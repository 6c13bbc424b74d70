"""Trains the cross-encoder: ``python -m detectors.models.own.train`` (needs scikit-learn, about an hour on two cores).

Stage 1 learns to compare from sentences and their corruptions, stage 2 from people's labels with some of stage 1 mixed
in. A run that was cut goes on from its last checkpoint, with the same order of batches.
"""

import argparse
import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from detectors.evidence.examples import FOLDS
from detectors.evidence.train import DATA_FILE, LICENCES, read_records
from detectors.models.own.base import SHA256, base_config, base_folder
from detectors.models.own.encoding import Encoder
from detectors.models.own.human import Row
from detectors.models.own.network import from_base, trained
from detectors.models.own.stages import HELD_OUT, Plan, fold_of_record, stages, watched_claims
from detectors.models.own.trainer import Trainer
from schemas.errors import ConfigError

MOST_CHUNKS = 2
"""How many stretches of evidence a claim is held against in use; it is trained on the first."""


def run(records: Sequence[Row], how: Plan, folder: Path, out: Path) -> dict[str, Any]:
    """Train, or go on with a run that was cut; writes the weights to ``out`` and returns what was done."""
    folder.mkdir(parents=True, exist_ok=True)
    base = base_folder()
    encoder = Encoder(base)
    used = [record for record in records if fold_of_record(record) != HELD_OUT]
    both = stages(used, encoder, how)
    watched = watched_claims([record for record in records if fold_of_record(record) == HELD_OUT], encoder)
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
