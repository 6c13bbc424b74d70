"""Trains the evidence weights from human-labelled records: ``python -m detectors.evidence.train`` (needs scikit-learn).

Every number that the record reports is out of fold: the sources of a fold are judged by weights trained without them,
term table and calibration included.
"""

import argparse
import gzip
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from detectors.evidence.corrupt import CORRUPTED, corrupted_pairs
from detectors.evidence.examples import (
    CONTRADICTED,
    FOLDS,
    SUPPORTED,
    UNKNOWN,
    AnswerExample,
    build_examples,
)
from detectors.evidence.features import FEATURES, featurise
from detectors.evidence.fit import Table, calibrate, fit_model
from detectors.evidence.forest import Array
from detectors.evidence.measure import conflicts_report, report
from detectors.evidence.restate import matched
from detectors.evidence.terms import Terms, learn_terms
from detectors.evidence.weights import Model, Weights, dump_weights
from schemas.errors import ConfigError

DATA_FILE = "grounding-dev.jsonl.gz"
_INNER_FOLDS = 3
_CORRUPTIONS = 800
_SEED = 20
# Edited summaries keep nearly every word of the truth; at full weight they would teach that coverage does not matter.
_GROUP_WEIGHTS = {"summedits": 0.5, "bump": 0.5}
LICENCES = {
    "ragtruth": "MIT",
    "summedits": "Apache-2.0",
    "bump": "MIT",
    "factcheck": "Apache-2.0",
    "wice": "ODC-BY",
}


