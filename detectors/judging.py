"""Calls a detector so that what one item contains can never cost another its judgement, or end the stream."""

from collections.abc import Sequence

from detectors.detector import Detector
from schemas.claim import CheckItem, Claim
from schemas.errors import Retryable
from schemas.labels import Outcome
from schemas.verdict import ClaimJudgement

_FAILED = ClaimJudgement(error=Outcome.ERROR_INTERNAL)


def judge_guarded(detector: Detector, items: Sequence[CheckItem], attempts: int = 3) -> list[list[ClaimJudgement]]:
    """One list per item, one judgement per claim, whatever the detector does.

    A batch that raises, or whose answer has the wrong shape, is judged again item by item, ``attempts`` times each;
    an item that still fails gets ``error:internal`` for its factual claims. Raises Retryable only.
    """
    judged = _try_judge(detector, items) if items else []
    if judged is None:
        judged = [_judge_alone(detector, item, attempts) for item in items]
    return [_tidy(item, judgements) for item, judgements in zip(items, judged, strict=True)]


def _judge_alone(detector: Detector, item: CheckItem, attempts: int) -> list[ClaimJudgement]:
    for _ in range(attempts):
        judged = _try_judge(detector, [item])
        if judged is not None:
            return judged[0]
    return [_FAILED] * len(item.claims)


def _try_judge(detector: Detector, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]] | None:
    try:
        judged = detector.judge(items)
    except Retryable:
        raise
    except Exception:  # noqa: BLE001 - a detector may fail in any way; the failure becomes an outcome, never a lost row
        return None
    has_shape = len(judged) == len(items) and all(
        len(judgements) == len(item.claims) for judgements, item in zip(judged, items, strict=True)
    )
    return judged if has_shape else None


def _tidy(item: CheckItem, judgements: Sequence[ClaimJudgement]) -> list[ClaimJudgement]:
    count = len(item.passages)
    return [_tidied(claim, judgement, count) for claim, judgement in zip(item.claims, judgements, strict=True)]


def _tidied(claim: Claim, judgement: ClaimJudgement, passage_count: int) -> ClaimJudgement:
    """Scores belong to factual claims alone; a factual claim has a score or an error, and evidence that exists."""
    if not claim.is_factual:
        return ClaimJudgement()
    if judgement.error is not None:
        return ClaimJudgement(error=judgement.error, why=judgement.why)
    has_score = judgement.support is not None or judgement.contradiction is not None
    has_passage = judgement.evidence is None or judgement.evidence.passage < passage_count
    return judgement if has_score and has_passage else _FAILED
