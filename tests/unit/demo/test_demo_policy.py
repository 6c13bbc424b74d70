"""The demo's policy file is a valid policy and draws the busy cell in full."""

import re
from importlib.resources import files

import pytest
import yaml

from demo.recipe import BUSY_INTENT, BUSY_TIER, DEMO_RECIPE
from demo.written import INTENT
from schemas.labels import RiskTier
from schemas.policy import Allocation, PolicyDocument
from schemas.slice import Slice

POLICY = PolicyDocument.model_validate(yaml.safe_load(files("demo").joinpath("demo_policy.yaml").read_text("utf-8")))


def probability(cell: Slice, stratum: str) -> float:
    """π by the first allocation that matches."""

    def matches(rule: Allocation) -> bool:
        return rule.intent in {"*", cell.intent} and rule.tier in {None, cell.tier} and rule.stratum in {"*", stratum}

    found = (rule.probability for rule in POLICY.sampling.allocations if matches(rule))
    return next(found, POLICY.sampling.default_probability)


def strata() -> list[str]:
    """All strata of the policy."""
    return [rule.name for rule in POLICY.sampling.strata] + ["rest"]


def test_busy_cell_is_drawn_in_full() -> None:
    """Whatever the stratum, so that the jump is found soon."""
    busy = Slice(intent=BUSY_INTENT, tier=BUSY_TIER)
    assert {1.0} == {probability(busy, stratum) for stratum in strata()}


def test_other_cells_are_thinner_within_a_factor_of_three() -> None:
    """The nested subsample must not become tiny inside a cell."""
    for cell in DEMO_RECIPE.cells[1:]:
        drawn = [probability(cell.slice, stratum) for stratum in strata()]
        assert max(drawn) <= 3 * min(drawn)
        assert max(drawn) < 1


def test_citations_are_required() -> None:
    """The assistant cites its articles in every answer that states facts."""
    assert POLICY.intents["*"].citations_required


def test_answers_of_the_small_model_are_routed_alone() -> None:
    """Judged and asked for again, drawn in full, not told to cite; the product's own answers cost nothing."""
    (route,) = POLICY.routes
    assert (INTENT, True, True) == (route.intent, route.judge is not None, route.consistency is not None)
    assert route.budget.tokens_per_hour
    assert INTENT not in {cell.intent for cell in DEMO_RECIPE.cells}
    assert {1.0} == {probability(Slice(intent=INTENT, tier=RiskTier.LOW), stratum) for stratum in strata()}
    assert not POLICY.intents[INTENT].citations_required


@pytest.mark.parametrize(
    ("claim", "rule"),
    [
        ("Shipping costs 29 EUR for the Loft", "amount"),
        ("the fee is 8 % then", "amount"),
        ("It is ready within 3 working days", "deadline"),
        ("only the buyer can do that", "eligibility"),
        ("Add 4 ml per litre of water", "dose"),
        ("Pull the plug first", "safety"),
    ],
)
def test_critical_rules_find_their_claims(claim: str, rule: str) -> None:
    """Amounts, deadlines, eligibility, doses and safety."""
    pattern = next(critical.pattern for critical in POLICY.intents["*"].critical if critical.name == rule)
    assert re.search(pattern, claim, re.IGNORECASE)
