"""Marks claims that are critical by the rules of the policy; a mark is made anew under each policy."""

from collections.abc import Sequence

from schemas.claim import Claim
from schemas.errors import ConfigError
from schemas.labels import RiskTier
from schemas.patterns import Pattern, compile_pattern
from schemas.policy import CriticalRule, PolicyDocument


def mark_critical(
    claims: Sequence[Claim], rules: Sequence[CriticalRule], intent: str, tier: RiskTier
) -> tuple[Claim, ...]:
    """The claims, each factual one with the name of the first rule that matches it; earlier marks are replaced.

    Raises ConfigError for a pattern that ``check_rules`` would have refused.
    """
    compiled = [(rule.name, compile_pattern(rule.pattern)) for rule in rules if _applies(rule, intent, tier)]
    return tuple(_marked(claim, compiled) for claim in claims)


def check_rules(policy: PolicyDocument) -> None:
    """Raise ConfigError, naming intent and rule, when a pattern of the policy cannot be used."""
    for intent, rules in policy.intents.items():
        for rule in rules.critical:
            try:
                compile_pattern(rule.pattern)
            except ConfigError as error:
                raise ConfigError(f"intents.{intent}.critical, rule {rule.name!r}: {error}") from error


def _applies(rule: CriticalRule, intent: str, tier: RiskTier) -> bool:
    return (not rule.intents or intent in rule.intents) and (not rule.tiers or tier in rule.tiers)


def _marked(claim: Claim, compiled: Sequence[tuple[str, Pattern]]) -> Claim:
    name = ""
    if claim.is_factual and compiled:
        name = next((name for name, pattern in compiled if pattern.is_in(claim.text)), "")
    return claim if name == claim.critical_rule else claim.model_copy(update={"critical_rule": name})
