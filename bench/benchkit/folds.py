"""Weights for each fold of sources, trained once for a state of code and data and kept in a folder."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import detectors.evidence
from benchkit.ragtruth import Row, data_path, read_records
from benchkit.routed import source_fold
from detectors.evidence import EvidenceDetector
from detectors.evidence.examples import FOLDS, build_examples
from detectors.evidence.train import train_examples
from detectors.evidence.weights import dump_weights, load_weights


def fold_weights(folder: Path) -> list[Path]:
    """Files of weights, one a fold of left-out sources; trains what is missing (minutes)."""
    state = _state()
    paths = [folder / f"fold-{fold}-{state}.json" for fold in range(FOLDS)]
    if not all(path.exists() for path in paths):
        folder.mkdir(parents=True, exist_ok=True)
        records = read_records(data_path())
        examples = build_examples(records)
        _check_folds(records, {example.record_id: example.fold for example in examples})
        for fold, path in enumerate(paths):
            print(f"training without fold {fold}", flush=True)
            dump_weights(train_examples(examples, fold), path)
    return paths


def load_folds(paths: Sequence[Path]) -> list[EvidenceDetector]:
    """A detector a file."""
    return [EvidenceDetector(load_weights(path)) for path in paths]


def _check_folds(records: Sequence[Row], fold_of: dict[str, int]) -> None:
    """A record routed to weights that saw its source would make every figure worthless."""
    for record in records:
        assert fold_of.get(record["id"], source_fold(record)) == source_fold(record), record["id"]


def _state() -> str:
    digest = hashlib.sha256(data_path().read_bytes())
    for path in sorted(Path(detectors.evidence.__path__[0]).iterdir()):
        if path.suffix in {".py", ".json", ".npz"} and path.name != "weights.json":
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
