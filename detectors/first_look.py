"""The first look at drawn traces: claims, structure (L0) and evidence (L1); judges only what ingest has not judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from detectors.claims import splitter_name
from detectors.claims.llm import LlmSplitter
from detectors.detector import Detector
from detectors.fingerprint import screening_fingerprint
from detectors.judging import judge_guarded
from detectors.preparation import SPLIT, Clock, Prepared, Split, prepare
from detectors.structural import find_unreadable
from schemas.draw import DrawnTrace, Screening
from schemas.labels import Layer
from schemas.policy import PolicyDocument
from schemas.verdict import ClaimJudgement


@dataclass(frozen=True, slots=True)
class FirstLook:
    """One trace, with a judgement by L1 for each of its claims where its structure did not settle the outcome.

    ``timings_ms`` has the steps that are not in those of ``ready``; a step over the batch counts its equal part.
    """

    ready: Prepared
    judgements: Sequence[ClaimJudgement]
    timings_ms: Mapping[str, float]


def first_look(  # noqa: PLR0913 - what is looked at, by what, within which limits
    drawn: Sequence[DrawnTrace],
    policies: Sequence[PolicyDocument],
    detector: Detector,
    *,
    splitter: LlmSplitter | None,
    max_answer_bytes: int,
    attempts: int,
    clock: Clock,
) -> list[FirstLook]:
    """One look a trace, in order; the detector takes one call for all that ingest has not judged. Raises Retryable.

    Judgements of the screening are taken over where its fingerprint is that of this detector, splitter and L0, and none
    of them is an error. With ``splitter`` a language model splits the answers, and the rules where it fails.
    """
    began = clock()
    own = [
        screening_fingerprint(detector.fingerprint, splitter.name if splitter else splitter_name(policy.claims.split))
        for policy in policies
    ]
    splits = _splits(drawn, policies, own, splitter, max_answer_bytes)
    was_split = clock()
    prepared = [
        prepare(item.trace, policy, max_answer_bytes, known, clock)
        for item, policy, known in zip(drawn, policies, splits, strict=True)
    ]
    known = [
        _known_judgements(item.screening, mark, ready) for item, mark, ready in zip(drawn, own, prepared, strict=True)
    ]
    was_prepared = clock()
    judgements = _judge_unknown(prepared, known, detector, attempts)
    share = 1000 / max(1, len(drawn))
    first = {} if splitter is None else {SPLIT: (was_split - began) * share}
    shared = {**first, Layer.L1.value: (clock() - was_prepared) * share}
    return [
        FirstLook(ready, judged, {**shared, **_earlier(item.screening, taken_over)})
        for item, ready, judged, taken_over in zip(drawn, prepared, judgements, known, strict=True)
    ]


def _earlier(screening: Screening, judged: Sequence[ClaimJudgement] | None) -> Mapping[str, float]:
    """The times of what ingest did and verify took over: splitting, and judging where there was anything to judge."""
    if judged is None:
        return {}
    return screening.timings_ms if judged else {step: ms for step, ms in screening.timings_ms.items() if step == SPLIT}


def _splits(
    drawn: Sequence[DrawnTrace],
    policies: Sequence[PolicyDocument],
    own: Sequence[str],
    splitter: LlmSplitter | None,
    max_answer_bytes: int,
) -> list[Split | None]:
    """Claims that are known before preparation: those of the screening, else those of the language model."""
    if splitter is None:
        return [
            Split(item.screening.claims, splitter_name(policy.claims.split))
            if _is_current(item.screening, mark)
            else None
            for item, policy, mark in zip(drawn, policies, own, strict=True)
        ]
    readable = [find_unreadable(item.trace, max_answer_bytes) is None for item in drawn]
    wanted = [
        (item.trace.answer or "", policy.claims.split)
        for item, policy, is_one in zip(drawn, policies, readable, strict=True)
        if is_one
    ]
    found = iter(splitter.split_many(wanted))
    return [Split(*next(found)) if is_one else None for is_one in readable]


def _is_current(screening: Screening, own: str) -> bool:
    return screening.fingerprint == own and bool(screening.claims)


def _known_judgements(screening: Screening, own: str, ready: Prepared) -> Sequence[ClaimJudgement] | None:
    if not ready.needs_judging:
        return ()
    judgements = screening.judgements
    is_whole = len(judgements) == len(ready.claims) and all(judgement.error is None for judgement in judgements)
    return judgements if _is_current(screening, own) and is_whole else None


def _judge_unknown(
    prepared: Sequence[Prepared],
    known: Sequence[Sequence[ClaimJudgement] | None],
    detector: Detector,
    attempts: int,
) -> list[Sequence[ClaimJudgement]]:
    items = [ready.to_item() for ready, judgements in zip(prepared, known, strict=True) if judgements is None]
    judged = iter(judge_guarded(detector, items, attempts))
    return [next(judged) if judgements is None else judgements for judgements in known]
