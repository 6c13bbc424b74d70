"""What is left of each budget in the hour that is running, as people and pages are told."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from sampling.budget import hour_of
from sampling.budget_demand import Cut, spent_from
from sampling.effective import ANY
from schemas.base import Record, UtcDatetime
from schemas.labels import RiskTier
from schemas.policy import PolicyDocument
from schemas.spend import ALL, SpendSum, route_name


class PotReport(Record):
    """A pot (``all``, or a route with a budget of its own) since the hour began at ``hour``; limits None: none.

    ``share`` is the lowest share of the policy's π that budgets leave to its answers now, until ``share_until``.
    """

    pot: str
    hour: UtcDatetime
    tokens: int
    usd: float
    tokens_limit: int | None = None
    usd_limit: float | None = None
    share: float = 1.0
    share_until: UtcDatetime | None = None

    @property
    def used(self) -> float | None:
        """The larger of the used parts of both limits; None without a limit."""
        parts = [
            spent / limit if limit else 1.0
            for spent, limit in ((self.tokens, self.tokens_limit), (self.usd, self.usd_limit))
            if limit is not None
        ]
        return max(parts, default=None)


def report_pots(
    document: PolicyDocument, rows: Sequence[SpendSum], cuts: Iterable[Cut], now: datetime
) -> tuple[PotReport, ...]:
    """The pot of all first, then each route's that has a budget; ``rows`` are sums from this hour, in any step."""
    in_force = [cut for cut in cuts if cut.starts <= now < cut.until]
    scopes: dict[str, tuple[str, RiskTier | None]] = {ALL: (ANY, None)}
    budgets = {ALL: document.budget}
    for route in document.routes:
        has_limit = route.budget.tokens_per_hour is not None or route.budget.usd_per_hour is not None
        if has_limit and route_name(route) not in budgets:
            budgets[route_name(route)], scopes[route_name(route)] = route.budget, (route.intent, route.tier)
    found = []
    for pot, budget in budgets.items():
        spent = spent_from(rows, pot, hour_of(now))
        lowest = min((cut for cut in in_force if _meets(cut, scopes[pot])), key=lambda cut: cut.times, default=None)
        found.append(
            PotReport(
                pot=pot,
                hour=hour_of(now),
                tokens=int(spent.tokens),
                usd=spent.usd,
                tokens_limit=budget.tokens_per_hour,
                usd_limit=budget.usd_per_hour,
                share=lowest.times if lowest else 1.0,
                share_until=lowest.until if lowest else None,
            )
        )
    return tuple(found)


def _meets(cut: Cut, scope: tuple[str, RiskTier | None]) -> bool:
    intent, tier = scope
    return (ANY in {cut.intent, intent} or cut.intent == intent) and (None in {cut.tier, tier} or cut.tier == tier)
