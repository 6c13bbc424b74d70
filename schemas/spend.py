"""What judges and resampling cost, by minute and by who asked, and what each worker may still spend of an hour."""

from pydantic import Field

from schemas.base import Record, UtcDatetime
from schemas.labels import Layer, RiskTier
from schemas.routes import Route

ALL = "all"
"""The pot that everything is paid from; a route with a budget of its own is paid from two."""


def route_name(route: Route) -> str:
    """The name under which a route's spend is booked: intent and tier as the policy writes them, ``*`` for any.

    >>> route_name(Route(intent="refunds"))
    'refunds/*'
    """
    return f"{route.intent}/{route.tier or '*'}"


class Cost(Record):
    """What something cost. ``refused`` calls were not made since the budget was spent; ``refused_tokens`` is a guess.

    ``took_ms`` is time waited for replies, ``slowest_ms`` the longest wait.
    """

    calls: int = Field(default=0, ge=0)
    cached: int = Field(default=0, ge=0)
    refused: int = Field(default=0, ge=0)
    tokens_in: int = Field(default=0, ge=0)
    tokens_out: int = Field(default=0, ge=0)
    refused_tokens: int = Field(default=0, ge=0)
    usd: float = Field(default=0.0, ge=0)
    refused_usd: float = Field(default=0.0, ge=0)
    took_ms: float = Field(default=0.0, ge=0)
    slowest_ms: float = Field(default=0.0, ge=0)

    @property
    def tokens(self) -> int:
        """In and out together: what a budget of tokens counts."""
        return self.tokens_in + self.tokens_out

    def plus(self, other: "Cost") -> "Cost":
        """Both together."""
        return Cost(
            calls=self.calls + other.calls,
            cached=self.cached + other.cached,
            refused=self.refused + other.refused,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            refused_tokens=self.refused_tokens + other.refused_tokens,
            usd=self.usd + other.usd,
            refused_usd=self.refused_usd + other.refused_usd,
            took_ms=self.took_ms + other.took_ms,
            slowest_ms=max(self.slowest_ms, other.slowest_ms),
        )


class Spend(Record):
    """What one worker spent in one minute on one intent, tier, layer and route; a later row of it replaces this one."""

    worker: str
    minute: UtcDatetime
    intent: str
    tier: RiskTier
    layer: Layer
    route: str
    cost: Cost


class SpendSum(Record):
    """What all workers spent in the time that begins at ``start``."""

    start: UtcDatetime
    intent: str
    tier: RiskTier
    layer: Layer
    route: str
    cost: Cost


class BudgetShare(Record):
    """What a worker has spent from a pot (``all``, or a route) in an hour, and up to where it may go on.

    ``may_tokens`` and ``may_usd`` are bounds on its spend of that hour, not what is left; where the pot has no such
    limit they equal what is spent.
    """

    worker: str
    hour: UtcDatetime
    pot: str
    tokens: float = Field(default=0.0, ge=0)
    usd: float = Field(default=0.0, ge=0)
    may_tokens: float = Field(default=0.0, ge=0)
    may_usd: float = Field(default=0.0, ge=0)
    written_at: UtcDatetime


SUPPORT_BINS = 100
"""Hundredths of support: fine enough for any band."""


class ClaimSupports(Record):
    """How many claims of drawn answers scored what: ``bins[i]`` have a support from i to i + 1 hundredths.

    ``failed`` claims have none: a judge was wanted for them and did not answer, or was not paid for.
    """

    intent: str
    tier: RiskTier
    stratum: str
    answers: int = Field(ge=0)
    failed: int = Field(default=0, ge=0)
    bins: tuple[int, ...] = Field(min_length=SUPPORT_BINS, max_length=SUPPORT_BINS)

    def within(self, low: float, high: float) -> float:
        """How many claims score in [low, high]; of a hundredth that is cut, a part."""
        edges = ((i / SUPPORT_BINS, (i + 1) / SUPPORT_BINS, count) for i, count in enumerate(self.bins) if count)
        return sum(count * max(0.0, min(end, high) - max(start, low)) * SUPPORT_BINS for start, end, count in edges)
