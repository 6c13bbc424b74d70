"""When a budget would run out, by how much π is lowered: pure decisions from what was spent and what was asked for.

Cost grows with the number of drawn answers, and that with π; so the share of π that keeps to a budget is found from the
demand at the policy's own π. Inside an hour π only falls, and only when the hour's budget would run out; the next
hour's share is settled shortly before it begins, so that steady demand gives one share for all hours.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from sampling.budget import HOUR, NOTHING, hour_of
from sampling.budget_demand import Cell, Cut, Situation, expected
from sampling.effective import ANY
from schemas.labels import RiskTier
from schemas.policy import PolicyDocument
from schemas.spend import ALL, route_name
from schemas.tally import BUCKET

AIM = 0.95
"""Share of the budget that is planned for."""
WORTH = 0.9
"""A share is lowered only by a tenth or more, so that noise publishes nothing."""
SAME = (0.8, 1.1)
"""A share that is so near to the one before, by what it should be, stays the same."""
SETTLED = 3 * BUCKET
"""For so long a share that took effect is watched before it is lowered again."""
LATEST = 3 * BUCKET
"""A share that would hold for less than this is not worth an entry."""
PLANNED = 3 * BUCKET
"""So long before its beginning the share of an hour is settled."""
_STEPS = 12
"""Halvings of the interval in which a share is looked for."""
Scope = tuple[str, RiskTier | None]
"""Intent (``*``: all) and tier (None: all) of an overlay."""


def scopes_of(pot: str, document: PolicyDocument, demand: Iterable[Cell]) -> list[Scope]:
    """Where π is lowered for a pot: a route's own answers; for the pot of all, the tiers in which something is paid."""
    if pot != ALL:
        return [(route.intent, route.tier) for route in document.routes if route_name(route) == pot][:1]
    tiers = {tier for _, tier in demand}
    return [(ANY, None)] if len(tiers) == len(RiskTier) else [(ANY, tier) for tier in RiskTier if tier in tiers]


def cut_now(
    known: Situation, cuts: Sequence[Cut], scopes: Sequence[Scope], now: datetime, earliest: datetime
) -> list[Cut]:
    """The cuts that keep this hour to its budget, from ``earliest`` (the next start that the log allows) on.

    None where the budget may do, where they would change little, or where the last one has only begun.
    """
    hour = hour_of(now)
    end = hour + HOUR
    own = _of(scopes, cuts)
    newest = max((one.starts for one in own if hour < one.starts < end), default=None)
    is_watched = newest is not None and now < newest + SETTLED
    surely = replace(known, demand=known.demand.surely())
    if end - earliest < LATEST or is_watched or expected(surely, cuts, now, end).fits(known.limit):
        return []
    share = _share(known, cuts, scopes, (now, earliest, end))
    return _cuts(scopes, share, earliest, end) if share < _lowest(own, earliest) * WORTH else []


def cut_next(
    known: Situation, cuts: Sequence[Cut], scopes: Sequence[Scope], now: datetime, earliest: datetime
) -> list[Cut]:
    """The cuts for the whole next hour, once it is near; none where none is needed, or they are there already."""
    starts = hour_of(now) + HOUR
    own = _of(scopes, cuts)
    is_there = any(one.starts == starts for one in own)
    if is_there or earliest > starts or now < starts - PLANNED:
        return []
    fresh = replace(known, spent=NOTHING)
    share = _share(fresh, cuts, scopes, (starts, starts, starts + HOUR))
    before = _lowest(own, hour_of(now))
    will_do = expected(fresh, cuts, starts, starts + HOUR).fits(known.limit)
    if share >= 1 or (before >= 1 and will_do):
        return []
    if before < 1 and SAME[0] <= before / share <= SAME[1]:
        share = max(before, known.lowest)
    return _cuts(scopes, share, starts, starts + HOUR)


def _cuts(scopes: Iterable[Scope], share: float, starts: datetime, until: datetime) -> list[Cut]:
    return [Cut(starts, until, share, intent, tier) for intent, tier in scopes]


def _of(scopes: Sequence[Scope], cuts: Iterable[Cut]) -> list[Cut]:
    return [one for one in cuts if (one.intent, one.tier) in scopes]


def _lowest(cuts: Iterable[Cut], ts: datetime) -> float:
    return min((one.times for one in cuts if one.starts <= ts < one.until), default=1.0)


def _share(
    known: Situation, cuts: Sequence[Cut], scopes: Sequence[Scope], times: tuple[datetime, datetime, datetime]
) -> float:
    """The largest share, to a hundredth, with which what is expected from now to the end keeps to the aim."""
    now, starts, end = times
    aim = known.limit.by(AIM)
    low, high = known.lowest, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if expected(known, [*cuts, *_cuts(scopes, middle, starts, end)], now, end).fits(aim):
            low = middle
        else:
            high = middle
    return max(known.lowest, int(low * 100) / 100 if high < 1 else 1.0)