def read_records(path: Path) -> list[dict[str, Any]]:
    """Records of a gzip JSON-lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def train(records: Sequence[Mapping[str, Any]], exclude_fold: int | None = None) -> Weights:
    """Weights from ``records`` without the sources of ``exclude_fold`` (0 to 4; None trains on all)."""
    return train_examples(build_examples(records), exclude_fold)


def train_examples(examples: Sequence[AnswerExample], exclude_fold: int | None = None) -> Weights:
    """As ``train``, on examples already built."""
    used = [example for example in examples if example.fold != exclude_fold]
    terms = terms_of(used)
    used += corrupted_pairs(used, Random(_SEED), _CORRUPTIONS)  # noqa: S311 - reproducible, not secret
    features = _crossed_features(used)
    with threadpool_limits(1):  # sums in another order would give other last digits, and another fingerprint
        return Weights(
            terms,
            _fitted(_support_table(used, features), used, monotone=True),
            _fitted(_contradiction_table(used, features), used, monotone=False),
            {},
        )


def terms_of(examples: Sequence[AnswerExample]) -> Terms:
    """Term weights from the passages and answers of ``examples``; edited copies count as their original does, once."""
    passages = {passage.content_hash or id(passage): passage for e in examples for passage in e.passages}
    answers = []
    seen: set[tuple[str, frozenset[str]]] = set()
    for example in examples:
        own = frozenset(word.key for claim in example.claims for word in claim.words if not word.is_stop)
        copied = example.group.startswith(("summedits", "bump")) and example.is_bad
        if not copied and (example.source, own) not in seen:
            seen.add((example.source, own))
            answers.append((own, frozenset().union(*(passage.postings for passage in example.passages))))
    return learn_terms((passage.postings for passage in passages.values()), answers)


def features_of(examples: Sequence[AnswerExample], terms: Terms) -> Array:
    """One row of features a claim, in order."""
    rows = []
    for example in examples:
        for claim in example.claims:
            prepared, found = matched(claim.words, terms.weight, example.passages)
            rows.append(featurise(prepared, found, example.question) if found else [0.0] * len(FEATURES))
    return np.array(rows)


def _crossed_features(examples: Sequence[AnswerExample]) -> Array:
    """As ``features_of``, each source by term weights learned without it; they know which answers are good."""
    inner = np.array([_inner_fold(example.source) for example in examples])
    sizes = np.array([len(example.claims) for example in examples])
    features = np.zeros((sizes.sum(), len(FEATURES)))
    natural = [example for example in examples if example.group != CORRUPTED]
    for fold in range(_INNER_FOLDS):
        terms = terms_of([example for example in natural if _inner_fold(example.source) != fold])
        part = [example for example, one in zip(examples, inner, strict=True) if one == fold]
        features[np.repeat(inner == fold, sizes)] = features_of(part, terms)
    return features


def _table(examples: Sequence[AnswerExample], features: Array, target: Sequence[float]) -> Table:
    sizes = [len(example.claims) for example in examples]
    return Table(
        features=features,
        answer=np.repeat(np.arange(len(examples)), sizes),
        target=np.array(target),
        group=np.repeat([example.group for example in examples], sizes),
        weight=np.repeat([example.weight for example in examples], sizes),
    )


def _support_table(examples: Sequence[AnswerExample], features: Array) -> Table:
    target = [
        float("nan") if claim.label == UNKNOWN else float(claim.label == SUPPORTED)
        for example in examples
        for claim in example.claims
    ]
    return _table(examples, features, target)


def _contradiction_table(examples: Sequence[AnswerExample], features: Array) -> Table:
    """Among claims that are not supported: contradicted (1) against merely unsupported (0)."""
    target, kept = [], []
    for example in examples:
        for claim in example.claims:
            is_bad = claim.label not in {SUPPORTED, UNKNOWN}
            kept.append(is_bad and example.may_contradict is not None)
            target.append(float(claim.label == CONTRADICTED))
    table = _table(examples, features, target)
    rows = np.array(kept)
    return Table(table.features[rows], table.answer[rows], table.target[rows], table.group[rows], table.weight[rows])


def _fitted(table: Table, examples: Sequence[AnswerExample], *, monotone: bool) -> Model:
    """A model on all rows, calibrated on span-labelled claims as judged by models that did not see their sources."""
    weights = {group: _GROUP_WEIGHTS.get(group.split("/")[0], 1.0) for group in np.unique(table.group)}
    inner = np.array([_inner_fold(example.source) for example in examples])[table.answer]
    raw = np.zeros(len(table.target))
    for fold in range(_INNER_FOLDS):
        part, rest = inner == fold, inner != fold
        fitted = fit_model(_rows(table, rest), weights, monotone=monotone)
        raw[part] = fitted.raw(table.features[part])
    natural = np.char.startswith(table.group, "ragtruth/") & ~np.isnan(table.target)
    model = fit_model(table, weights, monotone=monotone)
    return calibrate(model, raw[natural], table.target[natural], table.weight[natural])


def _rows(table: Table, rows: Any) -> Table:
    return Table(table.features[rows], table.answer[rows], table.target[rows], table.group[rows], table.weight[rows])


def _inner_fold(source: str) -> int:
    return int(hashlib.sha256(f"inner {source}".encode()).hexdigest(), 16) % _INNER_FOLDS


def held_out(examples: Sequence[AnswerExample], models: Sequence[Weights]) -> tuple[Array, Array, Array]:
    """Support, contradiction and 1 for a decisive conflict, for every claim in order, by weights without its fold."""
    sizes = [len(example.claims) for example in examples]
    folds = np.repeat([example.fold for example in examples], sizes)
    support, contradiction, decisive = (np.zeros(len(folds)) for _ in range(3))
    for fold, weights in enumerate(models):
        rows = folds == fold
        features = features_of([example for example in examples if example.fold == fold], weights.terms)
        support[rows], contradiction[rows] = weights.judge(features)
        decisive[rows] = features[:, FEATURES.index("conflict_decisive")]
    return support, contradiction, decisive


def main(arguments: Sequence[str] | None = None) -> None:
    """Train five folds and the final weights, write them with their record, print the metrics."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=_default_data(), help=f"{DATA_FILE}, or its folder")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("weights.json"))
    parser.add_argument("--date", required=True, help="date for the training record, YYYY-MM-DD")
    options = parser.parse_args(arguments)
    if options.data is None or not options.data.exists():
        raise ConfigError(f"no training data at {options.data}; set GROUNDWATCH_DATA to the folder of {DATA_FILE}")
    path = options.data / DATA_FILE if options.data.is_dir() else options.data
    examples = build_examples(read_records(path))
    models = [train_examples(examples, fold) for fold in range(FOLDS)]
    support, contradiction, decisive = held_out(examples, models)
    metrics = {**report(examples, support, contradiction), "conflicts": conflicts_report(examples, decisive)}
    record = {
        "date": options.date,
        "data_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "records": len(examples),
        "claims": len(support),
        "split": f"{FOLDS} folds by sha256(dataset/source_id); metrics are out of fold",
        "licences": LICENCES,
        "metrics": metrics,
    }
    weights = train_examples(examples)
    weights = replace(weights, record={**record, "fingerprint": weights.fingerprint})
    dump_weights(weights, options.out)
    print(json.dumps(metrics, indent=1))  # noqa: T201 - a command line tool prints its result


def _default_data() -> Path | None:
    folder = os.environ.get("GROUNDWATCH_DATA")
    return Path(folder) if folder else None


if __name__ == "__main__":
    main()
