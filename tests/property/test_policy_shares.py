"""Shares by intent, tier and stratum: the table that is made once says what a reading line by line says."""

from hypothesis import given
from hypothesis import strategies as st

from sampling.effective import compose
from schemas.labels import RiskTier
from schemas.policy import Allocation, Overlay, OverlayReason, Sampling, StratumRule
from tests.builders import NOW, policy

INTENTS = ("*", "a", "b", "unnamed")
STRATA = ("weak", "other", "rest")
tiers = st.sampled_from(list(RiskTier))
lines = st.lists(
    st.builds(
        Allocation,
        intent=st.sampled_from(INTENTS[:3]),
        tier=st.none() | tiers,
        stratum=st.sampled_from(["*", *STRATA]),
        probability=st.floats(0.01, 1),
    ),
    max_size=8,
)
surges = st.builds(
    Overlay,
    reason=st.just(OverlayReason.SURGE),
    intent=st.sampled_from(INTENTS[:3]),
    tier=st.none() | tiers,
    until=st.just(NOW),
    at_least=st.floats(0.01, 1),
)


@given(lines, st.lists(surges, max_size=3), st.sampled_from(INTENTS[1:]), tiers, st.sampled_from(STRATA))
def test_first_line_that_matches_counts_then_the_highest_surge(
    allocations: list[Allocation], overlays: list[Overlay], intent: str, tier: RiskTier, stratum: str
) -> None:
    """Whatever the order of general and special lines."""
    rules = (StratumRule(name="weak", has_flag="w"), StratumRule(name="other", has_flag="o"))
    document = policy(sampling=Sampling(strata=rules, allocations=tuple(allocations), default_probability=0.2))
    found = compose("p", document, [(f"s{number}", overlay) for number, overlay in enumerate(overlays)])
    matching = [
        line.probability
        for line in allocations
        if line.intent in {"*", intent} and line.tier in {None, tier} and line.stratum in {"*", stratum}
    ]
    raised = [
        overlay.at_least or 0.0
        for overlay in overlays
        if overlay.intent in {"*", intent} and overlay.tier in {None, tier}
    ]
    assert max([*(matching[:1] or [0.2]), *raised]) == found.probability(intent, tier, stratum)
