"""L1, our cross-encoder and both stacked on sources that none of them saw: ``python bench/l2_quality.py`` (minutes).

Needs GROUNDWATCH_DATA and the extra ``models``. One fold of sources was held out of L1 and of the network; it is cut
into parts by source, and the stack is fitted on all parts but the one that it is measured on. Intervals: sources drawn
again, 95 %. ``--speed`` times the network instead.
"""

import argparse
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from benchkit.machine import load, memory
from benchkit.paired import Array, Flags, auc, counts, intervals
from benchkit.ragtruth import Row, data_path, read_records
from benchkit.table import table

from detectors.evidence import load_evidence_detector
from detectors.evidence.measure import best_threshold
from detectors.models import ModelOptions, Precision
from detectors.models.own.base import base_folder
from detectors.models.own.detector import Reading
from detectors.models.own.fit_stack import fit, unseen_l1
from detectors.models.own.held_out import PARTS, Answer, answers
from detectors.models.own.human import wrong_spans
from detectors.models.own.loading import load_from
from detectors.models.own.stages import HELD_OUT, fold_of_record
from detectors.models.stacking import Stacked, StackWeights
from schemas.claim import CheckItem
from schemas.trace import Passage

_FOLDER = Path(__file__).resolve().parents[1] / "detectors" / "models" / "own"
_TASKS = ("ragtruth/qa", "ragtruth/summary", "ragtruth/data2txt", "summedits", "wice", "bump", "factcheck")
_UNREAD = -20.0
_SAMPLE = 40
"""Of so many unseen answers one is timed."""


class _Known:
    """Readings made before."""

    fingerprint, runs_on = "known", "cpu fp32"

    def __init__(self, found: Sequence[Answer]) -> None:
        self._readings = {id(answer.item): list(answer.read) for answer in found}

    def read(self, items: Sequence[CheckItem]) -> list[list[Reading | None]]:
        return [self._readings[id(item)] for item in items]


