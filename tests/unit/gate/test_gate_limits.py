"""Limits as people write them, and whether a run keeps them."""

from typing import Any

import pytest

from detectors.gate import CaseResult, CitationRule, Diagnosis, Fault, Status, buckets_of, measure
from schemas.errors import ConfigError
from schemas.labels import Outcome, RiskTier, Severity
from streams.gate.comparison import compare
from streams.gate.gates import GateResult, gate_results
from streams.gate.limits import Bound, limits_of
from streams.gate.summary import summarise
from tests.builders import trace
from tests.builders_gate import case_result, reason
from tests.builders_golden import golden_case


def many(passed: int, failed: int = 0, tier: RiskTier = RiskTier.MEDIUM) -> list[CaseResult]:
    """So many of each."""
    states = [Status.PASSED] * passed + [Status.FAILED] * failed
    return [case_result(f"c-{number}", status, tier=tier) for number, status in enumerate(states)]


def gate(results: list[CaseResult], name: str, text: str = "", before: list[CaseResult] | None = None) -> GateResult:
    """One gate over results of a tier."""
    comparison = None if before is None else compare(before, results)
    return next(one for one in gate_results(results, limits_of(text), comparison) if one.gate == name)


def test_the_defaults_are_strict_in_the_high_tier() -> None:
    """As the page says."""
    limits = limits_of()
    high, low = limits.tiers[RiskTier.HIGH], limits.tiers[RiskTier.LOW]
    assert (0, 0, 0, True) == (
        high.max_hallucinated,
        high.max_contradicted_critical,
        high.max_regressions,
        high.unclear_fails,
    )
    assert (0.05, None, None, False) == (
        low.max_hallucinated,
        low.max_contradicted_critical,
        low.max_regressions,
        low.unclear_fails,
    )
    assert (0.05, None) == (limits.significance, limits.max_regressions)


def test_the_nearest_word_about_a_tier_wins() -> None:
    """Your tier, your every_tier, the defaults of the tier, those of all; options over everything; null is no limit."""
    text = "every_tier:\n  max_hallucinated: 0.2\n  citations: never\ntiers:\n  high:\n    max_hallucinated: null\n"
    limits = limits_of(text, {"max_regressions": 3, "max_hallucinated": None})
    found = [(limits.tiers[tier].max_hallucinated, limits.tiers[tier].max_regressions) for tier in RiskTier]
    assert [(0.2, 3), (0.2, 3), (None, 3)] == found
    assert {CitationRule.NEVER} == {rules.citations for rules in limits.rules().values()}
    assert limits_of("significance: null\n").significance is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("every_tier:\n  max_halucinated: 0.1\n", "line 2: every_tier.max_halucinated is not a key; did you mean"),
        ("tiers:\n  highest: {}\n", "line 2: tiers.highest"),
        ("tiers:\n  high:\n    max_failed: 5\n", "line 3: tiers.high.max_failed = 5: input should be less than"),
        ("xyz: {}\n", "line 1: xyz is not a key; known keys: every_tier, max_regressions, significance, tiers"),
        ("- 1\n", "line 1: a file of gates is a mapping"),
        ("every_tier:\n  bound: middle\n", "line 2: every_tier.bound"),
    ],
)
def test_faults_name_line_and_key(text: str, says: str) -> None:
    """A misspelt limit would hold nobody up."""
    with pytest.raises(ConfigError, match=says.replace("(", r"\(").replace("[", r"\[")):
        limits_of(text)


def test_small_sets_are_told_from_large_ones() -> None:
    """Nothing wrong among five is no proof of 5 %; among a hundred it is."""
    few, enough = gate(many(5), "max_hallucinated"), gate(many(100), "max_hallucinated")
    assert (True, "too few cases to be sure of it") == (few.is_passed, few.note)
    assert (True, "") == (enough.is_passed, enough.note)
    assert (0.0, 5) == (few.value, few.n)
    assert few.high == pytest.approx(1 - 0.025 ** (1 / 5))


def test_an_upper_bound_needs_enough_cases() -> None:
    """72 without a fault for 5 %; nothing judged does not pass either."""
    upper = "every_tier:\n  bound: upper\n"
    assert [False, True] == [gate(many(n), "max_hallucinated", upper).is_passed for n in (71, 72)]
    abstained = [case_result(outcome=Outcome.ABSTAINED)]
    assert Bound.UPPER is limits_of(upper).tiers[RiskTier.LOW].bound
    assert [False, True] == [gate(abstained, "max_hallucinated", text).is_passed for text in (upper, "")]


