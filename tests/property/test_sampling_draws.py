"""Properties of the draw: probabilities, nesting, and unbiased weighted counts over all draws."""

from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from sampling.draw import decide, u_of
from sampling.effective import EffectivePolicy, compose
from schemas.labels import RiskTier
from schemas.policy import Allocation, Overlay, OverlayReason, Sampling, StratumRule
from tests.builders import NOW, policy, screening, trace

SALT = b"property"
STRATA = ("weak", "unsure", "rest")
INTENTS = ("*", "refunds", "loans")
probabilities = st.floats(1e-9, 1)
tiers = st.none() | st.sampled_from(RiskTier)
allocations = st.builds(
    Allocation,
    intent=st.sampled_from(INTENTS),
    tier=tiers,
    stratum=st.sampled_from(("*", *STRATA)),
    probability=probabilities,
)
samplings = st.builds(
    Sampling,
    strata=st.just((StratumRule(name="weak", score_below=0.3), StratumRule(name="unsure", score_below=0.6))),
    allocations=st.lists(allocations, max_size=6).map(tuple),
    default_probability=probabilities,
)
changes = st.tuples(st.sampled_from(("at_least", "times")), probabilities)
overlays = st.builds(
    lambda change, intent, tier: Overlay(
        reason=OverlayReason.MANUAL, until=NOW, intent=intent, tier=tier, **{change[0]: change[1]}
    ),
    changes,
    st.sampled_from(INTENTS),
    tiers,
)
named = st.lists(overlays, max_size=4).map(lambda found: [(f"o{number}", entry) for number, entry in enumerate(found)])
cells = st.tuples(st.sampled_from(("refunds", "loans", "other")), st.sampled_from(RiskTier))
effective = st.builds(lambda sampling, lines: compose("p", policy(sampling=sampling), lines), samplings, named)


@given(effective, cells)
def test_every_probability_is_above_zero_and_at_most_one(found: EffectivePolicy, cell: tuple[str, RiskTier]) -> None:
    """No answer is out of reach, and the smallest of the cell is the smallest."""
    pis = [found.probability(*cell, stratum) for stratum in STRATA]
    assert all(0 < pi <= 1 for pi in pis)
    assert min(pis) == found.min_probability(*cell)


@given(samplings, named, st.randoms(use_true_random=False), cells)
def test_order_of_overlays_does_not_matter(
    sampling: Sampling, lines: list[tuple[str, Overlay]], dice: object, cell: tuple[str, RiskTier]
) -> None:
    """The same set of overlays is the same policy."""
    shuffled = sorted(lines, key=lambda _: dice.random())  # type: ignore[attr-defined]
    one, two = (compose("p", policy(sampling=sampling), entries) for entries in (lines, shuffled))
    assert one.policy_id == two.policy_id
    assert all(one.probability(*cell, name) == two.probability(*cell, name) for name in STRATA)


@given(st.text(min_size=1, max_size=20), st.floats(0, 1), effective, st.floats(1e-9, 1))
def test_raising_pi_only_adds_traces(name: str, score: float, found: EffectivePolicy, at_least: float) -> None:
    """A surge keeps every trace that was drawn without it."""
    surge = Overlay(reason=OverlayReason.SURGE, until=NOW, at_least=at_least)
    base = compose("p", found.document)
    raised = compose("p", found.document, [("s", surge)])
    before, after = (decide(trace(name), screening(score=score), entry, SALT) for entry in (base, raised))
    assert after.inclusion_probability >= before.inclusion_probability
    assert after.drawn or not before.drawn


@given(st.text(min_size=1, max_size=20), st.floats(0, 1), effective)
def test_nested_subsample_is_part_of_the_sample(name: str, score: float, found: EffectivePolicy) -> None:
    """A number below the smallest π of the cell is below the trace's own."""
    draw = decide(trace(name), screening(score=score), found, SALT)
    assert draw.drawn or not draw.is_nested


@given(st.text(min_size=1))
def test_repeated_draw_is_the_same(name: str) -> None:
    """Redelivery, rebalance and restart give the same sample."""
    assert 0 <= u_of(name, SALT) < 1
    assert u_of(name, SALT) == u_of(name, SALT)


def ids_by_quarter() -> list[str]:
    """Four trace ids whose u lies in the first, second, third and last quarter."""
    found: dict[int, str] = {}
    for number in range(200):
        found.setdefault(int(4 * u_of(f"q{number}", SALT)), f"q{number}")
    return [found[quarter] for quarter in range(4)]


QUARTERS = ids_by_quarter()
BY_SCORE = {"weak": 0.1, "unsure": 0.5, "rest": 0.9}


@given(
    st.tuples(*[st.integers(1, 4)] * 3),
    st.lists(st.tuples(st.sampled_from(STRATA), st.booleans()), min_size=1, max_size=5),
)
def test_expected_weighted_count_over_all_draws_is_the_true_count(
    quarters: tuple[int, ...], people: list[tuple[str, bool]]
) -> None:
    """With π in quarters, every combination of u is enumerated: the mean of Σ k/π is k."""
    lines = tuple(Allocation(stratum=name, probability=count / 4) for name, count in zip(STRATA, quarters, strict=True))
    rules = (StratumRule(name="weak", score_below=0.3), StratumRule(name="unsure", score_below=0.6))
    found = compose("p", policy(sampling=Sampling(strata=rules, allocations=lines)))
    draws = [
        [decide(trace(name), screening(score=BY_SCORE[stratum]), found, SALT) for name in QUARTERS]
        for stratum, is_bad in people
        if is_bad
    ]
    worlds = list(product(*draws))
    total = sum(Fraction(1) / Fraction(draw.inclusion_probability) for world in worlds for draw in world if draw.drawn)
    assert sum(is_bad for _, is_bad in people) == total / len(worlds)
