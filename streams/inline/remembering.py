"""Models that do not judge twice what they have judged for the same answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from detectors.layers import StackedDetector
from schemas.claim import CheckItem
from schemas.verdict import ClaimJudgement


@dataclass(slots=True)
class Remembering:
    """A ``StackedDetector`` for the stages of one answer: what it has judged is not judged again."""

    models: StackedDetector
    _known: dict[object, list[ClaimJudgement]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """That of the models."""
        return self.models.name

    @property
    def fingerprint(self) -> str:
        """That of the models."""
        return self.models.fingerprint

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """As the models."""
        return self.judge_after(items, [None] * len(items))

    def judge_after(
        self, items: Sequence[CheckItem], below: Sequence[Sequence[ClaimJudgement] | None]
    ) -> list[list[ClaimJudgement]]:
        """As the models."""
        keys = [
            (
                item.question,
                tuple(item.passages),
                item.answer,
                tuple(item.claims),
                None if known is None else tuple(known),
            )
            for item, known in zip(items, below, strict=True)
        ]
        new = [place for place, key in enumerate(keys) if key not in self._known]
        if new:
            judged = self.models.judge_after([items[place] for place in new], [below[place] for place in new])
            self._known |= {keys[place]: judgements for place, judgements in zip(new, judged, strict=True)}
        return [self._known[key] for key in keys]