def main() -> None:
    """Measure, print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=_FOLDER, help="of the network's weights")
    parser.add_argument(
        "--l1", type=Path, default=Path("data/train-l2/l1.json"), help="L1 without the held-out sources"
    )
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()
    records = read_records(data_path())
    unseen = [record for record in records if fold_of_record(record) == HELD_OUT]
    if options.speed:
        report: Any = _speed(options.folder, unseen)
    else:
        model = load_from(options.folder, base_folder(), ModelOptions())
        report = _quality(answers(unseen, unseen_l1(records, options.l1), model))
    print(load())
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def _quality(found: Sequence[Answer]) -> dict[str, Any]:
    stacked, weights = _stacked(found)
    claims = {
        "L1": [[one.support for one in answer.first if one.support is not None] for answer in found],
        "own": [[_UNREAD if one.support is None else one.support for one in answer.read if one] for answer in found],
        "stacked": [[one for one in answer if one is not None] for answer in stacked],
    }
    weakest = {name: np.array([min(one, default=1.0) for one in scores]) for name, scores in claims.items()}
    means = {name: np.array([float(np.mean(one or [1.0])) for one in scores]) for name, scores in claims.items()}
    return {
        "weights": weights,
        "answers": _answers(found, weakest, means["own"]),
        "thresholds": _thresholds(found, weakest),
        "claims": _claims(found, stacked),
        "pairs": _pairs(found, {**weakest, "own, mean": means["own"]}),
    }


def _stacked(found: Sequence[Answer]) -> tuple[list[list[float | None]], list[dict[str, Any]]]:
    """Support of each claim by a stack that was fitted on the other parts of the sources, and the weights of each."""
    support: dict[int, list[float | None]] = {}
    report = []
    for part in range(PARTS):
        weights = fit([answer for answer in found if answer.part != part])
        here = [at for at, answer in enumerate(found) if answer.part == part]
        stack = Stacked(load_evidence_detector(), _Known(found), weights)
        judged = stack.judge_after([found[at].item for at in here], [found[at].first for at in here])
        support.update({at: [one.support for one in claims] for at, claims in zip(here, judged, strict=True)})
        report.append(_weights(f"without part {part}", weights))
    report.append(_weights("all parts", fit(found)))
    print(table(list(report[0]), [list(line.values()) for line in report]) + "\n")
    return [support[at] for at in range(len(found))], report


def _weights(name: str, weights: StackWeights) -> dict[str, Any]:
    kinds = weights.kinds.items()
    return {"fitted on": name, **{kind.value: f"{one.own:g} + {one.own_mean:g}" for kind, one in kinds}}


def _parts(found: Sequence[Answer]) -> Iterator[tuple[str, Flags]]:
    groups = [f"{answer.record['dataset']}/{answer.record['task']}" for answer in found]
    for task in _TASKS:
        yield task, np.array([group.startswith(task) for group in groups])


def _answers(found: Sequence[Answer], scores: dict[str, Array], mean: Array) -> list[dict[str, Any]]:
    bad = np.array([answer.record["hallucinated"] for answer in found])
    source = np.array([answer.source for answer in found])
    parts = np.array([answer.part for answer in found])
    everywhere = np.ones(len(found), dtype=bool)
    flagged = {name: _flags(score, bad, parts, everywhere) for name, score in scores.items()}
    rows, report = [], []
    for task, part in _parts(found):
        (low, high), (less, more) = intervals(
            bad[part], list(source[part]), scores["stacked"][part], scores["L1"][part]
        )
        own = {name: counts(bad[part], _flags(score, bad, parts, part)[part]) for name, score in scores.items()}
        line = {
            "task": task,
            "answers": int(part.sum()),
            "sources": len(set(source[part])),
            "faulty": float(bad[part].mean()),
            **{f"AUC {name}": auc(bad[part], score[part]) for name, score in scores.items()},
            "AUC own, mean": auc(bad[part], mean[part]),
            "interval": [low, high],
            "difference": [less, more],
            **{f"BAcc {name}": counts(bad[part], flagged[name][part]).balanced for name in scores},
            **{f"BAcc {name}, own threshold": own[name].balanced for name in scores},
        }
        report.append(line)
        aucs = [f"{line[f'AUC {name}']:.3f}" for name in (*scores, "own, mean")]
        both = [f"{line[f'BAcc {n}']:.3f} / {line[f'BAcc {n}, own threshold']:.3f}" for n in scores]
        spans = [f"{low:.3f} to {high:.3f}", f"{less:+.3f} to {more:+.3f}"]
        rows.append([task, line["answers"], line["sources"], f"{line['faulty']:.0%}", *aucs, *spans, *both])
    names = [*(f"AUC {name}" for name in scores), "own, mean", "stacked, 95 %", "stacked − L1, 95 %"]
    print(table(["data", "answers", "sources", "faulty", *names, *(f"BAcc {name}" for name in scores)], rows))
    for name in (*(f"AUC {name}" for name in scores), "AUC own, mean"):
        print(f"macro {name}: {np.mean([line[name] for line in report]):.3f}")
    return report


def _flags(score: Array, bad: Flags, parts: Array, of: Flags) -> Flags:
    """Answers below the threshold that is best on the other parts of the sources."""
    flagged = np.zeros(len(score), dtype=bool)
    for one in range(PARTS):
        rest, here = of & (parts != one), of & (parts == one)
        flagged[here] = score[here] < best_threshold(score[rest], bad[rest])
    return flagged


def _thresholds(found: Sequence[Answer], scores: dict[str, Array]) -> list[dict[str, Any]]:
    """False alarms and faults found at the shipped threshold."""
    bad = np.array([answer.record["hallucinated"] for answer in found])
    rows, report = [], []
    for task, part in _parts(found):
        line: dict[str, Any] = {"task": task}
        for name in ("L1", "stacked"):
            line[f"false alarms {name}"] = float((scores[name][part & ~bad] < 0.7).mean())
            line[f"found {name}"] = float((scores[name][part & bad] < 0.7).mean())
        report.append(line)
        rows.append([task, *(f"{value:.0%}" for key, value in line.items() if key != "task")])
    print("\n" + table([key if key != "task" else "at 0.7" for key in report[0]], rows))
    return report


def _claims(found: Sequence[Answer], stacked: Sequence[Sequence[float | None]]) -> list[dict[str, Any]]:
    """Claims that people marked, for calibration: mean support beside the share supported, and the AUC."""
    rows, report = [], []
    for task in _TASKS[:3]:
        kept = [
            (label, first.support, score)
            for answer, scores in zip(found, stacked, strict=True)
            if f"{answer.record['dataset']}/{answer.record['task']}" == task
            for label, first, score in zip(answer.supported, answer.first, scores, strict=True)
            if label is not None and first.support is not None and score is not None
        ]
        label, first, score = (np.array(column, dtype=float) for column in zip(*kept, strict=True))
        bad = label == 0
        line = {
            "task": task,
            "claims": len(kept),
            "wrong": float(bad.mean()),
            "mean support": float(score.mean()),
            "calibration error": _calibration_error(label, score),
            "AUC L1": auc(bad, first),
            "AUC stacked": auc(bad, score),
        }
        report.append(line)
        rows.append([value if isinstance(value, (str, int)) else f"{value:.3f}" for value in line.values()])
    print("\n" + table(list(report[0]), rows))
    return report


def _calibration_error(label: Array, score: Array) -> float:
    """Expected calibration error over ten bins of equal width."""
    bins = np.minimum((score * 10).astype(int), 9)
    gaps = [abs(label[bins == one].sum() - score[bins == one].sum()) for one in range(10)]
    return float(sum(gaps) / len(label))


def _pairs(found: Sequence[Answer], scores: dict[str, Array]) -> list[dict[str, Any]]:
    """How often BUMP's summary as written scores above its faulty version, by kind of error; ties count half."""
    good: dict[str, list[int]] = defaultdict(list)
    kinds: dict[str, list[tuple[int, int]]] = defaultdict(list)
    bump = [at for at, answer in enumerate(found) if answer.record["dataset"] == "bump"]
    for at in bump:
        if not found[at].record["hallucinated"]:
            good[found[at].source].append(at)
    for at in bump:
        record: Row = found[at].record
        if record["hallucinated"]:
            kind = str((record.get("edit_types") or ["?"])[0]).removesuffix(" Error")
            kinds[kind] += [(at, other) for other in good[found[at].source]]
    kinds["all"] = [pair for pairs in kinds.values() for pair in pairs]
    rows, report = [], []
    for kind in sorted(kinds, key=lambda one: (one == "all", one)):
        line: dict[str, Any] = {"kind": kind, "pairs": len(kinds[kind])}
        for name, score in scores.items():
            wins = [float(score[other] > score[at]) + 0.5 * (score[other] == score[at]) for at, other in kinds[kind]]
            line[name] = float(np.mean(wins))
        report.append(line)
        rows.append([kind, line["pairs"], *(f"{line[name]:.2f}" for name in scores)])
    print("\n" + table(["BUMP, kind of error", "pairs", *scores], rows))
    return report


