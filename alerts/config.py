"""The settings of the alert tests as one frozen value, so that a replay can state exactly what it ran with."""

from datetime import timedelta
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field

from schemas.base import Record
from schemas.labels import RiskTier

MONTH = timedelta(days=30)
"""What a budget of pages a month is spread over."""
EXPECTED_RATE = {RiskTier.LOW: 0.08, RiskTier.MEDIUM: 0.05, RiskTier.HIGH: 0.03}


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        message = f"{name!r} is not an IANA time zone; write for instance Europe/Berlin"
        raise ValueError(message) from error
    return name


class JumpConfig(Record):
    """How the jump test runs. Rates are shares of judged answers, times are event time."""

    pages_per_month: float = Field(default=1.0, gt=0)
    """False pages a month over all slices and rules together."""
    jump_share: float = Field(default=0.6, gt=0, le=1)
    """The jump test's part of that budget."""
    odds_ratios: tuple[Annotated[float, Field(gt=1)], ...] = Field(default=(1.5, 2.0, 3.0, 5.0), min_length=1)
    """The rises that are bet on, as ratios of the odds."""
    minimum_slices: int = Field(default=1, ge=1)
    """The budget is split over at least this many slices, also while fewer have been seen."""
    timezone: Annotated[str, AfterValidator(_known_zone)] = "UTC"
    """Where a day begins, for the day effect and for the daily counts of the reference."""
    expected_rate: dict[RiskTier, Annotated[float, Field(gt=0, lt=1)]] = Field(
        default_factory=lambda: dict(EXPECTED_RATE)
    )
    """Rate to expect before there is any count; worth ten answers, so real counts soon outweigh it."""
    stale_after: timedelta = Field(default=timedelta(hours=24), gt=timedelta(0))
    """A slice without a judged answer for this long is ``stale``."""
    max_changes_per_day: int = Field(default=6, ge=1)
    """A version field with more new values a day than this is no deploy signal in that slice."""

    @property
    def zone(self) -> ZoneInfo:
        """The time zone itself."""
        return ZoneInfo(self.timezone)

    def budget(self, slices: int) -> float:
        """False pages a month that one of ``slices`` slices may spend on jumps."""
        return self.pages_per_month * self.jump_share / max(slices, self.minimum_slices, 1)
