"""Rates from tallies: weights, neighbours, failures and denominators."""

from typing import Any

import pytest

from sampling.intervals import clopper_pearson
from sampling.rates import RateBounds, bounds, claim_rate, estimate, other_rates
from schemas.labels import Outcome, RiskTier
from schemas.tally import Tally
from tests.builders import tally, traffic_tally


def outcomes(**counts: int) -> tuple[int, ...]:
    """Counts in the order of the vocabulary."""
    named = {Outcome[name.upper()]: count for name, count in counts.items()}
    return tuple(named.get(outcome, 0) for outcome in Outcome)


def verdicts(judged: int, hallucinated: float, weight: float = 5.0, **fields: Any) -> Tally:
    """A verdict row whose design weight is ``weight``."""
    sums = {"sum_w": weight * judged, "sum_wk": weight * hallucinated, "sum_w2": weight**2 * judged}
    return tally(judged, hallucinated, **{**sums, **fields})


def test_nothing_judged_has_no_rate() -> None:
    """No data is never a rate of 0."""
    for rows in ([], [traffic_tally(500)], [verdicts(0, 0)]):
        found = estimate(rows)
        assert (None, 0.0, 1.0, 0) == (found.rate, found.low, found.high, found.n)


def test_one_stratum_is_the_plain_share_with_exact_interval() -> None:
    """Weights cancel where they are equal."""
    found = estimate([traffic_tally(500), verdicts(100, 5)])
    assert (0.05, *clopper_pearson(5, 100)) == pytest.approx((found.rate, found.low, found.high))
    assert (100, 0.95) == (found.n, found.level)


def test_strata_count_by_their_traffic() -> None:
    """.9 · .02 + .1 · .5, although both samples are of equal size."""
    rows = [
        traffic_tally(900),
        verdicts(100, 2, 9.0),
        traffic_tally(100, stratum="weak"),
        verdicts(100, 50, 1.0, stratum="weak"),
    ]
    assert estimate(rows).rate == pytest.approx(0.068)


def test_policies_inside_a_stratum_combine_by_weight() -> None:
    """(10 · 1 + 1 · 30) / (10 · 10 + 1 · 100): a surge does not count its answers ten times."""
    rows = [
        traffic_tally(200),
        verdicts(10, 1, 10.0, policy_id="p1"),
        verdicts(100, 30, 1.0, policy_id="p1+s1"),
    ]
    assert estimate(rows).rate == pytest.approx(40 / 200)


def test_order_and_split_of_rows_do_not_matter() -> None:
    """Buckets and versions add up."""
    whole = [traffic_tally(500), verdicts(100, 5)]
    split = [verdicts(60, 5), traffic_tally(200), verdicts(40, 0), traffic_tally(300)]
    assert estimate(whole) == estimate(split)


def test_unsampled_stratum_takes_the_rate_of_its_cell() -> None:
    """Its traffic goes to strata of the same intent and tier, not to everything."""
    rows = [
        traffic_tally(100),
        verdicts(50, 25),
        traffic_tally(100, stratum="weak", drawn=0),
        traffic_tally(200, intent="loans"),
        verdicts(50, 0, intent="loans"),
    ]
    assert estimate(rows).rate == pytest.approx(0.25)


def test_unsampled_cell_takes_the_rate_of_its_tier() -> None:
    """The tier says more about the risk than the whole."""
    high: dict[str, Any] = {"tier": RiskTier.HIGH}
    rows = [
        traffic_tally(100, intent="a"),
        verdicts(50, 0, intent="a"),
        traffic_tally(100, intent="b", **high),
        verdicts(50, 25, intent="b", **high),
        traffic_tally(200, intent="c", drawn=0, **high),
    ]
    assert estimate(rows).rate == pytest.approx(0.75 * 0.5)


def test_stratum_of_abstentions_is_no_part_of_the_rate() -> None:
    """Half of the weak stratum abstains, so only half of its traffic counts: (50 · .4 + 100 · .1) / 150."""
    rows = [
        traffic_tally(100),
        verdicts(50, 5, 2.0, outcomes=outcomes(grounded=45, hallucinated=5)),
        traffic_tally(100, stratum="weak"),
        verdicts(25, 10, 2.0, stratum="weak", outcomes=outcomes(grounded=15, hallucinated=10, abstained=25)),
        traffic_tally(1_000, stratum="refused"),
        verdicts(0, 0, stratum="refused", outcomes=outcomes(abstained=30)),
    ]
    assert estimate(rows).rate == pytest.approx(30 / 150)


