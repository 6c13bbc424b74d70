"""The group that we report and alert on (survey word: domain)."""

from schemas.base import Record
from schemas.labels import RiskTier


class Slice(Record):
    """One intent at one risk tier: the cell of the alert tests."""

    intent: str
    tier: RiskTier

    @property
    def slice_key(self) -> str:
        """Stable text form, used in alert ids and links: ``intent/tier``."""
        return f"{self.intent}/{self.tier.value}"
