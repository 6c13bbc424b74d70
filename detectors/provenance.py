"""Where a claim comes from: a retrieved document, a tool, the user's own words, or the model's memory.

The source never changes a label. What only the user said is still not supported: a product must not confirm what it was
told without looking it up; that the answer merely repeats it is what triage needs to know.
"""

from collections.abc import Sequence

from detectors.claims import split_claims
from detectors.detector import Detector
from detectors.judging import judge_guarded
from detectors.outcome import BAD, label_claim
from detectors.preparation import Prepared
from detectors.structural.context import context_passages
from schemas.claim import CheckItem, ClaimSource
from schemas.labels import ClaimLabel, Outcome
from schemas.policy import PolicyDocument
from schemas.trace import Passage, Trace, passage_hash
from schemas.verdict import ClaimJudgement, ClaimVerdict, SeenText

_MOST_LOOKS = 60
"""Claims of one answer that are held against the user's words; further ones count as the model's own."""


def seen_texts(trace: Trace) -> tuple[SeenText, ...]:
    """What the claims of a trace are judged against, in the order that ``Evidence.passage`` counts in."""
    documents, shows_tools = len(trace.passages or ()), any(call.output is not None for call in trace.tool_calls)
    return tuple(
        SeenText(
            source=ClaimSource.TOOL if shows_tools and position >= documents else ClaimSource.DOCUMENT,
            doc_id=passage.doc_id,
            content_hash=passage_hash(passage.text),
            chars=len(passage.text),
        )
        for position, passage in enumerate(context_passages(trace))
    )


def with_sources(
    claims: Sequence[ClaimVerdict], seen: Sequence[SeenText], said_by_user: frozenset[int]
) -> tuple[ClaimVerdict, ...]:
    """The claims with their sources; ``said_by_user`` are indices of claims that the user's own words support."""
    return tuple(judged.model_copy(update={"source": _source(judged, seen, said_by_user)}) for judged in claims)


def find_said_by_user(
    prepared: Sequence[Prepared],
    judgements: Sequence[Sequence[ClaimJudgement]],
    policies: Sequence[PolicyDocument],
    detector: Detector,
    attempts: int = 3,
) -> list[frozenset[int]]:
    """For each trace the indices of bad claims that statements in its question support, in one call for all traces.

    Questions state nothing, so most traces cost nothing here. What cannot be judged counts as not said. Raises
    Retryable.
    """
    items = [_item(ready, judged, policy) for ready, judged, policy in zip(prepared, judgements, policies, strict=True)]
    judged_again = iter(judge_guarded(detector, [item for item in items if item is not None], attempts))
    return [
        frozenset() if item is None else _supported(item, next(judged_again), policy)
        for item, policy in zip(items, policies, strict=True)
    ]


def _source(judged: ClaimVerdict, seen: Sequence[SeenText], said_by_user: frozenset[int]) -> ClaimSource | None:
    if judged.label in BAD:
        return ClaimSource.USER if judged.claim.index in said_by_user else ClaimSource.MEMORY
    if judged.label is not ClaimLabel.SUPPORTED:
        return None
    if judged.evidence is not None and judged.evidence.passage < len(seen):
        return seen[judged.evidence.passage].source
    kinds = {text.source for text in seen}
    return kinds.pop() if len(kinds) == 1 else None


def _item(ready: Prepared, judged: Sequence[ClaimJudgement], policy: PolicyDocument) -> CheckItem | None:
    if ready.needs_judging:
        bad = [
            claim
            for claim, judgement in zip(ready.claims, judged, strict=True)
            if label_claim(judgement, policy.thresholds).label in BAD
        ]
    else:
        is_asserted = ready.findings.outcome is Outcome.HALLUCINATED
        bad = [claim for claim in ready.claims if claim.is_factual and is_asserted]
    stated = _statements(ready.trace.question) if bad else ""
    if not stated:
        return None
    return CheckItem("", (Passage(doc_id="user", text=stated),), ready.trace.answer or "", tuple(bad[:_MOST_LOOKS]))


def _statements(question: str) -> str:
    """What the user states, sentence by sentence."""
    return "\n".join(claim.text for claim in split_claims(question) if claim.is_factual)


def _supported(item: CheckItem, judged: Sequence[ClaimJudgement], policy: PolicyDocument) -> frozenset[int]:
    return frozenset(
        claim.index
        for claim, judgement in zip(item.claims, judged, strict=True)
        if label_claim(judgement, policy.thresholds).label is ClaimLabel.SUPPORTED
    )
