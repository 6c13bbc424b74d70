"""Figures of merit of claim scores against labels, per data set and task, at answer and at claim level."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from detectors.evidence.examples import CONTRADICTED, SUPPORTED, UNKNOWN, UNSUPPORTED, AnswerExample
from detectors.evidence.forest import Array

Flags = NDArray[np.bool_]
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """Support, contradiction and 1 for a decisive conflict of every claim in order, and the score of every answer."""

    support: Array
    contradiction: Array
    decisive: Array
    answer: Array


def weakest_support(examples: Sequence[AnswerExample], support: Array) -> Array:
    """Support of the weakest claim of each answer."""
    answer = np.repeat(np.arange(len(examples)), [len(example.claims) for example in examples])
    scores = np.ones(len(examples))
    np.minimum.at(scores, answer, support)
    return scores


def report(examples: Sequence[AnswerExample], found: HeldOut) -> dict[str, Any]:
    """AUC, balanced accuracy per group with one global threshold and one per group (each found on other folds).

    False alarms and faults found are those of the outcome: a claim whose support lies below a threshold.
    """
    scores, weakest = found.answer, weakest_support(examples, found.support)
    bad = np.array([example.is_bad for example in examples])
    group = np.array([example.group for example in examples])
    fold = np.array([example.fold for example in examples])
    flagged_global = _flag_by_other_folds(scores, bad, fold, np.zeros(len(examples), dtype=np.intp))
    flagged_group = _flag_by_other_folds(scores, bad, fold, np.unique(group, return_inverse=True)[1])
    groups = [(name, group == name) for name in np.unique(group)]
    groups.append(("summedits", np.char.startswith(group, "summedits")))
    answers = {
        str(name): {
            "answers": int(rows.sum()),
            "bad": round(float(bad[rows].mean()), 3),
            "auc": round(float(roc_auc_score(~bad[rows], scores[rows])), 3),
            "auc_weakest_claim": round(float(roc_auc_score(~bad[rows], weakest[rows])), 3),
            "mean_score": round(float(scores[rows].mean()), 3),
            "balanced_accuracy": round(_balanced(bad[rows], flagged_global[rows]), 3),
            "balanced_accuracy_own_threshold": round(_balanced(bad[rows], flagged_group[rows]), 3),
            "false_alarms": {str(at): round(float((weakest[rows & ~bad] < at).mean()), 3) for at in THRESHOLDS},
            "found": {str(at): round(float((weakest[rows & bad] < at).mean()), 3) for at in THRESHOLDS},
        }
        for name, rows in groups
    }
    return {"answers": answers, "claims": _claims(examples, found.support, found.contradiction)}


def _claims(examples: Sequence[AnswerExample], support: Array, contradiction: Array) -> dict[str, Any]:
    label = np.array([claim.label for example in examples for claim in example.claims])
    group = np.repeat([example.group for example in examples], [len(example.claims) for example in examples])
    result = {}
    for name in np.unique(group):
        rows = (group == name) & (label != UNKNOWN)
        if not str(name).startswith("ragtruth"):
            continue
        good = label[rows] == SUPPORTED
        result[str(name)] = {
            "claims": int(rows.sum()),
            "bad": round(float(1 - good.mean()), 3),
            "mean_support": round(float(support[rows].mean()), 3),
            "auc": round(float(roc_auc_score(good, support[rows])), 3),
            "auc_contradiction": round(float(roc_auc_score(label[rows] == CONTRADICTED, contradiction[rows])), 3),
        }
    return result


def conflicts_report(examples: Sequence[AnswerExample], decisive: Array) -> dict[str, Any]:
    """Per data set, how many labelled claims carry a decisive conflict and how many of those people call supported."""
    label = np.array([claim.label for example in examples for claim in example.claims])
    names = np.repeat([e.group.split("/")[0] for e in examples], [len(e.claims) for e in examples])
    result = {}
    for name in np.unique(names):
        rows = (names == name) & (label != UNKNOWN) & (decisive > 0)
        found = {"supported": SUPPORTED, "unsupported": UNSUPPORTED, "contradicted": CONTRADICTED}
        result[str(name)] = {word: int((label[rows] == one).sum()) for word, one in found.items()}
    return result


def _flag_by_other_folds(scores: Array, bad: Flags, fold: NDArray[np.intp], part: NDArray[np.intp]) -> Flags:
    flagged = np.zeros(len(scores), dtype=bool)
    for one in np.unique(part):
        for held in np.unique(fold):
            rest = (part == one) & (fold != held)
            here = (part == one) & (fold == held)
            flagged[here] = scores[here] < best_threshold(scores[rest], bad[rest])
    return flagged


def best_threshold(scores: Array, bad: Flags) -> float:
    """The threshold of highest balanced accuracy, flagging scores below it."""
    order = np.argsort(scores)
    sensitivity = np.cumsum(bad[order]) / max(bad.sum(), 1)
    false_alarms = np.cumsum(~bad[order]) / max((~bad).sum(), 1)
    best = int(np.argmax(sensitivity - false_alarms))
    above = scores[order][min(best + 1, len(scores) - 1)]
    return float((scores[order][best] + above) / 2)


def _balanced(bad: Flags, flagged: Flags) -> float:
    return float((flagged[bad].mean() + (~flagged[~bad]).mean()) / 2)
