"""Verification: drawn traces to verdicts; judges only what ingest has not judged with the same detector already."""

from collections.abc import Callable, Sequence
from datetime import datetime
from time import perf_counter

from detectors.attribution import find_misattributed
from detectors.detector import Detector
from detectors.fingerprint import screening_fingerprint
from detectors.judging import judge_guarded
from detectors.newest import settle_by_newest
from detectors.preparation import Prepared, prepare
from detectors.structural import MAX_ANSWER_BYTES
from detectors.verdicts import Run, build_verdict
from schemas.draw import DrawnTrace, Screening
from schemas.labels import Layer
from schemas.policy import PolicyDocument
from schemas.verdict import ClaimJudgement, Verdict


def verify(  # noqa: PLR0913 - four inputs, the rest are limits with defaults
    drawn: Sequence[DrawnTrace],
    policies: Sequence[PolicyDocument],
    detector: Detector,
    now: datetime,
    *,
    layers: Sequence[Layer] = (Layer.L0, Layer.L1),
    max_answer_bytes: int = MAX_ANSWER_BYTES,
    attempts: int = 3,
    clock: Callable[[], float] = perf_counter,
) -> list[Verdict]:
    """One verdict per drawn trace, in order; ``policies`` are those in force at each trace's event time.

    Judgements of the screening are taken over where its fingerprint is that of this detector, splitter and L0, and
    none of them is an error. The rest goes to the detector in one call; what rests on an outdated version, and doubtful
    citations, in one more each.

    ``layers`` are those that ``detector`` stands for, L0 included. Never raises for what a trace contains. Raises
    Retryable when the detector is away.
    """
    began = clock()
    own = screening_fingerprint(detector.fingerprint)
    prepared = [
        prepare(
            item.trace, policy, max_answer_bytes, item.screening.claims if _is_current(item.screening, own) else None
        )
        for item, policy in zip(drawn, policies, strict=True)
    ]
    known = [_known_judgements(item.screening, own, ready) for item, ready in zip(drawn, prepared, strict=True)]
    judgements = _judge_unknown(prepared, known, detector, attempts)
    judgements, outdated = settle_by_newest(prepared, judgements, policies, detector, attempts)
    misattributed = find_misattributed(prepared, judgements, policies, detector, attempts)
    run = Run(detector.fingerprint, tuple(layers), now, (clock() - began) * 1000 / max(1, len(drawn)))
    return [
        build_verdict(ready, judged, policy, run, [*stale, *wrong])
        for ready, judged, policy, stale, wrong in zip(
            prepared, judgements, policies, outdated, misattributed, strict=True
        )
    ]


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
