"""The one seam of detection: evidence features, entailment models, taggers and judges all answer the same question.

One method, so that a fake in tests and a model on a GPU are exchangeable and pass the same contract test.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from schemas.claim import CheckItem
from schemas.verdict import ClaimJudgement


class Detector(Protocol):
    """Judges claims against passages.

    ``fingerprint`` changes whenever the same input could be judged differently (weights, prompt, calibration); verdicts
    of different fingerprints are different series.
    """

    @property
    def name(self) -> str:
        """Short constant name, fit for a metric label."""
        ...

    @property
    def fingerprint(self) -> str:
        """Version of everything that decides the scores."""
        ...

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """One list per item, one judgement per claim, in order; the result does not depend on batch mates.

        Claims that are not factual get an empty ``ClaimJudgement()``. A claim that cannot be judged gets
        ``ClaimJudgement(error=...)``: never a missing entry, never a neutral score, never an exception for what an
        item contains. ``schemas.errors.Retryable`` may be raised when the detector as a whole is away.
        """
        ...


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """Judgements of the claims of an answer, in order, and P(every claim is supported), None where none was scored."""

    claims: list[ClaimJudgement]
    score: float | None


@runtime_checkable
class AnswerDetector(Detector, Protocol):
    """A detector that scores the whole answer too, because its weakest claim does not say all that is known of it."""

    def judge_answers(self, items: Sequence[CheckItem]) -> list[JudgedAnswer]:
        """As ``judge``, with a score for each item."""
        ...