def test_shares_above_their_limit_fail() -> None:
    """Errors and unclear cases are in neither count."""
    mixed = [*many(9, 1), case_result("e", Status.ERROR), case_result("u", Status.UNCLEAR)]
    found = gate(mixed, "max_hallucinated")
    assert (False, 0.1, 10) == (found.is_passed, found.value, found.n)
    assert (False, 0.1) == (
        (failed := gate(mixed, "max_failed", "every_tier: {max_failed: 0.05}")).is_passed,
        failed.value,
    )


def test_counts_fail_above_their_limit() -> None:
    """One missing answer, one error, one contradicted critical claim."""
    missing = case_result("m", Status.FAILED, reasons=(reason(Fault.MISSING, Diagnosis.MISSING),), diagnosis="missing")
    high: dict[str, Any] = {"tier": RiskTier.HIGH}
    assert not gate([*many(3), missing], "max_missing").is_passed
    assert not gate([*many(3), case_result("e", Status.ERROR)], "max_errors").is_passed
    assert gate([*many(3), case_result("e", Status.ERROR)], "max_errors", "every_tier: {max_errors: 1}").is_passed
    assert not gate([case_result(contradicted_critical=1, **high)], "max_contradicted_critical").is_passed
    assert gate([case_result(**high)], "max_contradicted_critical").is_passed


def test_recall_that_was_asked_for_must_be_measured() -> None:
    """Without gold passages the gate fails and says why."""
    text = "every_tier: {min_recall_at_5: 1.0, min_mrr: 0.5}"
    found = measure(golden_case(), trace())
    assert [True, True] == [
        gate([case_result(retrieval=found)], name, text).is_passed for name in ("min_recall_at_5", "min_mrr")
    ]
    none = gate([case_result()], "min_recall_at_5", text)
    assert (False, None) == (none.is_passed, none.value)
    assert "no case of this tier names gold passages" in none.note


def test_regressions_need_a_baseline() -> None:
    """And count newly failed cases of the tier alone."""
    text = "max_regressions: 0\nevery_tier: {max_regressions: 0}"
    without = {one.gate for one in gate_results(many(3), limits_of(text), None)}
    assert {"max_regressions", "significance"}.isdisjoint(without)
    found = gate_results(many(2, 1), limits_of(text), compare(many(3), many(2, 1)))
    assert [(None, False, 1), (RiskTier.MEDIUM, False, 1)] == [
        (one.tier, one.is_passed, one.value) for one in found if one.gate == "max_regressions"
    ]


def test_only_a_change_for_the_worse_is_held_up_as_significant() -> None:
    """Six of six cases lost: p = 0.03; five: 0.06."""
    passed, failed = many(10), many(0, 10)
    assert [False, True] == [gate([*failed[:n], *passed[n:]], "significance", before=passed).is_passed for n in (6, 5)]
    assert gate(passed, "significance", before=failed).is_passed


def test_tiers_without_a_case_have_no_gates() -> None:
    """There is nothing to say about them."""
    assert {RiskTier.MEDIUM} == {one.tier for one in gate_results(many(3), limits_of(), None)}


def test_numbers_of_a_slice() -> None:
    """Counted by status, diagnosis and slice."""
    other = case_result("o", Status.FAILED, intent="fees")
    results = [*many(2, 1), other, case_result("e", Status.ERROR), case_result("u", Status.UNCLEAR)]
    whole, fees = summarise(results), summarise(results, "fees", RiskTier.MEDIUM)
    assert (6, 2, 2, 1, 1, 0) == (whole.cases, whole.passed, whole.failed, whole.unclear, whole.errors, whole.missing)
    assert {Diagnosis.GENERATION: 2} == whole.diagnoses
    assert (1, 1, 1.0) == (fees.cases, fees.failed, fees.hallucinated.value)


def test_buckets_name_owners_and_begin_with_the_worst() -> None:
    """By diagnosis and the fault that decided it; the largest first, high tiers first within."""
    cited = (reason(Fault.CITATION_UNKNOWN, Diagnosis.CITATION),)
    results = [
        case_result("z", Status.FAILED, reasons=cited, diagnosis="citation", owner=""),
        case_result("a", Status.FAILED, severity=Severity.LOW, owner="sales"),
        case_result("b", Status.FAILED, severity=Severity.HIGH),
        case_result("c", Status.FAILED, severity=Severity.HIGH, score=0.1),
        case_result("d", Status.FAILED, tier=RiskTier.HIGH),
        case_result("passed"),
    ]
    first, second = buckets_of(results)
    assert (Diagnosis.GENERATION, ("d", "c", "b", "a"), ("support", "sales")) == (
        first.diagnosis,
        first.cases,
        first.owners,
    )
    assert ["d", "c", "b"] == [one.case_id for one in first.examples]
    assert (Fault.CITATION_UNKNOWN, ()) == (second.fault, second.owners)
