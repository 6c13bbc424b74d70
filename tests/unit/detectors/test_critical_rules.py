"""Rules that make a claim critical."""

import pytest

from detectors.claims import mark_critical, split_claims
from schemas.labels import RiskTier
from schemas.policy import CriticalRule

AMOUNT = CriticalRule(name="amount", pattern=r"[$€]\s*\d")
MUST = CriticalRule(name="must", pattern=r"\bmust\b", tiers=(RiskTier.HIGH,))


def test_the_first_matching_rule_is_named() -> None:
    """Matching ignores case; claims that state nothing are never critical."""
    claims = split_claims("You MUST pay $5. It is blue. Must I pay?")

    marked = mark_critical(claims, [AMOUNT, MUST], "billing", RiskTier.HIGH)

    assert ["amount", "", ""] == [claim.critical_rule for claim in marked]


@pytest.mark.parametrize(
    ("intent", "tier", "expected"),
    [("billing", RiskTier.HIGH, "r"), ("other", RiskTier.HIGH, ""), ("billing", RiskTier.LOW, "")],
)
def test_a_rule_holds_in_its_intents_and_tiers_only(intent: str, tier: RiskTier, expected: str) -> None:
    """Empty lists mean everywhere, others exactly what they list."""
    rule = CriticalRule(name="r", pattern="day", intents=("billing",), tiers=(RiskTier.HIGH,))

    assert expected == mark_critical(split_claims("It takes 5 days."), [rule], intent, tier)[0].critical_rule


def test_marks_of_an_earlier_policy_are_replaced() -> None:
    """The rules given are the rules in force."""
    claims = mark_critical(split_claims("Pay $5."), [AMOUNT], "billing", RiskTier.LOW)

    assert "" == mark_critical(claims, [], "billing", RiskTier.LOW)[0].critical_rule


def test_a_hostile_pattern_is_not_slow() -> None:
    """Nested repeats would keep a backtracking engine busy for longer than any test may take."""
    rule = CriticalRule(name="evil", pattern="(a+)+$")
    claims = split_claims("a" * 50_000 + "b")

    assert [""] == [claim.critical_rule for claim in mark_critical(claims, [rule], "x", RiskTier.LOW)]


@pytest.mark.parametrize("text", ["Pay \ud83d $5", "Pay \x00 $5", "Pay é $5"])
def test_any_text_can_be_matched(text: str) -> None:
    """Lone surrogates, NUL and non-ASCII text are only text."""
    assert "amount" == mark_critical(split_claims(text), [AMOUNT], "x", RiskTier.LOW)[0].critical_rule
