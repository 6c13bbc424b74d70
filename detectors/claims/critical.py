"""Marks claims that are critical by the rules of the policy; a mark is made anew under each policy."""

from collections.abc import Sequence

from schemas.claim import Claim
from schemas.labels import RiskTier
from schemas.patterns import Pattern, compile_any, compile_pattern
from schemas.policy import CriticalRule


def mark_critical(
    claims: Sequence[Claim], rules: Sequence[CriticalRule], intent: str, tier: RiskTier
) -> tuple[Claim, ...]:
    """The claims, each factual one with the name of the first rule that matches it; earlier marks are replaced.

    A part of a sentence is matched with its subject.

    Raises ConfigError for a pattern that cannot run; the policy log lets none in.
    """
    compiled = [(rule.name, compile_pattern(rule.pattern)) for rule in rules if _applies(rule, intent, tier)]
    hint = compile_any(tuple(pattern.source for _, pattern in compiled)) if compiled else None
    return tuple(_marked(claim, compiled, hint) for claim in claims)


def _applies(rule: CriticalRule, intent: str, tier: RiskTier) -> bool:
    return (not rule.intents or intent in rule.intents) and (not rule.tiers or tier in rule.tiers)


def _marked(claim: Claim, compiled: Sequence[tuple[str, Pattern]], hint: Pattern | None) -> Claim:
    name = ""
    if claim.is_factual and compiled and (hint is None or hint.is_in(claim.statement)):
        name = next((name for name, pattern in compiled if pattern.is_in(claim.statement)), "")
    return claim if name == claim.critical_rule else claim.model_copy(update={"critical_rule": name})
