"""What judges would cost under a policy, from the last day: traffic, how claims scored, tokens and prices of calls.

A policy is not simulated: claims are taken to score as they did, and calls to cost what they cost.
"""

from collections.abc import Callable, Iterable, Sequence

from sampling.budget import budgets_of
from sampling.effective import compose
from sampling.policy_diff import CellTraffic
from schemas.base import Record
from schemas.labels import Layer, RiskTier
from schemas.policy import REST, PolicyDocument
from schemas.routes import JudgeRule, Route
from schemas.spend import ALL, ClaimSupports, Cost, SpendSum, route_name

ASSUMED_TOKENS, ASSUMED_REPLY = 1_500, 100
"""A call's, while none was made: a prompt with rules, examples and evidence, and, of it, a short reply."""
_HOURS = 24
RouteOf = Callable[[str, RiskTier], Route]
"""The route of an intent and tier."""


class Basis(Record):
    """The last day. ``busiest`` is the traffic of its busiest hour over that of the mean one."""

    traffic: tuple[CellTraffic, ...] = ()
    busiest: float = 1.0
    supports: tuple[ClaimSupports, ...] = ()
    spent: tuple[SpendSum, ...] = ()


class Forecast(Record):
    """Expected an hour, in the mean and in the busiest one; ``usd`` None where no price is known.

    ``over`` says which budgets the busiest hour exceeds, and to which share of π they would lower it. ``notes`` say
    what was assumed.
    """

    calls: float = 0.0
    tokens: float = 0.0
    usd: float | None = None
    busiest_tokens: float = 0.0
    busiest_usd: float | None = None
    over: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def is_paid(document: PolicyDocument) -> bool:
    """Whether any route asks an endpoint."""
    return any(route.judge is not None or route.consistency is not None for route in document.routes)


def price_of(usd_per_million_in: float, usd_per_million_out: float) -> float | None:
    """Dollars a token of an assumed call; None without prices."""
    reply = ASSUMED_REPLY / ASSUMED_TOKENS
    return (usd_per_million_in * (1 - reply) + usd_per_million_out * reply) / 1e6 or None


def forecast(
    document: PolicyDocument,
    route_of: RouteOf,
    basis: Basis,
    price: float | None = None,
) -> Forecast:
    """What ``document`` would cost at its own π, no overlay on it; ``price`` a token counts where none was paid yet."""
    judged, sampled = _costs(basis, Layer.L3), _costs(basis, Layer.L4)
    tokens_each = judged.tokens / judged.calls if judged.calls else ASSUMED_TOKENS
    paid = judged.plus(sampled)
    price = paid.usd / paid.tokens if paid.usd and paid.tokens else price
    policy = compose("new", document)
    known = {REST, *(rule.name for rule in document.sampling.strata)}
    calls, tokens = 0.0, 0.0
    by_pot: dict[str, float] = {}
    for cell in basis.traffic:
        route = route_of(cell.intent, cell.tier)
        stratum = cell.stratum if cell.stratum in known else REST
        answers = cell.traces_per_day / _HOURS * policy.probability(cell.intent, cell.tier, stratum)
        made = answers * _calls_each(route.judge, cell, basis.supports) * _missed(judged)
        taken = made * tokens_each + answers * _sampled_each(route, cell, basis)
        calls, tokens = calls + made, tokens + taken
        by_pot[route_name(route)] = by_pot.get(route_name(route), 0.0) + taken
    return Forecast(
        calls=calls,
        tokens=tokens,
        usd=None if price is None else tokens * price,
        busiest_tokens=tokens * basis.busiest,
        busiest_usd=None if price is None else tokens * basis.busiest * price,
        over=tuple(_over(document, {**by_pot, ALL: tokens}, basis.busiest, price)),
        notes=tuple(_notes(basis, judged, price)),
    )


def _costs(basis: Basis, layer: Layer) -> Cost:
    total = Cost()
    for row in basis.spent:
        if row.layer is layer:
            total = total.plus(row.cost)
    return total


def _calls_each(rule: JudgeRule | None, cell: CellTraffic, supports: Sequence[ClaimSupports]) -> float:
    """Calls for a drawn answer of the stratum; what the stratum does not tell, its cell does, then all answers."""
    if rule is None:
        return 0.0
    here = [one for one in supports if (one.intent, one.tier) == (cell.intent, cell.tier)]
    for among in ([one for one in here if one.stratum == cell.stratum], here, supports):
        answers = sum(one.answers for one in among)
        if answers:
            claims = sum(one.within(rule.band_low, rule.band_high) + one.failed for one in among) / answers
            return min(claims, rule.max_claims) * rule.repeats
    return 0.0


def _missed(judged: Cost) -> float:
    """Share of the claims that the cache does not answer."""
    return judged.calls / (judged.calls + judged.cached) if judged.calls else 1.0


def _sampled_each(route: Route, cell: CellTraffic, basis: Basis) -> float:
    """Tokens of resampling for a drawn answer of the cell, as in the last day; 0 where there was none."""
    if route.consistency is None:
        return 0.0
    key: tuple[str, RiskTier] = (cell.intent, cell.tier)
    answers = sum(one.answers for one in basis.supports if (one.intent, one.tier) == key)
    spent = sum(one.cost.tokens for one in basis.spent if one.layer is Layer.L4 and (one.intent, one.tier) == key)
    return spent / answers if answers else 0.0


def _over(document: PolicyDocument, tokens: dict[str, float], busiest: float, price: float | None) -> Iterable[str]:
    for pot, budget in budgets_of(document).items():
        asked = tokens.get(pot, 0.0) * busiest
        limits: list[tuple[str, float | None, float]] = [("tokens", budget.tokens_per_hour, asked)]
        if price is not None:
            limits.append(("USD", budget.usd_per_hour, asked * price))
        for unit, limit, wanted in limits:
            if limit is not None and wanted > limit:
                share = max(limit / wanted, budget.lowest_share)
                fate = f"π would be lowered to about × {share:.2f}" if share < 1 else "claims would be error:budget"
                yield f"{pot}: {wanted:,.2f} {unit} in the busiest hour, budget {limit:,.2f}; {fate}"


def _notes(basis: Basis, judged: Cost, price: float | None) -> Iterable[str]:
    if not basis.traffic:
        yield "no traffic in the last day"
    if not judged.calls:
        yield f"no judge was asked in the last day: {ASSUMED_TOKENS:,} tokens a call are assumed"
    if price is None:
        yield "no price is known: set usd_per_million_in and usd_per_million_out of the judge"
    if not basis.supports:
        yield "no scores of drawn answers in the last day"
