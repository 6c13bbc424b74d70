"""Recorded answers with a label and a score; what has only one of the two is counted by reason and never scored."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from detectors.golden import LabelledCase
from schemas.labels import Outcome, RiskTier
from schemas.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Pair:
    """An answer with the support of its weakest claim and what people found; ``source`` groups what is alike."""

    case_id: str
    source: str
    intent: str
    tier: RiskTier
    score: float
    is_bad: bool


@dataclass(frozen=True, slots=True)
class Paired:
    """Pairs, and how many answers were left out: by a label that is no yes or no, else by a verdict without a score.

    ``confusion`` counts every labelled answer by (label, outcome), whether or not it was left out.
    """

    pairs: tuple[Pair, ...]
    left_out_labels: Mapping[Outcome, int]
    left_out_verdicts: Mapping[Outcome, int]
    confusion: Mapping[tuple[Outcome, Outcome], int]


def paired(labelled: Sequence[LabelledCase], verdicts: Sequence[Verdict]) -> Paired:
    """Labels beside verdicts, in the same order. An error is no score, whatever was judged before it struck."""
    pairs: list[Pair] = []
    labels: Counter[Outcome] = Counter()
    unscored: Counter[Outcome] = Counter()
    confusion: Counter[tuple[Outcome, Outcome]] = Counter()
    for item, verdict in zip(labelled, verdicts, strict=True):
        confusion[item.label, verdict.outcome] += 1
        case = item.case
        if not item.label.is_judged:
            labels[item.label] += 1
        elif verdict.score is None or verdict.outcome.is_error:
            unscored[verdict.outcome] += 1
        else:
            is_bad = item.label is Outcome.HALLUCINATED
            source = case.source_id or case.case_id
            pairs.append(Pair(case.case_id, source, case.intent, case.tier, verdict.score, is_bad))
    return Paired(tuple(pairs), dict(labels), dict(unscored), dict(confusion))