def test_errors_do_not_shrink_a_stratum() -> None:
    """A failed check says nothing about what the answer was: the stratum keeps its traffic."""
    rows = [
        traffic_tally(100),
        verdicts(50, 5, 2.0, outcomes=outcomes(grounded=45, hallucinated=5)),
        traffic_tally(100, stratum="weak"),
        verdicts(25, 10, 2.0, stratum="weak", outcomes=outcomes(grounded=15, hallucinated=10, error_timeout=25)),
    ]
    assert estimate(rows).rate == pytest.approx(0.25)


def test_fingerprint_picks_one_detector() -> None:
    """A shadow detector on the same draws is not counted twice."""
    rows = [traffic_tally(500), verdicts(100, 5), verdicts(100, 50, fingerprint="shadow")]
    assert (0.5, 100) == (estimate(rows, fingerprint="shadow").rate, estimate(rows, fingerprint="shadow").n)
    assert 200 == estimate(rows).n


def test_verdict_rows_alone_stand_for_their_own_traffic() -> None:
    """Without rows of all traffic the design weights count."""
    rows = [verdicts(90, 9, 1.0), verdicts(10, 5, 9.0, stratum="weak")]
    assert estimate(rows).rate == pytest.approx((9 + 45) / 180)


def test_bounds_take_every_unknown_for_good_or_bad() -> None:
    """5 of 100 known, 4 errors, 3 unclear, 3 pending: between 5 and 15 of 110."""
    counts = outcomes(grounded=95, hallucinated=5, error_model=4, unclear=3)
    rows = [traffic_tally(550), verdicts(100, 5, outcomes=counts, pending=3)]
    found = bounds(rows)
    assert (5 / 110, 15 / 110, 10) == pytest.approx((found.low, found.high, found.missing))


def test_bounds_without_failures_are_the_rate() -> None:
    """Nothing is unknown."""
    rows = [traffic_tally(500), verdicts(100, 5)]
    found = bounds(rows)
    assert (0.05, 0.05, 0) == pytest.approx((found.low, found.high, found.missing))


def test_bounds_of_nothing_are_everything() -> None:
    """No sample, or none with a label."""
    assert RateBounds(0.0, 1.0, 0) == bounds([])
    assert RateBounds(0.0, 1.0, 7) == bounds([traffic_tally(35), verdicts(0, 0, outcomes=outcomes(error_model=7))])


def test_claim_rate_counts_claims_and_answers() -> None:
    """(12 + 3) / 300 claims over 100 answers, with the interval of 100 answers."""
    rows = [
        traffic_tally(500),
        verdicts(100, 9, claims_scorable=300, claims_unsupported=12, claims_contradicted=3),
    ]
    found = claim_rate(rows)
    assert (0.05, *clopper_pearson(5, 100)) == pytest.approx((found.rate, found.low, found.high))
    assert 100 == found.n


def test_other_rates_have_their_own_denominators() -> None:
    """Of 100 verdicts; what the structural checks count, of 500 traces."""
    counts = outcomes(grounded=70, hallucinated=5, abstained=15, unresolved_truncated=6, error_timeout=4)
    rows = [
        traffic_tally(500, empty_retrieval=20, citation_failure=40),
        verdicts(75, 5, outcomes=counts, over_refusal=3),
    ]
    found = other_rates(rows)
    expected = {
        "abstained": 0.15,
        "over_refusal": 0.03,
        "unresolved": 0.06,
        "error": 0.04,
        "citation_failure": 0.08,
        "empty_retrieval": 0.04,
    }
    assert expected == pytest.approx({name: getattr(found, name).rate for name in expected})
    assert (100, 500) == (found.abstained.n, found.empty_retrieval.n)


def test_other_rates_of_nothing_are_unknown() -> None:
    """No rate is 0 without data."""
    found = other_rates([])
    assert (None, None) == (found.abstained.rate, found.empty_retrieval.rate)
