"""What judges would cost under a policy: arithmetic by hand on small days."""

from functools import partial
from typing import Any

import pytest

from detectors.routing import route_of
from sampling.policy_diff import CellTraffic
from sampling.spend_forecast import ASSUMED_TOKENS, Basis, Forecast, forecast, is_paid, price_of
from schemas.labels import Layer, RiskTier
from schemas.policy import Allocation, PolicyDocument, Sampling, StratumRule
from schemas.routes import Budget, ConsistencyRule, JudgeRule, Route
from schemas.spend import ClaimSupports, Cost, SpendSum
from tests.builders import NOW

RULE = JudgeRule(band_low=0.4, band_high=0.6)
DAY = Cost(calls=60, cached=40, tokens_in=54_000, tokens_out=6_000, usd=0.6)


def document(probability: float = 0.5, **fields: Any) -> PolicyDocument:
    """Every answer may ask the judge."""
    given: dict[str, Any] = {"name": "p", "sampling": Sampling(default_probability=probability), **fields}
    return PolicyDocument(**{"routes": (Route(judge=RULE),), **given})


def cell(traces_per_hour: float, **fields: Any) -> CellTraffic:
    """Traffic of an intent and tier."""
    given = {"intent": "refunds", "tier": RiskTier.HIGH, "stratum": "rest", **fields}
    return CellTraffic(traces_per_day=24 * traces_per_hour, **given)


def supports(in_band: int, others: int, answers: int, **fields: Any) -> ClaimSupports:
    """Claims of so many answers: some at 0.5, others at 0.9."""
    bins = [0] * 100
    bins[50], bins[90] = in_band, others
    given = {"intent": "refunds", "tier": RiskTier.HIGH, "stratum": "rest", **fields}
    return ClaimSupports(answers=answers, bins=tuple(bins), **given)


def spent(cost: Cost, layer: Layer = Layer.L3, **fields: Any) -> SpendSum:
    """A day's cost."""
    given = {"intent": "refunds", "tier": RiskTier.HIGH, "route": "*/*", **fields}
    return SpendSum(start=NOW, layer=layer, cost=cost, **given)


def cost(policy: PolicyDocument, basis: Basis, price: float | None = None) -> Forecast:
    """The forecast by the policy's own routes."""
    return forecast(policy, partial(route_of, policy), basis, price)


def test_calls_are_drawn_answers_times_claims_in_the_band_that_the_cache_does_not_know() -> None:
    """100 an hour · π 0.5 · 0.8 claims in the band · 0.6 missed; 1,000 tokens and a cent each."""
    basis = Basis(traffic=(cell(100),), busiest=2.0, supports=(supports(40, 60, 50),), spent=(spent(DAY),))
    found = cost(document(), basis)
    figures = [found.calls, found.tokens, found.busiest_tokens, found.usd or 0.0, found.busiest_usd or 0.0]
    assert figures == pytest.approx([24.0, 24_000.0, 48_000.0, 0.24, 0.48])
    assert ((), ()) == (found.over, found.notes)
    assert cost(document(1.0), basis).calls == pytest.approx(48.0)
    assert cost(document(routes=(Route(judge=RULE.model_copy(update={"repeats": 3})),)), basis).calls == pytest.approx(
        72.0
    )


def test_strata_are_reckoned_with_their_own_scores_and_probabilities() -> None:
    """Most claims of the unsure stratum lie in the band; one that the new policy has not is `rest`."""
    strata = (StratumRule(name="unsure", score_below=0.6),)
    lines = (Allocation(stratum="unsure", probability=1.0), Allocation(probability=0.1))
    policy = document(sampling=Sampling(strata=strata, allocations=lines))
    basis = Basis(
        traffic=(cell(10, stratum="unsure"), cell(90), cell(100, stratum="gone")),
        supports=(supports(20, 0, 10, stratum="unsure"), supports(0, 30, 10)),
    )
    # 10 · 1.0 · 2 claims, 90 · 0.1 · 0, and `gone`: 100 · 0.1 · the 20 of all 20 answers of the cell.
    assert cost(policy, basis).calls == pytest.approx(20.0 + 0.0 + 10.0)


def test_claims_that_no_judge_answered_are_asked_for_again() -> None:
    """They have no score; a day without money must not look like a day without claims."""
    failed = supports(0, 10, 10).model_copy(update={"failed": 20})
    basis = Basis(traffic=(cell(10),), supports=(failed,))
    assert cost(document(), basis).calls == pytest.approx(10.0)


def test_intent_without_scores_of_its_own_takes_those_of_all() -> None:
    """A new intent is not free."""
    basis = Basis(traffic=(cell(10, intent="new"),), supports=(supports(10, 0, 10),))
    assert cost(document(), basis).calls == pytest.approx(5.0)


def test_routes_without_a_judge_cost_nothing() -> None:
    """And nothing is asked of the past where no route asks anybody."""
    routes = (Route(intent="refunds"), Route(judge=RULE))
    basis = Basis(traffic=(cell(10),), supports=(supports(10, 0, 10),))
    assert 0.0 == cost(document(routes=routes), basis).calls
    assert [True, False] == [is_paid(document()), is_paid(document(routes=(Route(),)))]


def test_resampling_goes_on_as_it_did_where_the_route_asks_for_it() -> None:
    """240 tokens for each of 10 answers of the day."""
    resampling = (spent(Cost(calls=3, tokens_in=2_400), Layer.L4),)
    basis = Basis(traffic=(cell(100),), supports=(supports(0, 10, 10),), spent=resampling)
    with_it = document(routes=(Route(consistency=ConsistencyRule()),))
    assert [12_000.0, 0.0] == [cost(policy, basis).tokens for policy in (with_it, document())]


def test_budget_that_the_busiest_hour_exceeds_is_named_with_what_follows() -> None:
    """For all and for a route; money counts where its price is known."""
    basis = Basis(traffic=(cell(100),), busiest=2.0, supports=(supports(40, 60, 50),), spent=(spent(DAY),))
    routes = (Route(intent="refunds", judge=RULE, budget=Budget(usd_per_hour=0.04)),)
    found = cost(document(routes=routes, budget=Budget(tokens_per_hour=36_000)), basis)
    assert (
        "all: 48,000.00 tokens in the busiest hour, budget 36,000.00; π would be lowered to about × 0.75",
        "refunds/*: 0.48 USD in the busiest hour, budget 0.04; π would be lowered to about × 0.10",
    ) == found.over
    assert () == cost(document(budget=Budget(tokens_per_hour=60_000)), basis).over


def test_what_is_not_known_is_assumed_and_said() -> None:
    """Tokens of a call before the first one, and the price of the settings."""
    basis = Basis(traffic=(cell(10),), supports=(supports(10, 0, 10),))
    found = cost(document(), basis)
    assert found.tokens == pytest.approx(5.0 * ASSUMED_TOKENS)
    assert found.usd is None
    assert 2 == len(found.notes)
    priced = cost(document(), basis, price_of(1.0, 16.0))
    assert priced.usd == pytest.approx(5.0 * 1_500 * 2.0 / 1e6)
    assert None is price_of(0.0, 0.0)
    assert Forecast(notes=cost(document(), Basis()).notes) == cost(document(), Basis())
    assert 4 == len(cost(document(), Basis()).notes)
