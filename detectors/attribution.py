"""Misattribution: a claim that the context supports, but not the passages that it cites.

Only a claim whose deciding passage is not among the cited ones is judged once more, against these alone.
"""

from collections.abc import Sequence

from detectors.detector import Detector
from detectors.judging import judge_guarded
from detectors.outcome import label_claim
from detectors.preparation import Prepared
from schemas.claim import CheckItem
from schemas.finding import Finding, StructuralRule
from schemas.labels import ClaimLabel
from schemas.policy import PolicyDocument
from schemas.verdict import ClaimJudgement


def find_misattributed(
    prepared: Sequence[Prepared],
    judgements: Sequence[Sequence[ClaimJudgement]],
    policies: Sequence[PolicyDocument],
    detector: Detector,
    attempts: int = 3,
) -> list[list[Finding]]:
    """For each trace, a finding for every claim that cites passages which do not support it while others do.

    A doubtful claim that cannot be judged again counts as rightly attributed. One call for all traces. Raises
    Retryable.
    """
    doubtful = [
        (number, position)
        for number, (ready, judged, policy) in enumerate(zip(prepared, judgements, policies, strict=True))
        for position in _doubtful(ready, judged, policy)
    ]
    items = [_cited_item(prepared[number], position) for number, position in doubtful]
    found: list[list[Finding]] = [[] for _ in prepared]
    for (number, position), (judgement,) in zip(doubtful, judge_guarded(detector, items, attempts), strict=True):
        labelled = label_claim(judgement, policies[number].thresholds)
        if labelled.error is None and labelled.label is not ClaimLabel.SUPPORTED:
            index = prepared[number].claims[position].index
            found[number].append(Finding(rule=StructuralRule.CITATION_MISMATCH, claim=index))
    return found


def _doubtful(ready: Prepared, judged: Sequence[ClaimJudgement], policy: PolicyDocument) -> list[int]:
    return [
        position
        for position, (judgement, cited) in enumerate(zip(judged, ready.findings.cited, strict=False))
        if cited
        and label_claim(judgement, policy.thresholds).label is ClaimLabel.SUPPORTED
        and (judgement.evidence is None or judgement.evidence.passage not in cited)
    ]


def _cited_item(ready: Prepared, position: int) -> CheckItem:
    item = ready.to_item()
    passages = tuple(item.passages[number] for number in ready.findings.cited[position])
    return CheckItem(item.question, passages, item.answer, (ready.claims[position],))
