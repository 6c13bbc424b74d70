"""The budget as one process sees it: reservations against a share of each pot, written down before it is used.

Hours are clock hours in UTC. Once a minute a worker writes what it spent and how far it wants to go, reads what the
others wrote, and goes no further than what is left (``sampling.budget``). While the store is away it stays within the
share that it has; in an hour for which it never read the store, within limit / workers.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from detectors.layers import Payer, Spent
from sampling import budget
from sampling.budget import HOUR, NO_LIMIT, Amount, hour_of
from schemas.errors import RowRejected, StoreUnavailable
from schemas.labels import Layer
from schemas.policy import PolicyDocument
from schemas.spend import ALL, BudgetShare, Cost, Spend, route_name
from streams.spend.account import KEPT, Account, Purchase
from streams.store import Store

log = structlog.get_logger(__name__)
EVERY = timedelta(minutes=1)
"""How often a worker meets the others in the store."""
AGAIN = timedelta(seconds=5)
"""How soon it looks again when the last look gave it nothing, or the store did not answer."""
PER_MILLION = 1_000_000


@dataclass(slots=True)
class Spending:
    """One a process, shared by the layers that cost money. Safe from several threads.

    ``worker`` is unique to this run of the process, since a row replaces an earlier one of the same worker.
    ``workers``: how many are reckoned with at least, for as long as the store has named fewer.
    """

    store: Store
    policy: Callable[[], PolicyDocument]
    """The policy in force now."""
    worker: str
    now: Callable[[], datetime]
    workers: int = 1
    account: Account = field(default_factory=Account)
    _state: threading.Lock = field(default_factory=threading.Lock)
    _meeting: threading.Lock = field(default_factory=threading.Lock)
    _met_at: datetime | None = None
    """When the store was last asked, with or without an answer."""
    _known_workers: int = 1
    _has_bought: bool = False
    """Whether anything was reserved since then: if so, a share that is used up is asked for again at once."""
    _limits: Mapping[str, Amount] = field(default_factory=dict)
    """Those that the shares in hand were made for."""
    _rev: int = 0

    def may_spend(self, layer: Layer, payer: Payer, tokens: int, usd: float) -> bool:
        """Reserve a call, or count it as refused; asks the store first when that is due."""
        now, limits = self.now(), self.limits(payer)
        purchase = Purchase(now, tokens, Amount(tokens, usd))
        self._meet_if(now, limits)
        if self._reserve(layer, payer, purchase, limits):
            return True
        if self._meet_if(now, limits, is_hungry=True) and self._reserve(layer, payer, purchase, limits):
            return True
        with self._state:
            self.account.refuse(layer, payer, purchase)
        return False

    def settle(self, layer: Layer, payer: Payer, reserved: int, spent: Spent) -> None:
        """Replace a reservation by what was spent."""
        with self._state:
            self.account.settle(layer, payer, reserved, spent, self.now())

    def limits(self, payer: Payer | None = None) -> dict[str, Amount]:
        """The pots that have a limit now; with the payer's route, where only an earlier policy names it."""
        document = self.policy()
        limits = budget.limits_of(document)
        if payer is not None and (name := route_name(payer.route)) not in limits:
            own = budget.limit_of(payer.route.budget)
            if own != NO_LIMIT and name not in {route_name(route) for route in document.routes}:
                limits[name] = own
        return limits

    def totals(self) -> dict[Layer, Cost]:
        """What this process spent since its start, by layer."""
        with self._state:
            return dict(self.account.totals)

    def meet(self) -> None:
        """Write down what was spent and meet the others now. Never raises: what does not pass waits for the next."""
        with self._meeting:
            self._meet(self.now(), self.limits())

    def leave(self) -> None:
        """At the end of the process: give back what is not spent."""
        with self._meeting:
            self._meet(self.now(), self.limits(), is_leaving=True)

    def _reserve(self, layer: Layer, payer: Payer, purchase: Purchase, limits: Mapping[str, Amount]) -> bool:
        with self._state:
            workers = max(self.workers, self._known_workers)
            alone = {pot: budget.without_store(limit, workers) for pot, limit in limits.items()}
            is_bought = self.account.reserve(layer, payer, purchase, limits, alone)
            self._has_bought = self._has_bought or is_bought
            return is_bought

    def _meet_if(self, now: datetime, limits: Mapping[str, Amount], *, is_hungry: bool = False) -> bool:
        """Meet when the last time is so long ago, in another hour, or was about other limits; whether it was."""
        if not self._is_due(now, limits, is_hungry=is_hungry):
            return False
        with self._meeting:
            if self._is_due(now, limits, is_hungry=is_hungry):  # another thread may have met while this one waited
                self._meet(now, limits)
        return True

    def _is_due(self, now: datetime, limits: Mapping[str, Amount], *, is_hungry: bool) -> bool:
        met_at = self._met_at
        if met_at is None or hour_of(met_at) != hour_of(now) or (is_hungry and self._has_bought):
            return True
        are_known = limits.items() <= self._limits.items()
        return now - met_at >= (EVERY if are_known and not is_hungry else AGAIN)

    def _meet(self, now: datetime, limits: Mapping[str, Amount], *, is_leaving: bool = False) -> None:
        self._met_at = now
        with self._state:
            self._has_bought = False
            rows = self.account.rows(self.worker)
        try:
            self._flush(rows)
            self._share(now, limits, is_leaving=is_leaving)
        except StoreUnavailable as error:
            log.warning("budget_store_away", error=str(error), consequence="this worker stays within its share")
        except RowRejected:  # it would be refused again at each turn
            log.exception("spend_rejected", rows=len(rows))
            with self._state:
                self.account.sent(rows)
        with self._state:
            self.account.forget(hour_of(now) - KEPT)

    def _flush(self, rows: list[Spend]) -> None:
        if rows:
            self.store.spending.insert(rows, self._next())
            with self._state:
                self.account.sent(rows)

    def _share(self, now: datetime, limits: Mapping[str, Amount], *, is_leaving: bool) -> None:
        """Ask, write, read again, and go no further than what the others leave."""
        hour = hour_of(now)
        pots = [budget.Pot(name, hour, limits.get(name, NO_LIMIT)) for name in dict.fromkeys((ALL, *limits))]
        known = self._others(pots, now)
        with self._state:
            wanted = {pot.name: self._wanted(pot, known[pot.name], is_leaving=is_leaving) for pot in pots}
            rows = [self._row(pot, wanted[pot.name], now) for pot in pots]
        self.store.spending.insert_shares(rows, self._next())
        known = self._others(pots, now)
        with self._state:
            for pot in pots:
                one, held = self.account.balance(hour, pot.name), known[pot.name].held
                one.may = budget.granted(pot.limit, wanted[pot.name], one.spent, one.reserved, held)
            self._limits, self._known_workers = dict(limits), known[ALL].workers

    def _others(self, pots: Sequence[budget.Pot], now: datetime) -> dict[str, budget.Others]:
        shares = self.store.spending.shares(pots[0].hour - HOUR)
        return {pot.name: budget.others(shares, self.worker, pot, now, self.workers) for pot in pots}

    def _wanted(self, pot: budget.Pot, known: budget.Others, *, is_leaving: bool) -> Amount:
        one = self.account.balance(pot.hour, pot.name)
        used = one.spent + one.reserved
        wanted = used if is_leaving else budget.asked(pot.limit, one.spent, one.reserved, known)
        # Until the others are read again: what they hold for this worker must never be less than what is in force here.
        one.may = (used if one.may is None else one.may).low(wanted)
        return wanted

    def _row(self, pot: budget.Pot, wanted: Amount, now: datetime) -> BudgetShare:
        one = self.account.balance(pot.hour, pot.name)
        return BudgetShare(
            worker=self.worker,
            hour=pot.hour,
            pot=pot.name,
            tokens=one.spent.tokens,
            usd=one.spent.usd,
            may_tokens=wanted.tokens if wanted.tokens != NO_LIMIT.tokens else one.spent.tokens,
            may_usd=wanted.usd if wanted.usd != NO_LIMIT.usd else one.spent.usd,
            written_at=now,
        )

    def _next(self) -> int:
        self._rev += 1
        return self._rev


@dataclass(frozen=True, slots=True)
class LayerPurse:
    """The ``Purse`` of one layer; a call is reserved at ``usd_per_million`` tokens, the dearer of in and out."""

    spending: Spending
    layer: Layer
    usd_per_million: float = 0.0

    def may_spend(self, payer: Payer, tokens: int) -> bool:
        """Whether a call of about ``tokens`` fits what is left of this hour; it is then reserved."""
        return self.spending.may_spend(self.layer, payer, tokens, tokens * self.usd_per_million / PER_MILLION)

    def settle(self, payer: Payer, reserved: int, spent: Spent) -> None:
        """Replace a reservation of ``reserved`` tokens by what was spent in truth."""
        self.spending.settle(self.layer, payer, reserved, spent)


class OpenPurse:
    """Pays for everything and keeps no books: for commands that a person starts beside the flow."""

    def may_spend(self, payer: Payer, tokens: int) -> bool:
        """Always."""
        del payer, tokens
        return True

    def settle(self, payer: Payer, reserved: int, spent: Spent) -> None:
        """Nothing to keep."""
