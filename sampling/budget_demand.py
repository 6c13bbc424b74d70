"""What judges are asked for, measured at the policy's own π, and what will be spent when it goes on like that."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import sqrt

from sampling.budget import NOTHING, Amount, hour_of
from sampling.effective import ANY
from schemas.labels import RiskTier
from schemas.policy import OverlayReason, PolicyRecord
from schemas.spend import ALL, Cost, SpendSum
from schemas.tally import BUCKET, bucket_start

RECENT, HOURLY = 4 * BUCKET, 12 * BUCKET
"""Over how many whole buckets demand is measured: for what is left of an hour, and for the next one."""
LEAST = 2 * BUCKET
"""Less than so much says nothing."""
SURE = 1.5
"""Standard deviations by which a demand is reckoned lower when it must be certain."""
Cell = tuple[str, RiskTier]
"""Intent and tier."""


@dataclass(frozen=True, slots=True)
class Cut:
    """π times a share, in [starts, until), for an intent and tier (None: all)."""

    starts: datetime
    until: datetime
    times: float
    intent: str = ANY
    tier: RiskTier | None = None

    def covers(self, cell: Cell) -> bool:
        """Whether the traces of a cell are drawn less."""
        return self.intent in {ANY, cell[0]} and self.tier in {None, cell[1]}


@dataclass(frozen=True, slots=True)
class Demand:
    """What each cell would spend a minute at the policy's own π, refused calls counted in; from so many ``calls``."""

    cells: Mapping[Cell, Amount]
    calls: int

    def surely(self) -> "Demand":
        """What is asked for at least: calls come one by one, so their number varies as its own root."""
        factor = max(1 - SURE / sqrt(self.calls), 0.0) if self.calls else 0.0
        return replace(self, cells={cell: amount.by(factor) for cell, amount in self.cells.items()})


@dataclass(frozen=True, slots=True)
class Situation:
    """A pot with a limit: what was spent from it this hour, and what is asked for."""

    limit: Amount
    lowest: float
    spent: Amount
    demand: Demand


def cuts_of(records: Iterable[PolicyRecord]) -> list[Cut]:
    """The cuts in a policy log."""
    return [
        Cut(record.effective_from, one.until, one.times, one.intent, one.tier)
        for record in records
        if (one := record.overlay) is not None
        and one.reason is OverlayReason.BUDGET
        and one.times is not None
        and record.effective_from is not None
    ]


def times_at(cuts: Iterable[Cut], cell: Cell, ts: datetime) -> float:
    """The share of π in force for a cell: the lowest of all."""
    return min((one.times for one in cuts if one.starts <= ts < one.until and one.covers(cell)), default=1.0)


def spent_from(rows: Iterable[SpendSum], pot: str, hour: datetime) -> Amount:
    """What was spent from a pot in an hour."""
    total = NOTHING
    for row in rows:
        if hour_of(row.start) == hour and pot in {ALL, row.route}:
            total += Amount(row.cost.tokens, row.cost.usd)
    return total


def demand_of(
    rows: Sequence[SpendSum], pot: str, cuts: Sequence[Cut], now: datetime, window: timedelta = RECENT
) -> Demand | None:
    """What is asked for from a pot, over the last whole buckets of ``window``, or since the first row of all.

    ``rows`` are sums by bucket over an hour more than that. None where these are too few. A minute is left for rows to
    arrive.
    """
    until = bucket_start(now - timedelta(minutes=1))
    first = min((row.start for row in rows), default=until)
    since = max(first, until - window)
    if until - since < LEAST:
        return None
    minutes = (until - since) / timedelta(minutes=1)
    found: dict[Cell, Amount] = {}
    refused_each = _refused_each([row.cost for row in rows if pot in {ALL, row.route}])
    calls = 0
    for row in rows:
        cost = row.cost
        if since <= row.start < until and pot in {ALL, row.route} and cost.calls + cost.refused:
            cell = (row.intent, row.tier)
            wanted = Amount(cost.tokens, cost.usd) + refused_each.by(cost.refused)
            found[cell] = found.get(cell, NOTHING) + wanted.over(minutes * times_at(cuts, cell, row.start))
            calls += cost.calls + cost.refused
    return Demand(found, calls)


def _refused_each(costs: Sequence[Cost]) -> Amount:
    """What a refused call would have cost: as much as one that was made, since a reservation is more than is used."""
    total = Cost()
    for cost in costs:
        total = total.plus(cost)
    reserved = Amount(total.refused_tokens, total.refused_usd).over(max(total.refused, 1))
    return Amount(total.tokens, total.usd).over(total.calls).low(reserved) if total.calls else reserved


def expected(known: Situation, cuts: Sequence[Cut], now: datetime, end: datetime) -> Amount:
    """What will have been spent at ``end``, when demand goes on as it is."""
    total = known.spent
    start = now
    while start < end:
        stop = min(bucket_start(start) + BUCKET, end)
        minutes = (stop - start) / timedelta(minutes=1)
        for cell, amount in known.demand.cells.items():
            total += amount.by(minutes * times_at(cuts, cell, start))
        start = stop
    return total