def _speed(folder: Path, unseen: Sequence[Row]) -> list[dict[str, Any]]:
    """Claims a second by the clock and by CPU time, and how log-odds differ from fp32; one process, all threads."""
    claims, _ = wrong_spans(unseen[::_SAMPLE])
    items = [
        CheckItem(record["question"], [Passage(**one) for one in record["passages"]], record["answer"], split)
        for record, split in zip(unseen[::_SAMPLE], claims, strict=True)
    ]
    exact: Array | None = None
    report: list[dict[str, Any]] = []
    for precision in (Precision.FP32, Precision.BF16, Precision.INT8):
        model = load_from(folder, base_folder(), ModelOptions(precision=precision))
        model.read(items)
        wall, used = time.perf_counter(), time.process_time()
        read = model.read(items)
        wall, used = time.perf_counter() - wall, time.process_time() - used
        found = np.array([one.support for item in read for one in item if one and one.support is not None])
        exact = found if exact is None else exact
        line = {
            "precision": precision.value,
            "claims": len(found),
            "claims a second": len(found) / wall,
            "claims a CPU second": len(found) / used,
            "largest difference": float(np.abs(found - exact).max()),
            "signs turned": float((np.sign(found) != np.sign(exact)).mean()),
            "resident MiB": memory(os.getpid()).resident_mib,
        }
        report.append(line)
    print(table(list(report[0]), [list(line.values()) for line in report]))
    return report


if __name__ == "__main__":
    main()
