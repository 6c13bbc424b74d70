"""L1 against two lexical baselines on unseen sources, five folds: ``python bench/evidence_quality.py`` (minutes).

Needs GROUNDWATCH_DATA. AUC of answers with the lower 95 % bound of the difference to each baseline (sources drawn
again); thresholds from the other folds; claims where people marked spans; pairs of BUMP by kind of error. With
``--left-out`` also AUC of each data set by weights that never saw it (as long again).
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from benchkit.folds import fold_weights
from benchkit.lexical import Array, Rarity, boosted, counted, coverage
from benchkit.paired import Flags, auc, counts, lower_bounds
from benchkit.ragtruth import Row, data_path, read_records
from numpy.typing import NDArray

from detectors.evidence.examples import FOLDS, SUPPORTED, AnswerExample, build_examples
from detectors.evidence.measure import HeldOut, best_threshold, weakest_support
from detectors.evidence.train import LICENCES, features_of, held_out, train_examples
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
    parser.add_argument("--left-out", action="store_true", help="train without each data set in turn too")
    options = parser.parse_args()
    records = {record["id"]: record for record in read_records(data_path())}
    examples = build_examples(records.values())
    models = [load_weights(path) for path in fold_weights(options.folds)]
    judged = held_out(examples, models)
    own, weakest = judged.answer, weakest_support(examples, judged.support)
    first, second = _baselines(examples, [records[example.record_id] for example in examples])
    is_bad = np.array([example.is_bad for example in examples])
    group, fold = np.array([one.group for one in examples]), np.array([one.fold for one in examples])
    flagged = _flags(group, fold, own, is_bad)
    print("| data | answers | L1 | weakest claim | coverage | 17 features | bounds | BAcc | precision | recall | F1 |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for task in _TASKS:
        rows = np.array([example.group.startswith(task) for example in examples])
        sources = [example.source for example in examples if example.group.startswith(task)]
        bad = is_bad[rows]
        bounds = lower_bounds(bad, sources, own[rows], [first[rows], second[rows]])
        scores = " | ".join(f"{auc(bad, score[rows]):.3f}" for score in (own, weakest, first, second))
        rates = _rates(bad, flagged[rows])
        print(f"| {task} | {rows.sum()} | {scores} | {bounds[0]:+.3f}, {bounds[1]:+.3f} | {rates} |")
    print(_PUBLISHED)
    _print_claims(examples, judged)
    _print_pairs(examples, records, own)
    if options.left_out:
        _print_left_out(examples, own, is_bad)


def _rates(bad: Flags, flagged: Flags) -> str:
    found = counts(bad, flagged)
    return " | ".join(f"{rate:.3f}" for rate in (found.balanced, found.precision, found.recall, found.f1))


def _print_claims(examples: Sequence[AnswerExample], judged: HeldOut) -> None:
    """Claims of answers of which people marked the wrong words; a claim is a sentence, or a part of a compound one."""
    sizes = [len(example.claims) for example in examples]
    group = np.repeat([example.group for example in examples], sizes)
    fold = np.repeat([example.fold for example in examples], sizes)
    bad = np.array([claim.label != SUPPORTED for example in examples for claim in example.claims])
    flagged = _flags(group, fold, judged.support, bad)
    print("\n| claims of | claims | wrong | AUC | BAcc | precision | recall | F1 |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for task in _TASKS[:3]:
        rows = group == task
        value, share = auc(bad[rows], judged.support[rows]), bad[rows].mean()
        print(f"| {task} | {rows.sum()} | {share:.3f} | {value:.3f} | {_rates(bad[rows], flagged[rows])} |")


def _print_left_out(examples: Sequence[AnswerExample], own: Array, is_bad: Flags) -> None:
    """AUC of each task by weights trained without its whole data set, beside that of the folds."""
    print("\n| data | folds, score | left out, score | left out, weakest claim |\n| --- | --- | --- | --- |")
    group = np.array([example.group for example in examples])
    for name in LICENCES:
        part = [example for example in examples if example.group.startswith(name)]
        weights = train_examples([example for example in examples if not example.group.startswith(name)])
        features = features_of(part, weights.terms)
        support, _, scores = weights.judge_answers(features, [len(example.claims) for example in part])
        members = np.char.startswith(group, name)
        score, weakest = np.zeros(len(examples)), np.zeros(len(examples))
        score[members], weakest[members] = scores, weakest_support(part, support)
        for task in (task for task in _TASKS if task.startswith(name)):
            rows = np.char.startswith(group, task)
            values = " | ".join(f"{auc(is_bad[rows], one[rows]):.3f}" for one in (own, score, weakest))
            print(f"| {task} | {values} |", flush=True)


def _baselines(examples: Sequence[AnswerExample], records: Sequence[Row]) -> tuple[Array, Array]:
    fold = np.array([example.fold for example in examples])
    is_bad = np.array([example.is_bad for example in examples])
    first, second = np.zeros(len(fold)), np.zeros(len(fold))
    for one in range(FOLDS):
        rest, here = np.flatnonzero(fold != one), np.flatnonzero(fold == one)
        rarity = Rarity([records[at] for at in rest.tolist()])
        first[here] = coverage([records[at] for at in here.tolist()], rarity)
        features = counted(records, rarity)
        second[here] = boosted(features[rest], is_bad[rest], features[here])
        print(f"baselines of fold {one + 1} of {FOLDS}", file=sys.stderr, flush=True)
    return first, second


def _flags(group: NDArray[np.str_], fold: NDArray[np.intp], score: Array, is_bad: Flags) -> Flags:
    """What scores below the threshold of its task that is best on the other folds."""
    flagged = np.zeros(len(score), dtype=bool)
    for task in _TASKS:
        part = np.char.startswith(group, task)
        for one in range(FOLDS):
            rest, here = part & (fold != one), part & (fold == one)
            flagged[here] = score[here] < best_threshold(score[rest], is_bad[rest])
    return flagged


def _print_pairs(examples: Sequence[AnswerExample], records: Mapping[str, Row], score: Array) -> None:
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
