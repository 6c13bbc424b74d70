"""Lowering π to keep to a budget: single decisions, and whole days over the real policy log."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise
from math import inf, sin, tau

import pytest

from sampling.budget import HOUR, NOTHING, Amount, hour_of
from sampling.budget_cut import cut_next, cut_now, scopes_of
from sampling.budget_demand import HOURLY, Cut, Demand, Situation, cuts_of, demand_of, spent_from
from sampling.draw import u_of
from sampling.policy_file import overlay_id_of
from sampling.policy_log import PolicyLog, heartbeat
from schemas.labels import Layer, RiskTier
from schemas.policy import Overlay, OverlayReason, PolicyDocument, PolicyRecord, Sampling
from schemas.routes import Budget, JudgeRule, Route
from schemas.spend import ALL, Cost, SpendSum
from schemas.tally import bucket_start
from tests.builders import NOW

MINUTE = timedelta(minutes=1)
CELL = ("refunds", RiskTier.HIGH)
EVERYWHERE = [("*", None)]
LIMIT = 60_000
DOCUMENT = PolicyDocument(
    name="p",
    sampling=Sampling(default_probability=0.5),
    routes=(Route(judge=JudgeRule()),),
    budget=Budget(tokens_per_hour=LIMIT),
)


def situation(spent: float, per_minute: float, limit: float = LIMIT) -> Situation:
    """A pot of tokens, with one cell that pays from it."""
    return Situation(Amount(limit, inf), 0.1, Amount(spent), Demand({CELL: Amount(per_minute)}, 10_000))


def at(minute: float) -> datetime:
    """A minute of the hour."""
    return NOW + minute * MINUTE


def test_nothing_is_lowered_while_the_budget_will_do() -> None:
    """Half an hour has cost half of it."""
    assert [] == cut_now(situation(30_000, 1_000), [], EVERYWHERE, at(30), at(40))


def test_share_makes_up_for_what_was_spent_too_fast() -> None:
    """40,000 by minute 20, 20,000 more by 30; nothing is left for the rest, so it is the lowest share allowed."""
    (cut,) = cut_now(situation(40_000, 2_000), [], EVERYWHERE, at(20), at(30))
    assert (at(30), at(60), 0.1) == (cut.starts, cut.until, cut.times)
    (cut,) = cut_now(situation(20_000, 1_200), [], EVERYWHERE, at(10), at(20))
    assert cut.times == pytest.approx((0.95 * LIMIT - 32_000) / 48_000, abs=0.02)


def test_last_cut_is_watched_before_another_one() -> None:
    """And then the hour may be lowered further."""
    first = Cut(at(20), at(60), 0.6)
    known = situation(50_000, 2_000)
    assert [] == cut_now(known, [first], EVERYWHERE, at(15), at(25))
    assert [] == cut_now(known, [first], EVERYWHERE, at(34), at(45))
    assert [0.1] == [cut.times for cut in cut_now(known, [first], EVERYWHERE, at(35), at(45))]


def test_change_that_is_not_worth_an_entry_is_left() -> None:
    """Two per cent too much."""
    assert [] == cut_now(situation(10_000, 1_020), [Cut(at(0), at(60), 0.98)], EVERYWHERE, at(10), at(20))


def test_end_of_the_hour_is_too_late_to_lower_anything_in_it() -> None:
    """The next bucket that the log allows lies in the next hour."""
    assert [] == cut_now(situation(59_000, 2_000), [], EVERYWHERE, at(51), at(65))


def test_next_hour_gets_its_share_once_and_shortly_before() -> None:
    """For all of it."""
    known = situation(57_000, 2_000)
    assert [] == cut_next(known, [], EVERYWHERE, at(40), at(50))
    (cut,) = cut_next(known, [], EVERYWHERE, at(46), at(60))
    assert (at(60), at(120)) == (cut.starts, cut.until)
    assert cut.times == pytest.approx(0.475, abs=0.011)
    assert [] == cut_next(known, [cut], EVERYWHERE, at(47), at(60))
    assert [] == cut_next(known, [], EVERYWHERE, at(51), at(65))


def test_share_stays_the_same_when_demand_wobbles_and_ends_when_it_falls() -> None:
    """So that π does not change from hour to hour for nothing."""
    held = [Cut(at(0), at(60), 0.475)]
    assert [0.475] == [cut.times for cut in cut_next(situation(0, 1_900), held, EVERYWHERE, at(46), at(60))]
    assert [0.37] == [cut.times for cut in cut_next(situation(0, 2_500), held, EVERYWHERE, at(46), at(60))]
    assert [] == cut_next(situation(0, 900), held, EVERYWHERE, at(46), at(60))


def test_share_never_falls_below_the_lowest() -> None:
    """However much is asked for."""
    assert [0.1] == [cut.times for cut in cut_next(situation(0, 10**6), [], EVERYWHERE, at(46), at(60))]


def test_money_and_tokens_both_hold() -> None:
    """The scarcer one decides."""
    known = Situation(Amount(10**9, 6.0), 0.1, NOTHING, Demand({CELL: Amount(10.0, 0.2)}, 100))
    assert [0.47] == [cut.times for cut in cut_next(known, [], EVERYWHERE, at(46), at(60))]


def test_only_tiers_that_pay_are_lowered() -> None:
    """The rest costs nothing; a route's pot lowers its own answers alone."""
    own = Route(intent="loans", tier=RiskTier.LOW, budget=Budget(tokens_per_hour=5))
    document = DOCUMENT.model_copy(update={"routes": (own, Route())})
    assert [("*", RiskTier.HIGH)] == scopes_of(ALL, document, [CELL])
    assert [("*", None)] == scopes_of(ALL, document, [("x", tier) for tier in RiskTier])
    assert [("loans", RiskTier.LOW)] == scopes_of("loans/low", document, [CELL])
    assert [] == scopes_of("gone/low", document, [CELL])


