"""Where versions of a document disagree, the newest one in force decides.

A claim that rests on an outdated passage, or on sources in conflict, is judged once more without outdated passages.
"""

from collections.abc import Mapping, Sequence

from detectors.detector import Detector
from detectors.judging import judge_guarded
from detectors.outcome import label_claim
from detectors.preparation import Prepared
from detectors.structural.staleness import outdated_passages, stale_rules
from schemas.claim import CheckItem
from schemas.finding import MAX_DETAIL_CHARS, Finding, StructuralRule
from schemas.labels import ClaimLabel, FailureLabel
from schemas.policy import PolicyDocument, Thresholds
from schemas.verdict import ClaimJudgement

Judgements = list[Sequence[ClaimJudgement]]


def settle_by_newest(
    prepared: Sequence[Prepared],
    judgements: Sequence[Sequence[ClaimJudgement]],
    policies: Sequence[PolicyDocument],
    detector: Detector,
    attempts: int = 3,
) -> tuple[Judgements, list[list[Finding]]]:
    """The judgements by the newest versions, and for each trace the claims that rested on an outdated one alone.

    Traces without an outdated passage are not looked at again; the others take one call together. Raises Retryable.
    """
    settled: Judgements = [list(judged) for judged in judgements]
    rested: list[list[Finding]] = [[] for _ in prepared]
    kept = [kept_passages(ready) for ready in prepared]
    doubtful = [
        [position for position, judgement in enumerate(judged) if _rests_on(judgement, policy.thresholds, keep)]
        for judged, policy, keep in zip(judgements, policies, kept, strict=True)
    ]
    open_ones = [number for number, positions in enumerate(doubtful) if positions]
    items = [_item(prepared[number], kept[number] or [], doubtful[number]) for number in open_ones]
    for number, judged in zip(open_ones, judge_guarded(detector, items, attempts), strict=True):
        replaced = [*settled[number]]
        for position, judgement in zip(doubtful[number], judged, strict=True):
            replaced[position] = with_index(judgement, kept[number] or [])
            label = label_claim(judgement, policies[number].thresholds).label
            if judgement.error is None and label is not ClaimLabel.SUPPORTED:
                rested[number].append(_finding(prepared[number], position, judgements[number][position]))
        settled[number] = replaced
    return settled, rested


def kept_passages(ready: Prepared) -> list[int] | None:
    """Places of the passages that are not outdated; None where none is, or where nothing is to be judged."""
    passages = ready.trace.passages or ()
    if not ready.needs_judging or len({passage.version for passage in passages}) < 2:  # noqa: PLR2004 - two versions
        return None
    outdated = outdated_passages(passages, ready.trace.ts)
    count = len(ready.to_item().passages)
    return [position for position in range(count) if position not in outdated] if outdated else None


def without_outdated(
    item: CheckItem, judgements: Sequence[ClaimJudgement], kept: Sequence[int]
) -> tuple[CheckItem, list[ClaimJudgement]]:
    """The item with the ``kept`` passages alone, and its judgements counted in them; evidence elsewhere is left out."""
    passages = tuple(item.passages[number] for number in kept)
    places = {number: place for place, number in enumerate(kept)}
    return CheckItem(item.question, passages, item.answer, item.claims), [_narrowed(one, places) for one in judgements]


def with_index(judgement: ClaimJudgement, kept: Sequence[int]) -> ClaimJudgement:
    """The judgement with its evidence counted in the whole context, where it was made on the ``kept`` passages."""
    if judgement.evidence is None:
        return judgement
    evidence = judgement.evidence.model_copy(update={"passage": kept[judgement.evidence.passage]})
    return judgement.model_copy(update={"evidence": evidence})


def _rests_on(judgement: ClaimJudgement, thresholds: Thresholds, kept: list[int] | None) -> bool:
    if kept is None:
        return False
    labelled = label_claim(judgement, thresholds)
    if labelled.failure is FailureLabel.CONFLICTING_SOURCES:
        return True
    evidence = judgement.evidence
    return labelled.label is ClaimLabel.SUPPORTED and (evidence is None or evidence.passage not in kept)


def _finding(ready: Prepared, position: int, judgement: ClaimJudgement) -> Finding:
    """Names the outdated passage that decided the claim at first."""
    claim, passages = ready.claims[position].index, ready.trace.passages or ()
    evidence = judgement.evidence
    rule = None
    if evidence is not None and evidence.passage < len(passages):
        rule = stale_rules(passages, ready.trace.ts)[evidence.passage]
    if evidence is None or rule is None:
        return Finding(rule=StructuralRule.SOURCE_OUTDATED, claim=claim)
    return Finding(rule=rule, claim=claim, passage=evidence.passage, detail=evidence.doc_id[:MAX_DETAIL_CHARS])


def _item(ready: Prepared, kept: Sequence[int], positions: Sequence[int]) -> CheckItem:
    item = ready.to_item()
    passages = tuple(item.passages[number] for number in kept)
    return CheckItem(item.question, passages, item.answer, tuple(ready.claims[position] for position in positions))


def _narrowed(judgement: ClaimJudgement, places: Mapping[int, int]) -> ClaimJudgement:
    if judgement.evidence is None:
        return judgement
    place = places.get(judgement.evidence.passage)
    evidence = None if place is None else judgement.evidence.model_copy(update={"passage": place})
    return judgement.model_copy(update={"evidence": evidence})
