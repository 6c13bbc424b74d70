"""Misattribution: a claim that the context supports, but not the passages that it cites, or not each of them.

Only supported claims are looked at, in one more call for all traces: a claim whose deciding passage is not among the
cited ones is judged against these together; one that cites several, against each of them alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from detectors.detector import Detector
from detectors.judging import judge_guarded
from detectors.outcome import label_claim, label_scores
from detectors.preparation import Prepared
from schemas.claim import CheckItem
from schemas.finding import MAX_DETAIL_CHARS, Finding, StructuralRule
from schemas.labels import ClaimLabel
from schemas.policy import PolicyDocument
from schemas.trace import Passage
from schemas.verdict import ClaimJudgement

_MOST_ALONE = 8
"""A claim that cites more passages is not taken apart: such a list is a bibliography."""
_MOST_ITEMS = 60
"""Second looks at one answer; citations beyond count as right."""


@dataclass(frozen=True, slots=True)
class _Look:
    """One second look: the claim at ``position`` of trace ``number`` against cited ``passages``, all or one of them."""

    number: int
    position: int
    passages: tuple[int, ...]
    is_one_of_several: bool

    @property
    def claim(self) -> tuple[int, int]:
        """What tells this claim from those of other traces."""
        return self.number, self.position


def find_misattributed(
    prepared: Sequence[Prepared],
    judgements: Sequence[Sequence[ClaimJudgement]],
    policies: Sequence[PolicyDocument],
    detector: Detector,
    attempts: int = 3,
) -> list[list[Finding]]:
    """For each trace, what is wrong with the citations of its supported claims.

    ``citation_mismatch``: no cited passage supports the claim while another passage does. ``citation_irrelevant``: one
    of several cited passages does not support it alone while another of them does. A claim that needs several passages
    together gets neither. What cannot be judged again counts as rightly attributed, and so does a claim that only a
    judge found supported: a detector that doubted it against all passages is no witness against some of them. Raises
    Retryable.
    """
    looks = [
        look
        for number, (ready, judged, policy) in enumerate(zip(prepared, judgements, policies, strict=True))
        for look in _looks(number, ready, judged, policy)
    ]
    judged_again = judge_guarded(detector, [_item(prepared[look.number], look) for look in looks], attempts)
    found: list[list[Finding]] = [[] for _ in prepared]
    failed: list[_Look] = []
    supported: set[tuple[int, int]] = set()
    for look, (judgement,) in zip(looks, judged_again, strict=True):
        labelled = label_claim(judgement, policies[look.number].thresholds)
        if labelled.error is None and labelled.label is not ClaimLabel.SUPPORTED:
            failed.append(look)
        else:
            supported.add(look.claim)
    for look in failed:
        if look.claim in supported or not look.is_one_of_several:
            judgement = judgements[look.number][look.position]
            found[look.number].append(_finding(prepared[look.number], look, judgement))
    return found


def _looks(number: int, ready: Prepared, judged: Sequence[ClaimJudgement], policy: PolicyDocument) -> Iterator[_Look]:
    left = _MOST_ITEMS
    for position, (judgement, cited) in enumerate(zip(judged, ready.findings.cited, strict=False)):
        if not cited or not _is_supported(judgement, policy):
            continue
        is_doubtful = judgement.evidence is None or judgement.evidence.passage not in cited
        is_several = not is_doubtful and 1 < len(cited) <= _MOST_ALONE
        wanted = [(passage,) for passage in cited] if is_several else [tuple(cited)] if is_doubtful else []
        if len(wanted) > left:
            return
        left -= len(wanted)
        yield from (_Look(number, position, passages, is_several) for passages in wanted)


def _is_supported(judgement: ClaimJudgement, policy: PolicyDocument) -> bool:
    labels = {label_claim(judgement, policy.thresholds).label, label_scores(judgement, policy.thresholds).label}
    return labels == {ClaimLabel.SUPPORTED}


def _finding(ready: Prepared, look: _Look, judgement: ClaimJudgement) -> Finding:
    passages, cited = ready.to_item().passages, look.passages[0]
    rule, detail = StructuralRule.CITATION_IRRELEVANT, _name(passages, cited)
    if not look.is_one_of_several:
        decided_by = judgement.evidence.passage if judgement.evidence is not None else None
        rule = StructuralRule.CITATION_MISMATCH
        detail = f"cites {_name(passages, cited)}; supported by {_name(passages, decided_by)}"
    return Finding(
        rule=rule,
        claim=ready.claims[look.position].index,
        passage=cited if cited < len(ready.trace.passages or ()) else None,
        detail=detail[:MAX_DETAIL_CHARS],
    )


def _name(passages: Sequence[Passage], position: int | None) -> str:
    if position is None:
        return "other passages"
    return passages[position].doc_id[: MAX_DETAIL_CHARS // 3] or f"passage {position + 1}"


def _item(ready: Prepared, look: _Look) -> CheckItem:
    item = ready.to_item()
    passages = tuple(item.passages[number] for number in look.passages)
    return CheckItem(item.question, passages, item.answer, (ready.claims[look.position],))
