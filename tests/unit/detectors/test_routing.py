"""Which layers a route lets run, on which claims; pure decisions."""

import pytest

from detectors.layers import Layers
from detectors.routing import plan_of, route_of, wanted_claims
from schemas.labels import Layer, Outcome, RiskTier
from schemas.layers import LayerReason
from schemas.routes import ConsistencyRule, JudgeRule, Route
from schemas.verdict import ClaimJudgement
from tests.builders import policy
from tests.fakes_layers import FakeConsistency, FakeJudge, FakeStacked

ALL = Layers(models=FakeStacked(), judge=FakeJudge(), consistency=FakeConsistency())
FULL = Route(judge=JudgeRule(), consistency=ConsistencyRule())


def scored(*supports: float | None) -> list[ClaimJudgement]:
    """A claim in error for None."""
    return [
        ClaimJudgement(error=Outcome.ERROR_MODEL) if support is None else ClaimJudgement(support=support)
        for support in supports
    ]


@pytest.mark.parametrize(
    ("intent", "tier", "expected"),
    [
        ("refunds", RiskTier.HIGH, 0),
        ("refunds", RiskTier.LOW, 1),
        ("billing", RiskTier.HIGH, 2),
        ("billing", RiskTier.LOW, None),
    ],
)
def test_the_first_route_that_matches_holds(intent: str, tier: RiskTier, expected: int | None) -> None:
    """Intent and tier; without a match models run where there are some, and no judge."""
    routes = (
        Route(intent="refunds", tier=RiskTier.HIGH, judge=JudgeRule()),
        Route(intent="refunds", models=False),
        Route(tier=RiskTier.HIGH, judge=JudgeRule(repeats=3)),
    )

    assert (Route() if expected is None else routes[expected]) == route_of(policy(routes=routes), intent, tier)


def test_a_layer_is_in_use_where_the_route_names_it_and_the_process_has_it() -> None:
    """The table says which of both is missing; what neither has counts as not routed."""
    assert tuple(Layer) == plan_of(FULL, ALL).layers
    assert (Layer.L0, Layer.L1, Layer.L2) == plan_of(Route(), ALL).layers
    assert (Layer.L0, Layer.L1) == plan_of(FULL, Layers()).layers
    assert [None] * 3 == [plan_of(FULL, ALL).why_not(layer) for layer in (Layer.L2, Layer.L3, Layer.L4)]
    assert [LayerReason.NOT_CONFIGURED, LayerReason.NOT_ROUTED] == [
        plan_of(Route(), Layers()).why_not(layer) for layer in (Layer.L2, Layer.L3)
    ]


def test_the_band_holds_its_ends_and_no_claim_in_error() -> None:
    """What the layer below could not score it is not unsure of."""
    found = wanted_claims(scored(0.34, 0.35, None, 0.65, 0.66), JudgeRule(), is_suspect=False)

    assert ((1, 3), ()) == (found.asked, found.capped)


def test_of_a_suspect_answer_every_scored_claim_is_wanted() -> None:
    """Also those that the layer below is sure of."""
    assert (0, 2) == wanted_claims(scored(0.99, None, 0.01), JudgeRule(), is_suspect=True).asked


def test_beyond_the_cap_the_middle_of_the_band_comes_first() -> None:
    """The first of equals; both lists in the order of the answer."""
    found = wanted_claims(scored(0.6, 0.4, 0.48, 0.52, 0.65), JudgeRule(max_claims=3), is_suspect=False)

    assert ((0, 2, 3), (1, 4)) == (found.asked, found.capped)
    assert (0,) == wanted_claims(scored(0.4, 0.6), JudgeRule(max_claims=1), is_suspect=False).asked
