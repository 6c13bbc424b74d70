"""What another policy would change, as the person who is about to publish it must see it."""

from typing import Any

import pytest

from sampling.policy_diff import CellTraffic, PolicyDiff, diff_policies
from sampling.policy_file import default_policy
from schemas.labels import RiskTier
from schemas.policy import (
    Allocation,
    CriticalRule,
    Fallbacks,
    IntentRules,
    Overlay,
    PolicyDocument,
    Sampling,
    StratumRule,
    Thresholds,
)
from schemas.routes import JudgeRule, Route
from tests.builders import NOW, policy

WEAK = StratumRule(name="weak", score_below=0.4)
TRAFFIC = [
    CellTraffic(intent="refunds", tier=RiskTier.HIGH, stratum="rest", traces_per_day=1000),
    CellTraffic(intent="billing", tier=RiskTier.HIGH, stratum="rest", traces_per_day=200),
    CellTraffic(intent="billing", tier=RiskTier.LOW, stratum="weak", traces_per_day=50),
]


def sampled(*lines: Allocation, default: float = 0.2, strata: tuple[StratumRule, ...] = (WEAK,)) -> PolicyDocument:
    """A policy of these allocations."""
    return policy(sampling=Sampling(strata=strata, allocations=lines, default_probability=default))


def cells(diff: PolicyDiff) -> dict[tuple[str, str, str], tuple[float | None, float | None]]:
    """Changed probabilities by cell."""
    return {(c.intent, c.tier.value, c.stratum): (c.before, c.after) for c in diff.probabilities}


@pytest.mark.parametrize("document", [policy(), default_policy()])
def test_equal_policies_differ_in_nothing(document: PolicyDocument) -> None:
    """Not even in how many are verified."""
    diff = diff_policies(document, document, TRAFFIC)
    assert diff.is_empty
    assert diff.checks_per_day is not None
    assert diff.checks_per_day[0] == diff.checks_per_day[1]


def test_a_moved_threshold_starts_a_new_series() -> None:
    """And nothing else does."""
    diff = diff_policies(policy(), policy(thresholds=Thresholds(supported=0.8)))
    assert [("thresholds.supported", 0.7, 0.8)] == [(c.path, c.before, c.after) for c in diff.thresholds]
    assert diff.starts_new_series
    moved = diff_policies(policy(), policy(bars={RiskTier.HIGH: 0.9}))
    assert not moved.starts_new_series
    assert ["bars.high"] == [change.path for change in moved.other]


def test_routes_are_compared_by_the_answers_that_they_take() -> None:
    """Added, changed and removed whole, and what they leave at its default is not shown; an order that moved counts."""
    first, second = Route(intent="refunds", tier=RiskTier.HIGH), Route(models=False)
    judged = Route(intent="refunds", tier=RiskTier.HIGH, judge=JudgeRule(band_low=0.2))

    found = diff_policies(policy(routes=(first,)), policy(routes=(judged, second)))

    assert [("routes.refunds/high", {}, {"judge": {"band_low": 0.2}}), ("routes.*/*", None, {"models": False})] == [
        (change.path, change.before, change.after) for change in found.routes
    ]
    assert (False, ()) == (found.is_empty, found.other)
    low, high = Route(tier=RiskTier.LOW), Route(tier=RiskTier.HIGH)
    moved = diff_policies(policy(routes=(low, high)), policy(routes=(high, low)))
    assert ["routes.order"] == [change.path for change in moved.routes]


def test_probabilities_are_compared_as_they_come_out_whatever_the_lines() -> None:
    """Lines written in another way that mean the same are no change."""
    before = sampled(Allocation(tier=RiskTier.HIGH, probability=1.0))
    same = sampled(Allocation(tier=RiskTier.HIGH, stratum="weak", probability=1.0), *before.sampling.allocations)
    assert diff_policies(before, same).is_empty
    after = sampled(Allocation(intent="billing", tier=RiskTier.HIGH, probability=0.5), *before.sampling.allocations)
    assert {("billing", "high", "weak"): (1.0, 0.5), ("billing", "high", "rest"): (1.0, 0.5)} == cells(
        diff_policies(before, after)
    )


