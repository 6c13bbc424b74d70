"""The leader's look at money over the real policy log: what it publishes, and what is drawn then."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import cast

import pytest

from sampling.policy_log import heartbeat
from schemas.draw import DrawnTrace
from schemas.errors import BrokerUnavailable
from schemas.labels import Layer, RiskTier
from schemas.policy import OverlayReason, PolicyDocument, Sampling
from schemas.routes import Budget, JudgeRule, Route
from schemas.spend import ALL, Cost, Spend
from streams.agents.budgets import AUTHOR, BudgetWatch
from streams.agents.policies import KnownPolicies, PolicyPublisher
from streams.broker.publisher import Publisher
from streams.broker.topics import DRAWN, POLICY
from streams.store import Store
from tests.agents.flow import FakePublisher, Flow, native, policies
from tests.builders import NOW
from tests.fakes_store import MemoryStore

MINUTE = timedelta(minutes=1)
LOANS = Route(intent="loans", judge=JudgeRule(), budget=Budget(tokens_per_hour=600))


def document(**budget: float) -> PolicyDocument:
    """Half of all is drawn, and a judge may be asked."""
    given = Budget(**budget)
    routes = (LOANS, Route(judge=JudgeRule()))
    return PolicyDocument(name="p", sampling=Sampling(default_probability=0.5), routes=routes, budget=given)


@dataclass
class Scene:
    """A leader, a clock and what is spent a minute."""

    known: KnownPolicies = field(default_factory=lambda: policies(document(tokens_per_hour=6_000)))
    store: MemoryStore = field(default_factory=MemoryStore)
    broker: FakePublisher = field(default_factory=FakePublisher)
    now: datetime = NOW
    watch: BudgetWatch = field(init=False)

    def __post_init__(self) -> None:
        publisher = PolicyPublisher(self.known, cast("Publisher", self.broker), cast("Store", self.store))
        self.watch = BudgetWatch(cast("Store", self.store), self.known, publisher, lambda: self.now)

    async def goes_on(self, minutes: int, tokens: int, intent: str = "refunds", route: str = "*/*") -> None:
        """Minutes in which so many tokens are spent, the leader looking each time."""
        for _ in range(minutes):
            row = Spend(
                worker="w-1",
                minute=self.now,
                intent=intent,
                tier=RiskTier.MEDIUM,
                layer=Layer.L3,
                route=route,
                cost=Cost(calls=20, tokens_in=tokens),
            )
            self.store.spending.insert([row], 1)
            self.now += MINUTE
            self.known.add(heartbeat(self.now))
            await self.watch.look()

    def published(self) -> list[tuple[str, RiskTier | None, float]]:
        """What the log has beyond its first policy."""
        overlays = [record.overlay for record in self.known.log.records.values() if record.overlay is not None]
        return [(one.intent, one.tier, one.times or 1.0) for one in overlays]


async def test_budget_that_would_run_out_lowers_probability_from_the_next_bucket_allowed() -> None:
    """In the topic, in the store's copy and in the process, with reason, author and end."""
    scene = Scene()
    await scene.goes_on(12, 250)
    (record,) = [one for one in scene.known.log.records.values() if one.overlay]
    assert record.overlay is not None
    assert (OverlayReason.BUDGET, RiskTier.MEDIUM, AUTHOR) == (
        record.overlay.reason,
        record.overlay.tier,
        record.author,
    )
    assert (NOW + 25 * MINUTE, NOW + 60 * MINUTE) == (record.effective_from, record.overlay.until)
    assert record.overlay.times == pytest.approx(0.1)
    assert record in scene.store.policy_records()
    assert [record.policy_id.encode()] == [message.key for message in scene.broker.sent[POLICY]]


async def test_budget_that_will_do_publishes_nothing() -> None:
    """And metrics know what is left."""
    scene = Scene()
    await scene.goes_on(30, 95)
    assert [] == scene.published()
    state = scene.watch.pots[ALL]
    assert (6_000, 2_850, 1.0) == (state.limit.tokens, state.spent.tokens, state.share)
    assert state.expected is not None
    assert state.expected.tokens == pytest.approx(5_700)


async def test_route_with_a_budget_of_its_own_lowers_its_own_answers_alone() -> None:
    """Others pay from the pot of all."""
    scene = Scene(known=policies(document()))
    await scene.goes_on(12, 30, "loans", "loans/*")
    assert [("loans", None)] == [(intent, tier) for intent, tier, _ in scene.published()]


async def test_budget_of_nothing_lowers_nothing() -> None:
    """Who allows no judge does not want fewer draws."""
    scene = Scene(known=policies(document(tokens_per_hour=0)))
    await scene.goes_on(30, 0)
    assert [] == scene.published()


async def test_policy_without_a_budget_is_not_looked_at() -> None:
    """Nothing is read."""
    plain = PolicyDocument(name="p", routes=(Route(judge=JudgeRule()),))
    scene = Scene(known=policies(plain))
    await scene.goes_on(30, 10_000)
    assert ([], {}) == (scene.published(), dict(scene.watch.pots))


async def test_share_of_the_next_hour_is_published_before_it_begins() -> None:
    """So that steady demand does not run into the budget first."""
    scene = Scene()
    await scene.goes_on(47, 150)
    starts = [one.effective_from for one in scene.known.log.records.values() if one.overlay]
    assert NOW + 60 * MINUTE in starts


async def test_second_leader_publishes_nothing_more_and_a_broker_that_is_away_is_tried_again() -> None:
    """It has read what the first one published; what did not get out comes with the next look."""
    scene = Scene()
    await scene.goes_on(10, 250)
    scene.broker.failures = 1
    with pytest.raises(BrokerUnavailable):
        await scene.goes_on(2, 250)
    assert [] == scene.published()
    await scene.goes_on(1, 250)
    assert 1 == len(scene.published())
    other = BudgetWatch(scene.watch.store, scene.known, scene.watch.publisher, lambda: scene.now)
    await other.look()
    assert 1 == len(scene.published())


async def test_what_is_drawn_under_a_lowered_policy_carries_its_probability() -> None:
    """The row of each draw, stored and sent on, has π and policy of its event time."""
    flow = Flow(known=policies(document(tokens_per_hour=6_000)))
    scene = Scene(known=flow.known, store=flow.store, broker=flow.publisher)
    await scene.goes_on(12, 250)
    starts = NOW + 25 * MINUTE
    scene.known.add(heartbeat(starts))
    before, after = starts - MINUTE, starts + MINUTE
    ids = [f"t-{number}" for number in range(200)]
    flow.now = lambda: after
    for ts, name in ((before, "before"), (after, "after")):
        values = [native(f"{one}-{name}", ts=ts.isoformat(), tier="medium") for one in ids]
        await flow.ingest.handle([flow.message(value, recorded_at=ts) for value in values])
    rows = [DrawnTrace.model_validate_json(message.value or b"") for message in flow.publisher.sent[DRAWN]]
    assert {(0.5, "p1")} == {_law(row) for row in rows if row.trace.ts == before}
    lowered = {_law(row) for row in rows if row.trace.ts == after}
    assert [0.05] == [pytest.approx(probability) for probability, _ in lowered]
    assert all(policy_id.startswith("p1+b") for _, policy_id in lowered)
    assert all(row.draw.u < row.draw.inclusion_probability for row in rows)
    assert (
        len([row for row in rows if row.trace.ts == before]) > len([row for row in rows if row.trace.ts == after]) > 0
    )


def _law(row: DrawnTrace) -> tuple[float, str]:
    return row.draw.inclusion_probability, row.draw.policy_id
