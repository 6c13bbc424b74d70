"""A model without a stack: its judgement stands in L1's place."""

from collections.abc import Sequence
from dataclasses import dataclass

from detectors.detector import Detector
from schemas.claim import CheckItem
from schemas.verdict import ClaimJudgement


@dataclass(frozen=True, slots=True)
class Alone:
    """Implements ``detectors.layers.StackedDetector``: what L1 said decides nothing.

    For models that nobody has fitted weights to stack with: averaging scores that mean different things would be worse
    than either.
    """

    model: Detector

    @property
    def name(self) -> str:
        """As the model's."""
        return self.model.name

    @property
    def fingerprint(self) -> str:
        """As the model's."""
        return self.model.fingerprint

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """As the model."""
        return self.model.judge(items)

    def judge_after(
        self, items: Sequence[CheckItem], below: Sequence[Sequence[ClaimJudgement] | None]
    ) -> list[list[ClaimJudgement]]:
        """As the model, whatever L1 said."""
        del below
        return self.model.judge(items)
