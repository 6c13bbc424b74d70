"""Verification: drawn traces to verdicts; judges only what ingest has not judged with the same detector already."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from time import perf_counter

from detectors.attribution import find_misattributed
from detectors.claims import splitter_name
from detectors.claims.llm import LlmSplitter
from detectors.detector import Detector
from detectors.fingerprint import screening_fingerprint
from detectors.judging import judge_guarded
from detectors.newest import settle_by_newest
from detectors.preparation import SPLIT, Clock, Prepared, Split, prepare
from detectors.provenance import find_said_by_user
from detectors.structural import MAX_ANSWER_BYTES, find_unreadable
from detectors.verdicts import Looks, Run, build_verdict
from schemas.draw import DrawnTrace, Screening
from schemas.labels import Layer
from schemas.policy import PolicyDocument
from schemas.verdict import ClaimJudgement, Verdict

SECOND_LOOKS = "second_looks"
"""The step of judging single claims again, in ``timings_ms``."""


def verify(  # noqa: PLR0913 - four inputs, the rest are limits with defaults
    drawn: Sequence[DrawnTrace],
    policies: Sequence[PolicyDocument],
    detector: Detector,
    now: datetime,
    *,
    layers: Sequence[Layer] = (Layer.L0, Layer.L1),
    max_answer_bytes: int = MAX_ANSWER_BYTES,
    attempts: int = 3,
    splitter: LlmSplitter | None = None,
    clock: Clock = perf_counter,
) -> list[Verdict]:
    """One verdict per drawn trace, in order; ``policies`` are those in force at each trace's event time.

    Judgements of the screening are taken over where its fingerprint is that of this detector, splitter and L0, and
    none of them is an error. The rest goes to the detector in one call; what rests on an outdated version, doubtful
    citations, and what only the user may have said, in one more each. With ``splitter`` a language model splits the
    answers, and the rules where it fails.

    ``layers`` are those that ``detector`` stands for, L0 included. Never raises for what a trace contains. Raises
    Retryable when the detector is away.
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
    was_judged = clock()
    judgements, outdated = settle_by_newest(prepared, judgements, policies, detector, attempts)
    misattributed = find_misattributed(prepared, judgements, policies, detector, attempts)
    said = find_said_by_user(prepared, judgements, policies, detector, attempts)
    done = clock()
    share = 1000 / max(1, len(drawn))
    shared = {_detector_step(layers): (was_judged - was_prepared) * share, SECOND_LOOKS: (done - was_judged) * share}
    first = {} if splitter is None else {SPLIT: (was_split - began) * share}
    steps = [{**first, **shared, **_earlier(item.screening, judged)} for item, judged in zip(drawn, known, strict=True)]
    run = Run(detector.fingerprint, tuple(layers), now, (done - began) * share, splitter.name if splitter else "")
    return [
        build_verdict(ready, judged, policy, run, Looks((*stale, *wrong), by_user, timings))
        for ready, judged, policy, timings, stale, wrong, by_user in zip(
            prepared, judgements, policies, steps, outdated, misattributed, said, strict=True
        )
    ]


def _earlier(screening: Screening, judged: Sequence[ClaimJudgement] | None) -> Mapping[str, float]:
    """The times of what ingest did and verify took over: splitting, and judging where there was anything to judge."""
    if judged is None:
        return {}
    return screening.timings_ms if judged else {step: ms for step, ms in screening.timings_ms.items() if step == SPLIT}


def _detector_step(layers: Sequence[Layer]) -> str:
    return "+".join(layer.value for layer in layers if layer is not Layer.L0) or Layer.L0.value


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
