"""Properties of estimates and allocation over arbitrary tallies and strata."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling.allocation import StratumSize, allocate
from sampling.intervals import clopper_pearson, wilson
from sampling.rates import bounds, claim_rate, estimate, other_rates
from schemas.labels import Outcome, RiskTier
from schemas.tally import Tally
from tests.builders import NOW

names = {
    "intent": st.sampled_from(("refunds", "loans")),
    "tier": st.sampled_from((RiskTier.LOW, RiskTier.HIGH)),
    "stratum": st.sampled_from(("weak", "rest")),
    "policy_id": st.sampled_from(("p1", "p1+s1")),
}
keys = st.fixed_dictionaries(names)


@st.composite
def rows(draw: st.DrawFn) -> list[Tally]:
    """Traffic and verdict rows as ingest and verify make them."""
    found = []
    for key in draw(st.lists(keys, min_size=1, max_size=8)):
        good, bad, abstained, errors, unclear, pending = draw(st.tuples(*[st.integers(0, 30)] * 6))
        weight = {"p1": 4.0, "p1+s1": 1.0}[key["policy_id"]]
        judged, drawn = good + bad, good + bad + abstained + errors + unclear + pending
        counts = dict.fromkeys(Outcome, 0) | {
            Outcome.GROUNDED: good,
            Outcome.HALLUCINATED: bad,
            Outcome.ABSTAINED: abstained,
            Outcome.ERROR_TIMEOUT: errors,
            Outcome.UNCLEAR: unclear,
        }
        traffic = int(drawn * weight) + draw(st.integers(0, 50))
        found.append(Tally(bucket=NOW, **key, traffic=traffic, drawn=drawn, pending=pending))
        sums = {"sum_w": weight * judged, "sum_wk": weight * bad, "sum_w2": weight**2 * judged}
        found.append(
            Tally(
                bucket=NOW,
                **key,
                fingerprint="d",
                judged=judged,
                hallucinated=bad,
                **sums,
                outcomes=tuple(counts.values()),
                claims_scorable=2 * judged,
                claims_unsupported=bad,
            )
        )
    return found


@given(rows(), st.sampled_from((0.8, 0.95, 0.99)))
def test_rate_lies_in_its_interval_inside_zero_and_one(tallies: list[Tally], level: float) -> None:
    """For the answer rate, the claim rate and the others."""
    others = other_rates(tallies, level)
    for found in (estimate(tallies, level), claim_rate(tallies, level), others.abstained, others.error):
        assert 0 <= found.low <= found.high <= 1
        assert found.rate is None or found.low - 1e-12 <= found.rate <= found.high + 1e-12


@given(rows(), st.data())
def test_estimate_of_rows_in_any_order_is_the_same(tallies: list[Tally], data: st.DataObject) -> None:
    """Tallies add up, whoever counted first."""
    one, two = estimate(tallies), estimate(data.draw(st.permutations(tallies)))
    assert (one.rate, one.low, one.high, one.n) == pytest.approx((two.rate, two.low, two.high, two.n))


@given(rows(), st.data())
def test_running_sum_equals_batch_on_every_prefix(tallies: list[Tally], data: st.DataObject) -> None:
    """Rows merged one by one give the rate of the whole batch."""
    order = data.draw(st.permutations(tallies))
    merged: dict[object, Tally] = {}
    for length, row in enumerate(order, start=1):
        key = (row.slice, row.stratum, row.policy_id, row.fingerprint)
        merged[key] = add(merged[key], row) if key in merged else row
        one, two = estimate(list(merged.values())), estimate(order[:length])
        assert (one.rate, one.low, one.high, one.n) == pytest.approx((two.rate, two.low, two.high, two.n))


def add(one: Tally, two: Tally) -> Tally:
    """The sum of two rows of one cell."""
    names = ("traffic", "drawn", "judged", "hallucinated", "sum_w", "sum_wk", "sum_w2", "pending")
    sums = {name: getattr(one, name) + getattr(two, name) for name in names}
    counts = [a + b for a, b in zip(one.outcomes, two.outcomes, strict=True)]
    return one.model_copy(update={**sums, "outcomes": tuple(counts)})


@given(rows())
def test_bounds_are_ordered_and_meet_without_failures(tallies: list[Tally]) -> None:
    """Every unknown answer only widens them."""
    found = bounds(tallies)
    assert 0 <= found.low <= found.high <= 1 + 1e-12
    rate = estimate(tallies).rate
    if found.missing == 0 and rate is not None:
        assert (rate, rate) == pytest.approx((found.low, found.high))


@given(st.integers(0, 500), st.floats(0, 1), st.floats(0.5, 0.999))
def test_exact_and_score_interval_hold_the_share(n: int, share: float, level: float) -> None:
    """Fractional counts included."""
    for interval in (clopper_pearson, wilson):
        low, high = interval(share * n, n, level)
        assert 0 <= low <= high <= 1
        assert n == 0 or low - 1e-9 <= share <= high + 1e-9


sizes = st.builds(
    StratumSize,
    st.sampled_from(("a", "b", "c")),
    st.sampled_from(RiskTier),
    st.sampled_from(("x", "y", "rest")),
    st.floats(0, 1e5) | st.just(0.0),
    st.floats(0, 1),
)


@given(st.lists(sizes, min_size=1, max_size=12), st.floats(0.01, 1), st.floats(0, 1))
def test_allocation_is_a_policy_within_budget_and_spread(
    found: list[StratumSize], share: float, overall_share: float
) -> None:
    """Every π in (0, 1], the budget kept, no cell wider than three."""
    budget = share * sum(size.traffic for size in found) + 1
    pis = allocate(found, budget, overall_share=overall_share)
    assert all(0 < pi <= 1 for pi in pis)
    assert sum(size.traffic * pi for size, pi in zip(found, pis, strict=True)) <= budget * (1 + 1e-6)
    cells: dict[object, list[float]] = {}
    for size, pi in zip(found, pis, strict=True):
        cells.setdefault((size.intent, size.tier), []).append(pi)
    assert all(max(cell) <= 3 * min(cell) * (1 + 1e-9) for cell in cells.values())