def test_demand_is_measured_at_the_policys_own_probability_with_refused_calls() -> None:
    """What was drawn less, or was not paid for, would be asked for again; a refused call as dear as one made."""

    def row(minute: int, calls: int, refused: int = 0) -> SpendSum:
        cost = Cost(calls=calls, tokens_in=100 * calls, refused=refused, refused_tokens=250 * refused)
        return SpendSum(start=at(minute), intent="refunds", tier=CELL[1], layer=Layer.L3, route="*/*", cost=cost)

    rows = [row(-60, 1), row(0, 10), row(5, 10, 10), row(10, 5, 5), row(15, 5), row(20, 90)]
    cuts = [Cut(at(10), at(60), 0.5, "*", RiskTier.HIGH)]
    found = demand_of(rows, ALL, cuts, at(24))
    assert found is not None
    assert found.cells[CELL].tokens == pytest.approx((1_000 + 2_000 + 1_000 / 0.5 + 500 / 0.5) / 20)
    assert None is demand_of(rows[3:], ALL, cuts, at(17))
    assert Demand({}, 0) == demand_of(rows, "loans/*", cuts, at(24))
    assert 12_000 == spent_from(rows, ALL, NOW).tokens


@dataclass
class Day:
    """A product whose answers ask a judge, day and night, under one policy log."""

    traffic: Callable[[datetime], float]
    is_watched: bool = True
    log: PolicyLog = field(default_factory=PolicyLog)
    spent: dict[tuple[datetime, RiskTier], Cost] = field(default_factory=lambda: defaultdict(Cost))
    draws: list[tuple[datetime, float, float, str]] = field(default_factory=list)
    """Event time, u, π and policy id of each drawn trace, as its row has them."""
    hourly: Counter[datetime] = field(default_factory=Counter)
    """Tokens spent."""
    traces: int = 0
    judged: int = 0
    unjudged: int = 0

    def run(self, hours: int) -> None:
        """From noon on, a minute at a time: traces are drawn, claims judged while money is there, the leader looks."""
        rng = random.Random(7)
        self.log = self.log.add(PolicyRecord(policy_id="p1", published_at=NOW - HOUR, document=DOCUMENT))
        for minute in range(60 * hours):
            now = NOW + minute * MINUTE
            self.log = self.log.add(heartbeat(now))
            for number in range(round(self.traffic(now) + rng.uniform(-5, 5))):
                self._trace(f"{minute}-{number}", now, rng)
            if self.is_watched:
                self._look(now + MINUTE)

    def _trace(self, trace_id: str, ts: datetime, rng: random.Random) -> None:
        self.traces += 1
        policy = self.log.at(ts)
        u, probability = u_of(trace_id, b"salt" * 8), policy.probability("refunds", RiskTier.HIGH, "rest")
        if u >= probability:
            return
        self.draws.append((ts, u, probability, policy.policy_id))
        if rng.random() < 0.4:  # in the band
            tokens = rng.randint(300, 900)
            key, hour = (bucket_start(ts), RiskTier.HIGH), hour_of(ts)
            is_paid = self.hourly[hour] + tokens <= LIMIT
            self.hourly[hour] += tokens if is_paid else 0
            cost = Cost(calls=1, tokens_in=tokens) if is_paid else Cost(refused=1, refused_tokens=tokens)
            self.spent[key] = self.spent[key].plus(cost)
            self.judged += is_paid
            self.unjudged += not is_paid

    def _look(self, now: datetime) -> None:
        rows = [
            SpendSum(start=start, intent="refunds", tier=tier, layer=Layer.L3, route="*/*", cost=cost)
            for (start, tier), cost in sorted(self.spent.items())
            if start >= hour_of(now) - HOUR
        ]
        cuts = cuts_of(self.log.records.values())
        recent, hourly = demand_of(rows, ALL, cuts, now), demand_of(rows, ALL, cuts, now, HOURLY)
        if recent is None or hourly is None:
            return
        known = Situation(Amount(LIMIT, inf), 0.1, spent_from(rows, ALL, hour_of(now)), recent)
        scopes, earliest = scopes_of(ALL, DOCUMENT, recent.cells), self.log.earliest_start(now)
        for cut in (
            *cut_now(known, cuts, scopes, now, earliest),
            *cut_next(replace(known, demand=hourly), cuts, scopes, now, earliest),
        ):
            overlay = Overlay(
                reason=OverlayReason.BUDGET, intent=cut.intent, tier=cut.tier, until=cut.until, times=cut.times
            )
            record = PolicyRecord(
                policy_id=overlay_id_of(overlay, now), published_at=now, effective_from=cut.starts, overlay=overlay
            )
            self.log.check_publishable(record)
            self.log = self.log.add(record)

    @property
    def unjudged_share(self) -> float:
        """Of the claims that a judge was wanted for."""
        return self.unjudged / (self.unjudged + self.judged)

    def probability(self, ts: datetime) -> float:
        """π of an answer at a time."""
        return self.log.at(ts).probability("refunds", RiskTier.HIGH, "rest")

    def changes(self) -> Counter[datetime]:
        """How often π changes in each hour, its first minute included."""
        moments = sorted({ts for ts, *_ in self.draws})
        seen = [(ts, self.probability(ts)) for ts in moments]
        return Counter(hour_of(after) for (_, one), (after, other) in pairwise(seen) if one != other)


