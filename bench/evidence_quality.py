"""L1 against two lexical baselines on unseen sources, five folds: ``python bench/evidence_quality.py`` (minutes).

Needs GROUNDWATCH_DATA. AUC with the lower 95 % bound of the difference to each baseline (sources drawn again);
thresholds from the other folds; pairs of BUMP by kind of error.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from benchkit.folds import fold_weights
from benchkit.lexical import Array, Rarity, boosted, counted, coverage
from benchkit.paired import Flags, auc, counts, lower_bounds
from benchkit.ragtruth import Row, data_path, read_records

from detectors.evidence.examples import FOLDS, AnswerExample, build_examples
from detectors.evidence.measure import answer_scores, best_threshold
from detectors.evidence.train import held_out
from detectors.evidence.weights import load_weights

_TASKS = ("ragtruth/qa", "ragtruth/summary", "ragtruth/data2txt", "summedits", "wice", "bump", "factcheck")
_PUBLISHED = (
    "Published on the full public test sets, another split: HHEM-2.1-open balanced accuracy .743 (RAGTruth questions), "
    ".644 (RAGTruth summaries); LettuceDetect-large F1 .792 (RAGTruth, answers, all tasks)."
)


def main() -> None:
    """Train what is missing, measure, print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=Path, default=Path("data/bench/folds"), help="folder for weights of the folds")
    options = parser.parse_args()
    records = {record["id"]: record for record in read_records(data_path())}
    examples = build_examples(records.values())
    models = [load_weights(path) for path in fold_weights(options.folds)]
    own = answer_scores(examples, held_out(examples, models)[0])
    first, second = _baselines(examples, [records[example.record_id] for example in examples])
    is_bad = np.array([example.is_bad for example in examples])
    flagged = _flags(examples, own, is_bad)
    print("| data | answers | L1 | coverage | 17 features | lower bounds | BAcc | precision | recall | F1 |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for task in _TASKS:
        rows = np.array([example.group.startswith(task) for example in examples])
        sources = [example.source for example in examples if example.group.startswith(task)]
        bad = is_bad[rows]
        bounds = lower_bounds(bad, sources, own[rows], [first[rows], second[rows]])
        found = counts(bad, flagged[rows])
        scores = " | ".join(f"{auc(bad, score[rows]):.3f}" for score in (own, first, second))
        rates = " | ".join(f"{rate:.3f}" for rate in (found.balanced, found.precision, found.recall, found.f1))
        print(f"| {task} | {rows.sum()} | {scores} | {bounds[0]:+.3f}, {bounds[1]:+.3f} | {rates} |")
    print(_PUBLISHED)
    _print_pairs(examples, records, own)


def _baselines(examples: Sequence[AnswerExample], records: Sequence[Row]) -> tuple[Array, Array]:
    fold = np.array([example.fold for example in examples])
    is_bad = np.array([example.is_bad for example in examples])
    first, second = np.zeros(len(fold)), np.zeros(len(fold))
    for one in range(FOLDS):
        rest, here = np.flatnonzero(fold != one), np.flatnonzero(fold == one)
        rarity = Rarity([records[at] for at in rest])
        first[here] = coverage([records[at] for at in here], rarity)
        features = counted(records, rarity)
        second[here] = boosted(features[rest], is_bad[rest], features[here])
        print(f"baselines of fold {one + 1} of {FOLDS}", file=sys.stderr, flush=True)
    return first, second


def _flags(examples: Sequence[AnswerExample], score: Array, is_bad: Flags) -> Flags:
    """Answers below the threshold of their task that is best on the other folds."""
    fold = np.array([example.fold for example in examples])
    flagged = np.zeros(len(score), dtype=bool)
    for task in _TASKS:
        part = np.array([example.group.startswith(task) for example in examples])
        for one in range(FOLDS):
            rest, here = part & (fold != one), part & (fold == one)
            flagged[here] = score[here] < best_threshold(score[rest], is_bad[rest])
    return flagged


def _print_pairs(examples: Sequence[AnswerExample], records: dict[str, Row], score: Array) -> None:
    """How often the summary as written scores above its faulty version, by kind of error; ties count half."""
    good: dict[str, list[float]] = defaultdict(list)
    for example, value in zip(examples, score, strict=True):
        if example.group.startswith("bump") and not example.is_bad:
            good[example.source].append(value)
    wins: dict[str, list[float]] = defaultdict(list)
    for example, value in zip(examples, score, strict=True):
        if example.group.startswith("bump") and example.is_bad:
            kind = str((records[example.record_id].get("edit_types") or ["?"])[0]).removesuffix(" Error")
            for other in good.get(example.source, []):
                wins[kind].append(float(other > value) + 0.5 * (other == value))
    every = [win for found in wins.values() for win in found]
    print("\n| BUMP, kind of error | pairs | ranked right |\n| --- | --- | --- |")
    for kind, found in sorted(wins.items()):
        print(f"| {kind} | {len(found)} | {np.mean(found):.2f} |")
    print(f"| all | {len(every)} | {np.mean(every):.2f} |")


if __name__ == "__main__":
    main()
