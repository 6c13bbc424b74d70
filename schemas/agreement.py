"""What a judge said beside what the layer below it would have said."""

from pydantic import Field

from schemas.base import Record
from schemas.labels import ClaimLabel, RiskTier


class DecidedClaim(Record):
    """A claim whose label is the judge's; its scores are those of the layer below."""

    intent: str
    tier: RiskTier
    label: ClaimLabel
    support: float | None = None
    contradiction: float | None = None
    fingerprint_parts: dict[str, str] = Field(default_factory=dict)


class Agreement(Record):
    """So many claims of an intent and tier that the layer below would have labelled one way, and the judge another."""

    intent: str
    tier: RiskTier
    below: ClaimLabel
    judge: ClaimLabel
    claims: int

    @property
    def agrees(self) -> bool:
        """Whether both say the same."""
        return self.below is self.judge
