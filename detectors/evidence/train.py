"""Trains the evidence weights from human-labelled records: ``python -m detectors.evidence.train`` (needs scikit-learn).

Every number that the record reports is out of fold: the sources of a fold are judged by weights trained without them,
term table and calibration included.
"""

import argparse
import gzip
import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from detectors.evidence.anchoring import fit_anchor
from detectors.evidence.answers import answer_features, sigmoid
from detectors.evidence.corrupt import CORRUPTED, corrupted_pairs
from detectors.evidence.examples import FOLDS, AnswerExample, build_examples
from detectors.evidence.features import NOTHING, absences, featurise
from detectors.evidence.fit import Table, calibrate, fit_answers, fit_model
from detectors.evidence.forest import Array
from detectors.evidence.measure import HeldOut, conflicts_report, report
from detectors.evidence.restate import matched
from detectors.evidence.tables import contradiction_table, group_weights, natural_rows, rows_of, support_table
from detectors.evidence.terms import Terms, learn_terms
from detectors.evidence.weights import Model, Weights, bounded, decided, dump_weights
from schemas.errors import ConfigError

DATA_FILE = "grounding-dev.jsonl.gz"
_INNER_FOLDS = 3
_CORRUPTIONS = 800
_SEED = 20
_LENIENCE = 0.2
"""Log-odds by which claims stand above the share of supported ones, so that at the shipped thresholds good answers of
no task of RAGTruth are flagged more often than by their weakest claim alone."""
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
        support, unseen = _crossed(support_table(used, features), used, partial(fit_model, monotone=True))
        contradiction, _ = _crossed(contradiction_table(used, features), used, partial(fit_model, monotone=False))
        answer, anchor = _fitted_answers(used, features, unseen)
        return Weights(terms, support, contradiction, answer, anchor, {})


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
    """One row of ``FEATURES`` and ``WHOLE`` a claim, in order."""
    rows = []
    for example in examples:
        for claim in example.claims:
            prepared, found = matched(claim.words, terms.weight, example.passages)
            if found is None:
                rows.append(NOTHING)
            else:
                rows.append([*featurise(prepared, found, example.question), *absences(prepared, example.passages)])
    return np.array(rows)


def _crossed_features(examples: Sequence[AnswerExample]) -> Array:
    """As ``features_of``, each source by term weights learned without it; they know which answers are good."""
    inner = np.array([_inner_fold(example.source) for example in examples])
    sizes = np.array([len(example.claims) for example in examples])
    features = np.zeros((sizes.sum(), len(NOTHING)))
    natural = [example for example in examples if example.group != CORRUPTED]
    for fold in range(_INNER_FOLDS):
        terms = terms_of([example for example in natural if _inner_fold(example.source) != fold])
        part = [example for example, one in zip(examples, inner, strict=True) if one == fold]
        features[np.repeat(inner == fold, sizes)] = features_of(part, terms)
    return features


def _fitted_answers(examples: Sequence[AnswerExample], features: Array, support: Array) -> tuple[Model, float]:
    """The model of whole answers, from claims as judged without their sources, and the anchor of claims; on RAGTruth.

    Corruptions are claims, not answers, and are left out.
    """
    natural = [example for example in examples if example.group != CORRUPTED]
    sizes = [len(example.claims) for example in examples]
    rows = np.repeat([example.group != CORRUPTED for example in examples], sizes)
    features, support = features[rows], bounded(features[rows], support[rows])
    sizes = [len(example.claims) for example in natural]
    table = Table(
        features=answer_features(features, support, sizes),
        answer=np.arange(len(natural)),
        target=np.array([float(not example.is_bad) for example in natural]),
        group=np.array([example.group for example in natural]),
        weight=np.ones(len(natural)),
    )
    model, unseen = _crossed(table, natural, fit_answers)
    claims = support_table(natural, features)
    supported = np.where(natural_rows(claims), claims.target, np.nan)
    return model, round(fit_anchor(support, decided(features), sizes, unseen, supported) + _LENIENCE, 6)


def _crossed(
    table: Table, examples: Sequence[AnswerExample], fit: Callable[[Table, Mapping[str, float]], Model]
) -> tuple[Model, Array]:
    """A model on all rows, calibrated on natural ones as judged by models that did not see their sources.

    Beside it what those models make of every row, calibrated. ``table.answer`` are places in ``examples``.
    """
    weights = group_weights(table)
    inner = np.array([_inner_fold(example.source) for example in examples])[table.answer]
    raw = np.zeros(len(table.target))
    for fold in range(_INNER_FOLDS):
        part = inner == fold
        raw[part] = fit(rows_of(table, ~part), weights).raw(table.features[part])
    natural = natural_rows(table)
    model = calibrate(fit(table, weights), raw[natural], table.target[natural], table.weight[natural])
    return model, sigmoid(model.slope * raw + model.intercept)


def _inner_fold(source: str) -> int:
    return int(hashlib.sha256(f"inner {source}".encode()).hexdigest(), 16) % _INNER_FOLDS


def held_out(examples: Sequence[AnswerExample], models: Sequence[Weights]) -> HeldOut:
    """What weights without the fold of each example make of it."""
    folds = np.array([example.fold for example in examples])
    of_claims = np.repeat(folds, [len(example.claims) for example in examples])
    support, contradiction, decisive = (np.zeros(len(of_claims)) for _ in range(3))
    answer = np.zeros(len(examples))
    for fold, weights in enumerate(models):
        part, rows = [example for example in examples if example.fold == fold], of_claims == fold
        features = features_of(part, weights.terms)
        judged = weights.judge_answers(features, [len(one.claims) for one in part])
        support[rows], contradiction[rows], answer[folds == fold] = judged
        decisive[rows] = decided(features)
    return HeldOut(support, contradiction, decisive, answer)


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
    found = held_out(examples, models)
    metrics = {**report(examples, found), "conflicts": conflicts_report(examples, found.decisive)}
    record = {
        "date": options.date,
        "data_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "records": len(examples),
        "claims": len(found.support),
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