def steady(_: datetime) -> float:
    """Twice what the budget can pay for: 0.5 drawn, 0.4 in the band, 600 tokens each, 16.7 a minute would fit."""
    return 17.0


def daily(now: datetime) -> float:
    """From a tenth of what fits to three times."""
    return 12.5 + 11.5 * sin(tau * (now - NOW) / timedelta(days=1))


@pytest.fixture(scope="module")
def day() -> Day:
    """Twenty hours from noon on, watched."""
    made = Day(daily)
    made.run(20)
    return made


def test_steady_demand_of_twice_the_budget_gets_one_share() -> None:
    """Without lowering π, half of the claims that want a judge would find no money; with it two in a hundred."""
    blind, watched = Day(steady, is_watched=False), Day(steady)
    blind.run(8)
    watched.run(8)
    assert max(watched.hourly.values()) <= LIMIT
    assert (blind.unjudged_share > 0.45, watched.unjudged_share < 0.03) == (True, True)
    assert watched.changes().total() <= 8


def test_day_stays_in_its_budget_with_few_claims_unjudged(day: Day) -> None:
    """Demand goes up to three times the budget and down to a tenth; π changes at most three times an hour."""
    assert max(day.hourly.values()) <= LIMIT
    assert day.unjudged_share < 0.03
    changes = day.changes()
    assert max(changes.values()) <= 3
    assert changes.total() <= 20


def test_probability_of_every_draw_is_the_one_in_force_and_known(day: Day) -> None:
    """Whatever was lowered: rows carry π of their time, and weighted counts give back the traffic."""
    assert all(
        (probability, policy_id) == (day.probability(ts), day.log.at(ts).policy_id) and u < probability
        for ts, u, probability, policy_id in day.draws
    )
    assert len({probability for _, _, probability, _ in day.draws}) > 4
    weighted = sum(1 / probability for _, _, probability, _ in day.draws)
    deviation = sum((1 - p) / p**2 for _, _, p, _ in day.draws) ** 0.5
    assert abs(weighted - day.traces) < 4 * deviation


def test_probability_is_whole_again_when_demand_has_fallen(day: Day) -> None:
    """At the next hour, and it stays so all night; nowhere it falls below the lowest share."""
    assert [0.5] * 4 == [day.probability(NOW + hour * HOUR) for hour in range(16, 20)]
    assert min(day.probability(NOW + minute * MINUTE) for minute in range(20 * 60)) >= 0.05
