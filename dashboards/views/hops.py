"""The hops of an answer made in several: what each was asked, and how what it wrote fared on its own context."""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.labels import ClaimLabel
from schemas.trace import Hop
from schemas.verdict import HopVerdict

_LABELS = (ClaimLabel.SUPPORTED, ClaimLabel.UNSUPPORTED, ClaimLabel.CONTRADICTED, ClaimLabel.UNCLEAR)
_QUESTION_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class HopView:
    """One row of the table; ``hop`` is None where a later revision of the trace no longer has it."""

    found: HopVerdict
    hop: Hop | None

    @property
    def number(self) -> int:
        """Counted from one, as in the words that say why."""
        return self.found.hop + 1

    @property
    def question(self) -> str:
        """What the hop was asked, from its beginning."""
        text = self.hop.question if self.hop else ""
        return text if len(text) <= _QUESTION_CHARACTERS else f"{text[:_QUESTION_CHARACTERS]}…"

    @property
    def counts(self) -> tuple[tuple[ClaimLabel, int], ...]:
        """How many claims have each label, those that none has left out."""
        return tuple((label, count) for label in _LABELS if (count := getattr(self.found, label.value)))

    @property
    def notes(self) -> tuple[str, ...]:
        """What the labels do not tell."""
        counts = (
            (self.found.errors, "in error"),
            (self.found.derived, "rest on an earlier hop"),
            (self.found.left_out, "not judged"),
        )
        return tuple(f"{count} {words}" for count, words in counts if count)

    @property
    def has_worst(self) -> bool:
        """Whether a claim is worth showing: one that is not supported."""
        return self.found.worst_label is not None and self.found.worst_label is not ClaimLabel.SUPPORTED


def hop_views(found: Sequence[HopVerdict], hops: Sequence[Hop]) -> tuple[HopView, ...]:
    """The rows, in order."""
    return tuple(HopView(one, hops[one.hop] if one.hop < len(hops) else None) for one in found)
