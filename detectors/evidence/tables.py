"""The tables that the evidence models are fitted on, a row a claim, and what is done with rows."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from detectors.evidence.examples import CONTRADICTED, SUPPORTED, UNKNOWN, AnswerExample
from detectors.evidence.features import FEATURES
from detectors.evidence.fit import Table
from detectors.evidence.forest import Array

_NATURAL = "ragtruth/"
"""Answers as they come, on which all is calibrated."""
# Edited summaries keep nearly every word of the truth; at full weight they would teach that coverage does not matter.
_GROUP_WEIGHTS = {"summedits": 0.5, "bump": 0.5}


def _table(examples: Sequence[AnswerExample], features: Array, target: Sequence[float]) -> Table:
    sizes = [len(example.claims) for example in examples]
    return Table(
        features=features[:, : len(FEATURES)],
        answer=np.repeat(np.arange(len(examples)), sizes),
        target=np.array(target),
        group=np.repeat([example.group for example in examples], sizes),
        weight=np.repeat([example.weight for example in examples], sizes),
    )


def support_table(examples: Sequence[AnswerExample], features: Array) -> Table:
    """Supported (1) or not (0), NaN where nobody said."""
    target = [
        float("nan") if claim.label == UNKNOWN else float(claim.label == SUPPORTED)
        for example in examples
        for claim in example.claims
    ]
    return _table(examples, features, target)


def contradiction_table(examples: Sequence[AnswerExample], features: Array) -> Table:
    """Among claims that are not supported: contradicted (1) against merely unsupported (0)."""
    target, kept = [], []
    for example in examples:
        for claim in example.claims:
            is_bad = claim.label not in {SUPPORTED, UNKNOWN}
            kept.append(is_bad and example.may_contradict is not None)
            target.append(float(claim.label == CONTRADICTED))
    return rows_of(_table(examples, features, target), np.array(kept))


def natural_rows(table: Table) -> NDArray[np.bool_]:
    """Rows with a label of answers as they come; without any of these, all rows with a label."""
    known = ~np.isnan(table.target)
    natural = known & np.char.startswith(table.group, _NATURAL)
    return natural if natural.any() else known


def group_weights(table: Table) -> dict[str, float]:
    """How much each group counts."""
    return {str(group): _GROUP_WEIGHTS.get(str(group).split("/")[0], 1.0) for group in np.unique(table.group)}


def rows_of(table: Table, rows: NDArray[np.bool_]) -> Table:
    """Those rows of it."""
    return Table(table.features[rows], table.answer[rows], table.target[rows], table.group[rows], table.weight[rows])
