"""Calls a detector so that what one item contains can never cost another its judgement, or end the stream."""

from collections.abc import Callable, Iterable, Sequence

from detectors.detector import AnswerDetector, Detector, JudgedAnswer
from detectors.layers import StackedDetector
from schemas.claim import CheckItem, Claim
from schemas.errors import Retryable
from schemas.labels import Outcome
from schemas.verdict import ClaimJudgement

Ask = Callable[[Sequence[int]], list[list[ClaimJudgement]]]
"""Judges the items at these places."""


def judge_guarded(detector: Detector, items: Sequence[CheckItem], attempts: int = 3) -> list[list[ClaimJudgement]]:
    """One list per item, one judgement per claim, whatever the detector does.

    A batch that raises, or whose answer has the wrong shape, is judged again item by item, ``attempts`` times each;
    an item that still fails gets ``error:internal`` for its factual claims. Raises Retryable only.
    """
    return _guarded(
        lambda places: detector.judge([items[place] for place in places]), items, attempts, Outcome.ERROR_INTERNAL
    )


def judge_answers_guarded(detector: Detector, items: Sequence[CheckItem], attempts: int = 3) -> list[JudgedAnswer]:
    """As ``judge_guarded``, with a score of each answer; that of the weakest claim from a detector that gives none."""
    if not isinstance(detector, AnswerDetector):
        return [JudgedAnswer(claims, _weakest(claims)) for claims in judge_guarded(detector, items, attempts)]
    scores: dict[int, float | None] = {}

    def ask(places: Sequence[int]) -> list[list[ClaimJudgement]]:
        answers = detector.judge_answers([items[place] for place in places])
        scores.update((place, answer.score) for place, answer in zip(places, answers, strict=True))
        return [answer.claims for answer in answers]

    judged = _guarded(ask, items, attempts, Outcome.ERROR_INTERNAL)
    return [
        JudgedAnswer(claims, scores.get(place) if _weakest(claims) is not None else None)
        for place, claims in enumerate(judged)
    ]


def _weakest(judgements: Iterable[ClaimJudgement]) -> float | None:
    return min((judgement.support for judgement in judgements if judgement.support is not None), default=None)


def judge_after_guarded(
    models: StackedDetector,
    items: Sequence[CheckItem],
    below: Sequence[Sequence[ClaimJudgement]],
    attempts: int = 3,
) -> list[list[ClaimJudgement]]:
    """As ``judge_guarded``, on top of what L1 said; an item that keeps failing is ``error:model``, never L1's word."""
    return _guarded(
        lambda places: models.judge_after([items[place] for place in places], [below[place] for place in places]),
        items,
        attempts,
        Outcome.ERROR_MODEL,
    )


def _guarded(ask: Ask, items: Sequence[CheckItem], attempts: int, failed: Outcome) -> list[list[ClaimJudgement]]:
    judged = _try_ask(ask, items, range(len(items))) if items else []
    if judged is None:
        judged = [_ask_alone(ask, items, place, attempts, failed) for place in range(len(items))]
    return [_tidy(item, judgements) for item, judgements in zip(items, judged, strict=True)]


def _ask_alone(
    ask: Ask, items: Sequence[CheckItem], place: int, attempts: int, failed: Outcome
) -> list[ClaimJudgement]:
    for _ in range(attempts):
        judged = _try_ask(ask, items, [place])
        if judged is not None:
            return judged[0]
    return [ClaimJudgement(error=failed)] * len(items[place].claims)


def _try_ask(ask: Ask, items: Sequence[CheckItem], places: Sequence[int]) -> list[list[ClaimJudgement]] | None:
    try:
        judged = ask(places)
        has_shape = len(judged) == len(places) and all(
            len(judgements) == len(items[place].claims) for judgements, place in zip(judged, places, strict=True)
        )
    except Retryable:
        raise
    except Exception:  # noqa: BLE001 - a detector may fail in any way; the failure becomes an outcome, never a lost row
        return None
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
    return judgement if has_score and has_passage else ClaimJudgement(error=Outcome.ERROR_INTERNAL)
