"""What one worker has reserved and spent: plain bookkeeping, without lock, clock or store."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from detectors.layers import Payer, Spent
from sampling.budget import NOTHING, Amount, hour_of, minute_of
from schemas.labels import Layer, RiskTier
from schemas.spend import ALL, Cost, Spend, route_name

KEPT = timedelta(hours=2)
"""A reservation that nobody settled for so long is forgotten; its hour is over."""
Key = tuple[datetime, str, RiskTier, Layer, str]
"""Minute, intent, tier, layer, route."""


@dataclass(slots=True)
class Purchase:
    """One reservation; the minute in which it was made is charged, whenever it is settled."""

    at: datetime
    tokens: int
    amount: Amount

    @property
    def minute(self) -> datetime:
        """Start of its minute."""
        return minute_of(self.at)


@dataclass(slots=True)
class Balance:
    """One pot in one hour. ``may`` is how far this worker may go; None while it has not been told."""

    spent: Amount = NOTHING
    reserved: Amount = NOTHING
    may: Amount | None = None


@dataclass(slots=True)
class Account:
    """Pots by hour, open reservations, and rows for the store."""

    balances: dict[tuple[datetime, str], Balance] = field(default_factory=dict)
    costs: dict[Key, Cost] = field(default_factory=dict)
    unsent: set[Key] = field(default_factory=set)
    totals: dict[Layer, Cost] = field(default_factory=dict)
    """Since the start of the process."""
    _open: dict[tuple[Layer, str], list[Purchase]] = field(default_factory=dict)

    def balance(self, hour: datetime, pot: str) -> Balance:
        """A pot's, made at the first look."""
        return self.balances.setdefault((hour, pot), Balance())

    def reserve(
        self, layer: Layer, payer: Payer, purchase: Purchase, limits: Mapping[str, Amount], alone: Mapping[str, Amount]
    ) -> bool:
        """Take ``purchase`` out of every pot that pays for it, or out of none.

        ``limits`` are those of the pots that have one; ``alone`` holds instead where this worker has no bound yet.
        """
        hour = hour_of(purchase.minute)
        paying = {pot: self.balance(hour, pot) for pot in pots_of(payer)}
        for pot, balance in paying.items():
            if pot not in limits:
                continue
            bound = alone[pot] if balance.may is None else balance.may.low(limits[pot])
            if not (balance.spent + balance.reserved + purchase.amount).fits(bound):
                return False
        for balance in paying.values():
            balance.reserved += purchase.amount
        self._open.setdefault((layer, payer.trace_id), []).append(purchase)
        return True

    def refuse(self, layer: Layer, payer: Payer, purchase: Purchase) -> None:
        """Note a call that was not made."""
        asked = Cost(refused=1, refused_tokens=purchase.tokens, refused_usd=purchase.amount.usd)
        self._book(layer, payer, purchase.minute, asked)

    def settle(self, layer: Layer, payer: Payer, reserved: int, spent: Spent, now: datetime) -> None:
        """Replace a reservation of that many tokens by what was spent; without one, it is charged to this minute."""
        purchase = self._taken(layer, payer.trace_id, reserved)
        minute = purchase.minute if purchase else minute_of(now)
        paid = Amount(max(spent.tokens_in + spent.tokens_out, 0), max(spent.cost_usd, 0.0))
        for pot in pots_of(payer):
            balance = self.balance(hour_of(minute), pot)
            balance.spent += paid
            if purchase:
                balance.reserved = (balance.reserved - purchase.amount).high(NOTHING)
        waited = max((now - purchase.at).total_seconds() * 1000, 0.0) if purchase else 0.0
        self._book(layer, payer, minute, _cost(spent, spent.took_ms or waited))

    def rows(self, worker: str) -> list[Spend]:
        """What the store does not have yet."""
        return [
            Spend(worker=worker, minute=key[0], intent=key[1], tier=key[2], layer=key[3], route=key[4], cost=cost)
            for key, cost in self.costs.items()
            if key in self.unsent
        ]

    def sent(self, rows: Iterable[Spend]) -> None:
        """The store has these; what was added to one meanwhile is sent again."""
        for row in rows:
            key = (row.minute, row.intent, row.tier, row.layer, row.route)
            if self.costs.get(key) == row.cost:
                self.unsent.discard(key)

    def forget(self, before: datetime) -> None:
        """Let go of hours that are over, of their rows in the store, and of reservations that nobody settled."""
        self.balances = {key: one for key, one in self.balances.items() if key[0] >= before}
        self.costs = {key: one for key, one in self.costs.items() if key[0] >= before or key in self.unsent}
        kept = {name: [one for one in every if one.minute >= before] for name, every in self._open.items()}
        self._open = {name: every for name, every in kept.items() if every}

    def _book(self, layer: Layer, payer: Payer, minute: datetime, cost: Cost) -> None:
        key = (minute, payer.intent, payer.tier, layer, route_name(payer.route))
        self.costs[key] = self.costs.get(key, Cost()).plus(cost)
        self.totals[layer] = self.totals.get(layer, Cost()).plus(cost)
        self.unsent.add(key)

    def _taken(self, layer: Layer, trace_id: str, reserved: int) -> Purchase | None:
        every = self._open.get((layer, trace_id), [])
        found = next((one for one in every if one.tokens == reserved), None)
        if found is not None:
            every.remove(found)
            if not every:
                del self._open[layer, trace_id]
        return found


def pots_of(payer: Payer) -> tuple[str, str]:
    """What pays for an answer: the pot of all, and its route's."""
    return ALL, route_name(payer.route)


def _cost(spent: Spent, took_ms: float) -> Cost:
    return Cost(
        calls=max(spent.calls, 0),
        cached=max(spent.cached, 0),
        tokens_in=max(spent.tokens_in, 0),
        tokens_out=max(spent.tokens_out, 0),
        usd=max(spent.cost_usd, 0.0),
        took_ms=max(took_ms, 0.0),
        slowest_ms=max(took_ms, 0.0),
    )