def test_expected_checks_follow_from_traffic() -> None:
    """Traffic times π, over all traffic; the changed cells say how much passes through them."""
    after = sampled(Allocation(intent="billing", tier=RiskTier.HIGH, probability=1.0))
    diff = diff_policies(sampled(), after, TRAFFIC)
    assert pytest.approx((250.0, 410.0)) == diff.checks_per_day
    assert {"rest": 200.0, "weak": 0.0} == {c.stratum: c.traces_per_day for c in diff.probabilities}
    assert diff_policies(sampled(), after).checks_per_day is None


def test_traffic_of_intents_that_no_line_names_counts_under_the_star() -> None:
    """Both intents of the traffic are meant by ``*`` here."""
    diff = diff_policies(sampled(), sampled(default=0.5), TRAFFIC)
    known = {(c.intent, c.tier.value, c.stratum): c.traces_per_day for c in diff.probabilities}
    assert (1200.0, 50.0) == (known["*", "high", "rest"], known["*", "low", "weak"])


def test_a_stratum_that_goes_leaves_an_estimate_that_says_so() -> None:
    """Its traffic is reckoned as rest."""
    after = sampled(Allocation(stratum="rest", probability=0.1), strata=())
    diff = diff_policies(sampled(), after, TRAFFIC)
    assert diff.is_approximate
    assert ["sampling.strata.weak"] == [change.path for change in diff.strata]
    assert (0.2, None) == cells(diff)["*", "low", "weak"]
    assert pytest.approx((250.0, 0.1 * 1250)) == diff.checks_per_day


def test_the_order_of_strata_is_a_change() -> None:
    """The first that matches counts."""
    other = StratumRule(name="bare", has_no_citation=True)
    diff = diff_policies(sampled(strata=(WEAK, other)), sampled(strata=(other, WEAK)))
    assert [(["weak", "bare"], ["bare", "weak"])] == [(change.before, change.after) for change in diff.strata]


def rules(*names_and_patterns: tuple[str, str], **fields: Any) -> PolicyDocument:
    """A policy with these critical rules for every intent."""
    critical = tuple(CriticalRule(name=name, pattern=pattern) for name, pattern in names_and_patterns)
    return policy(intents={"*": IntentRules(critical=critical, **fields)})


def test_rules_are_added_removed_and_changed_by_name() -> None:
    """Rules of one name are told apart by their place."""
    diff = diff_policies(
        rules(("date", "a"), ("date", "b"), ("dose", "mg")), rules(("date", "a"), ("date", "c"), ("amount", "EUR"))
    )
    assert [
        ("intents.*.critical.date#2", {"pattern": "b"}, {"pattern": "c"}),
        ("intents.*.critical.dose", {"pattern": "mg"}, None),
        ("intents.*.critical.amount", None, {"pattern": "EUR"}),
    ] == [(change.path, change.before, change.after) for change in diff.rules]


def test_texts_phrases_and_names_are_listed_too() -> None:
    """Whatever a policy holds, a change of it shows."""
    after = rules(fallbacks=Fallbacks(abstain="Ask us.")).model_copy(update={"canaries": ("bait",), "name": "new"})
    diff = diff_policies(rules(), after)
    assert {"name", "canaries.bait", "intents.*.fallbacks.abstain"} == {change.path for change in diff.other}


def test_overlays_stay_over_both() -> None:
    """A surge that holds now holds after the change, too."""
    surge = [("s1", Overlay(reason="surge", until=NOW, intent="billing", at_least=1.0))]
    diff = diff_policies(sampled(), sampled(default=0.4), TRAFFIC, surge)
    assert "billing" not in {cell.intent for cell in diff.probabilities}
    assert pytest.approx((200.0 + 250, 400.0 + 250)) == diff.checks_per_day
