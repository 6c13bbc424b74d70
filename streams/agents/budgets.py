"""The alert leader's look at money: what is left of each budget, and π lowered in time when one would run out."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import structlog

from sampling.budget import HOUR, Amount, budgets_of, hour_of, limit_of
from sampling.budget_cut import cut_next, cut_now, scopes_of
from sampling.budget_demand import HOURLY, Cut, Situation, cuts_of, demand_of, expected, spent_from, times_at
from schemas.errors import ConfigError
from schemas.policy import Overlay, OverlayReason, PolicyDocument
from schemas.routes import Budget
from schemas.spend import SpendSum
from schemas.tally import BUCKET
from streams.agents.policies import KnownPolicies, PolicyPublisher
from streams.store import Store

log = structlog.get_logger(__name__)
EVERY = timedelta(minutes=1)
"""As often workers write what they spent."""
AUTHOR = "budget"
"""Whom the log names as the author of what is published here."""


@dataclass(frozen=True, slots=True)
class PotState:
    """A pot with a limit in the hour that is running; ``expected`` at its end, None while nothing can be said."""

    limit: Amount
    spent: Amount
    expected: Amount | None = None
    share: float = 1.0
    """The lowest share of π that a budget leaves to an answer that pays from it."""


@dataclass(slots=True)
class BudgetWatch:
    """Looks once a minute; safe to run twice at once, since of two cuts the lower one holds."""

    store: Store
    policies: KnownPolicies
    publisher: PolicyPublisher
    now: Callable[[], datetime]
    pots: Mapping[str, PotState] = field(default_factory=dict)
    """As of the last look, for metrics."""
    _looked_at: datetime | None = None

    async def look(self) -> None:
        """Lower π where a budget would run out. Raises Retryable when store or broker are away."""
        now = self.now()
        if self._looked_at is not None and EVERY > now - self._looked_at >= timedelta():
            return
        document = self.policies.so_far(now).document
        budgets = budgets_of(document)
        since = hour_of(now) - HOUR
        rows = await asyncio.to_thread(self.store.spending.sums, since, now + EVERY, step=BUCKET) if budgets else []
        seen = _Seen(document, rows, now)
        self.pots = {pot: await self._look_at(pot, budget, seen) for pot, budget in budgets.items()}
        self._looked_at = now

    async def _look_at(self, pot: str, budget: Budget, seen: "_Seen") -> PotState:
        rows, now, limit = seen.rows, seen.now, limit_of(budget)
        cuts = cuts_of(self.policies.log.records.values())
        spent = spent_from(rows, pot, hour_of(now))
        recent, hourly = demand_of(rows, pot, cuts, now), demand_of(rows, pot, cuts, now, HOURLY)
        if recent is None or hourly is None:
            return PotState(limit, spent)
        known = Situation(limit, budget.lowest_share, spent, recent)
        # A budget of nothing is a decision that nothing is judged; fewer draws would not help.
        if limit.tokens > 0 and limit.usd > 0:
            scopes, earliest = scopes_of(pot, seen.document, recent.cells), self.policies.log.earliest_start(now)
            found = [
                *cut_now(known, cuts, scopes, now, earliest),
                *cut_next(replace(known, demand=hourly), cuts, scopes, now, earliest),
            ]
            for cut in found:
                await self._publish(pot, cut, now)
            cuts += found
        share = min((times_at(cuts, cell, now) for cell in recent.cells), default=1.0)
        return PotState(limit, spent, expected(known, cuts, now, hour_of(now) + HOUR), share)

    async def _publish(self, pot: str, cut: Cut, now: datetime) -> None:
        overlay = Overlay(
            reason=OverlayReason.BUDGET, intent=cut.intent, tier=cut.tier, until=cut.until, times=cut.times
        )
        try:
            record = await self.publisher.overlay(overlay, cut.starts, AUTHOR, now)
        except ConfigError as error:  # the clock went back, or another leader was faster
            log.warning("budget_overlay_refused", pot=pot, error=str(error))
            return
        log.info(
            "budget_lowers_probability",
            pot=pot,
            policy_id=record.policy_id,
            times=cut.times,
            starts=cut.starts.isoformat(),
            until=cut.until.isoformat(),
        )


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one look looks at."""

    document: PolicyDocument
    rows: Sequence[SpendSum]
    now: datetime
