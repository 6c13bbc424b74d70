"""Query parameters of the pages: read strictly, so that a wrong link says what is wrong instead of showing all."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from dashboards.formats import iso, link_part
from dashboards.periods import PERIODS, WEEK, Period
from schemas.labels import RiskTier

LONGEST = 200
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
"""The times that the store can hold."""


class BadQuery(ValueError):
    """A query parameter that a page cannot use; the text names it and what it may be, never its value."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which flagged answers to show; None means all."""

    intent: str | None = None
    tier: RiskTier | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_set(self) -> bool:
        """True when anything is filtered."""
        return self != Filters()

    def link(self, *, until: datetime | None = None) -> str:
        """The page with these filters; ``until`` overrides the end, to reach older answers."""
        end = until or self.until
        parts = {
            "intent": self.intent,
            "tier": self.tier.value if self.tier else None,
            "since": iso(self.since) if self.since else None,
            "until": iso(end) if end else None,
        }
        query = "&".join(f"{name}={link_part(value)}" for name, value in parts.items() if value)
        return f"/flagged?{query}" if query else "/flagged"


def period(query: Mapping[str, str]) -> Period:
    """The overview's period; raises BadQuery for one that is not offered."""
    key = query.get("period", WEEK.key)
    if key not in PERIODS:
        raise BadQuery(f"period must be one of {', '.join(PERIODS)}")
    return PERIODS[key]


def filters(query: Mapping[str, str]) -> Filters:
    """The filters of the flagged answers; raises BadQuery. An empty parameter, as a form sends it, means all."""
    intent = query.get("intent") or None
    if intent and len(intent) > LONGEST:
        raise BadQuery(f"intent is longer than {LONGEST} characters")
    return Filters(intent, _tier(query.get("tier")), moment(query, "since"), moment(query, "until"))


def moment(query: Mapping[str, str], name: str) -> datetime | None:
    """The moment that ``query[name]`` gives, UTC where no offset is written; raises BadQuery."""
    text = query.get(name)
    if not text:
        return None
    try:
        parsed = datetime.fromisoformat(text)
        found = (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BadQuery(f"{name} must be a moment such as 2026-03-10T12:00:00Z") from error
    if not EARLIEST <= found < LATEST:
        raise BadQuery(f"{name} must lie in the years {EARLIEST.year} to {LATEST.year - 1}")
    return found


def _tier(text: str | None) -> RiskTier | None:
    if not text:
        return None
    try:
        return RiskTier(text)
    except ValueError as error:
        raise BadQuery(f"tier must be one of {', '.join(RiskTier)}") from error
