"""The line about money on the overview."""

from datetime import timedelta

from schemas.labels import Layer, RiskTier
from schemas.policy import Overlay, OverlayReason, PolicyRecord
from schemas.routes import Budget, JudgeRule, Route
from schemas.spend import Cost, Spend
from tests.builders import NOW, policy, policy_record, traffic_tally
from tests.unit.dashboards.fake_store import FakeStore
from tests.unit.dashboards.page_reader import get

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
HARM = "<script>x</script>\u202e"
DOCUMENT = policy(
    "p",
    budget=Budget(tokens_per_hour=4_000),
    routes=(Route(intent=HARM, judge=JudgeRule(), budget=Budget(usd_per_hour=2.0)), Route(judge=JudgeRule())),
)
LOWERED = PolicyRecord(
    policy_id="b1",
    published_at=NOW - 30 * MINUTE,
    effective_from=NOW,
    overlay=Overlay(reason=OverlayReason.BUDGET, times=0.4, until=NOW + HOUR),
)
SPENT = Spend(
    worker="w",
    minute=NOW,
    intent="refunds",
    tier=RiskTier.HIGH,
    layer=Layer.L3,
    route="*/*",
    cost=Cost(calls=1, tokens_in=900, tokens_out=100, usd=0.25),
)


def world(*records: PolicyRecord, spent: tuple[Spend, ...] = ()) -> FakeStore:
    """A store with traffic."""
    rows = [traffic_tally(100, bucket=NOW - HOUR)]
    return FakeStore(rows=rows, policies=list(records), spend_rows=list(spent))


async def test_overview_says_what_is_left_and_how_far_the_probability_is_lowered() -> None:
    """For all, and for a route with a budget of its own, whose name is text and nothing more."""
    page = await get(world(policy_record("p1", document=DOCUMENT), LOWERED, spent=(SPENT,)), "/", now=NOW + 5 * MINUTE)
    assert "Judges this hour: 1\u202f000 of 4\u202f000 tokens, $0.25." in page.text
    assert "The budget lowers π to × 0.4 until 2026-03-10 13:00 UTC." in page.text
    assert "$0.00 of $2.00" in page.text
    assert HARM not in page.body


async def test_share_that_has_ended_is_not_shown() -> None:
    """Nor what was spent in an earlier hour."""
    store = world(policy_record("p1", document=DOCUMENT), LOWERED, spent=(SPENT,))
    page = await get(store, "/", now=NOW + HOUR + MINUTE)
    assert "lowers π" not in page.text
    assert "Judges this hour: 0 of 4\u202f000 tokens" in page.text


async def test_nothing_is_said_of_money_where_none_is_spent() -> None:
    """Without a policy, and with one that has neither budget nor judge."""
    for store in (world(), world(policy_record("p1", document=policy("plain")))):
        assert "Judges" not in (await get(store, "/")).text


async def test_reader_of_some_tenants_sees_nothing_of_it() -> None:
    """Cost is everybody's."""
    store = world(policy_record("p1", document=DOCUMENT), spent=(SPENT,))
    assert "Judges" not in (await get(store, "/", tenants=frozenset({"acme"}))).text
