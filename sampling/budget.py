"""How an hourly budget is shared among workers so that together they never spend more: arithmetic without I/O.

Each worker writes down how far it may go before it goes there, and reads what the others wrote after it wrote its own.
Of any two workers the one that reads later sees the other, so the bounds in force never add up to more than the budget,
in whatever order they write and read, and also while the store that they meet in is away.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import inf

from schemas.policy import PolicyDocument
from schemas.routes import Budget
from schemas.spend import ALL, BudgetShare, route_name

HOUR = timedelta(hours=1)
ALIVE = timedelta(minutes=5)
"""A worker that wrote nothing for so long is gone: what it had not spent is shared among the others."""


def hour_of(moment: datetime) -> datetime:
    """Start of the clock hour (UTC) that a moment belongs to: budgets begin anew there."""
    return moment.replace(minute=0, second=0, microsecond=0)


def minute_of(moment: datetime) -> datetime:
    """Start of the minute."""
    return moment.replace(second=0, microsecond=0)


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens and money; as a limit, infinite where there is none."""

    tokens: float = 0.0
    usd: float = 0.0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.tokens + other.tokens, self.usd + other.usd)

    def __sub__(self, other: "Amount") -> "Amount":
        return Amount(self.tokens - other.tokens, self.usd - other.usd)

    def over(self, parts: float) -> "Amount":
        """A part of it."""
        return Amount(self.tokens / parts, self.usd / parts)

    def by(self, factor: float) -> "Amount":
        """So many times it."""
        return Amount(self.tokens * factor, self.usd * factor)

    def low(self, other: "Amount") -> "Amount":
        """The lower of each."""
        return Amount(min(self.tokens, other.tokens), min(self.usd, other.usd))

    def high(self, other: "Amount") -> "Amount":
        """The higher of each."""
        return Amount(max(self.tokens, other.tokens), max(self.usd, other.usd))

    def fits(self, limit: "Amount") -> bool:
        """Whether neither is above its limit."""
        return self.tokens <= limit.tokens and self.usd <= limit.usd


NOTHING = Amount()
NO_LIMIT = Amount(inf, inf)


def limit_of(budget: Budget) -> Amount:
    """The budget of an hour as an amount."""
    return Amount(
        inf if budget.tokens_per_hour is None else float(budget.tokens_per_hour),
        inf if budget.usd_per_hour is None else budget.usd_per_hour,
    )


def budgets_of(document: PolicyDocument) -> dict[str, Budget]:
    """The budget of each pot that has a limit; of routes of one name the first counts, as it does for answers."""
    pots = [(ALL, document.budget), *((route_name(route), route.budget) for route in document.routes)]
    found: dict[str, Budget] = {}
    for name, budget in pots:
        found.setdefault(name, budget)
    return {name: budget for name, budget in found.items() if limit_of(budget) != NO_LIMIT}


def limits_of(document: PolicyDocument) -> dict[str, Amount]:
    """The limit of each pot that has one."""
    return {name: limit_of(budget) for name, budget in budgets_of(document).items()}


@dataclass(frozen=True, slots=True)
class Pot:
    """A pot in one hour."""

    name: str
    hour: datetime
    limit: Amount


@dataclass(frozen=True, slots=True)
class Others:
    """What all other workers have spent from a pot in an hour, and what is held for them; ``workers`` counts ours."""

    spent: Amount
    held: Amount
    workers: int


def others(shares: Sequence[BudgetShare], worker: str, pot: Pot, now: datetime, least: int = 1) -> Others:
    """The others, from the shares that are written down; ``least`` workers are reckoned with at least.

    Held is, for a worker that is alive, as far as it may go, and an equal part of the limit while it has not said so in
    this hour; for one that is gone, what it spent.
    """
    alive = {one.worker for one in shares if now - one.written_at <= ALIVE} - {worker}
    here = {one.worker: one for one in shares if (one.pot, one.hour) == (pot.name, pot.hour) and one.worker != worker}
    workers = max(len(alive) + 1, least)
    spent = held = NOTHING
    for name, one in here.items():
        own = Amount(one.tokens, one.usd)
        spent += own
        held += own.high(Amount(one.may_tokens, one.may_usd)) if name in alive else own
    for _ in alive - here.keys():
        held += pot.limit.over(workers)
    return Others(spent, held, workers)


def asked(limit: Amount, spent: Amount, reserved: Amount, known: Others) -> Amount:
    """How far a worker wants to go: an equal part of what nobody has spent, within what is held for nobody else.

    One part more than there are workers, so that one that starts finds something. Never less than what it has spent
    and reserved already, which an earlier bound allowed.
    """
    left = _less(_less(limit, spent), known.spent).high(NOTHING)
    fair = spent + left.over(known.workers + 1)
    return fair.low(_less(limit, known.held)).high(spent + reserved)


def granted(limit: Amount, wanted: Amount, spent: Amount, reserved: Amount, held: Amount) -> Amount:
    """How far it may go, given what is held for the others after it has written down what it wants."""
    return wanted.low(_less(limit, held)).high(spent + reserved)


def _less(limit: Amount, taken: Amount) -> Amount:
    """What is left of a limit; where there is none, nothing is ever taken from it."""
    return Amount(
        limit.tokens if limit.tokens == inf else limit.tokens - taken.tokens,
        limit.usd if limit.usd == inf else limit.usd - taken.usd,
    )


def without_store(limit: Amount, workers: int) -> Amount:
    """How far a worker may go in an hour for which it has never read what the others do."""
    return limit.over(max(workers, 1))


def left_of(limits: Mapping[str, Amount], shares: Sequence[BudgetShare], hour: datetime) -> dict[str, Amount]:
    """What is left of each pot in an hour; never below 0."""
    found = {}
    for pot, limit in limits.items():
        spent = NOTHING
        for one in shares:
            if (one.pot, one.hour) == (pot, hour):
                spent += Amount(one.tokens, one.usd)
        found[pot] = _less(limit, spent).high(NOTHING)
    return found
