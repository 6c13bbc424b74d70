r"""Marks claims that are critical by the rules of the policy; patterns come from users, so RE2 matches them.

RE2 has no backtracking: no pattern can be slow on any text. It lacks look-around and back references, and its ``\b``,
``\d`` and ``\w`` know ASCII only.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import re2

from schemas.claim import Claim
from schemas.errors import ConfigError
from schemas.labels import RiskTier
from schemas.policy import CriticalRule, PolicyDocument

_MAX_PATTERN_CHARS = 1000
_MAX_PROGRAM_BYTES = 8 << 20


def mark_critical(
    claims: Sequence[Claim], rules: Sequence[CriticalRule], intent: str, tier: RiskTier
) -> tuple[Claim, ...]:
    """The claims, each factual one with the name of the first rule that matches it; earlier marks are replaced.

    Raises ConfigError for a pattern that ``check_rules`` would have refused.
    """
    compiled = [(rule.name, _compile(rule.pattern)) for rule in rules if _applies(rule, intent, tier)]
    return tuple(_marked(claim, compiled) for claim in claims)


def check_rules(policy: PolicyDocument) -> None:
    """Raise ConfigError, naming intent and rule, when a pattern of the policy cannot be used."""
    for intent, rules in policy.intents.items():
        for rule in rules.critical:
            try:
                _compile(rule.pattern)
            except ConfigError as error:
                raise ConfigError(f"intents.{intent}.critical, rule {rule.name!r}: {error}") from error


def _applies(rule: CriticalRule, intent: str, tier: RiskTier) -> bool:
    return (not rule.intents or intent in rule.intents) and (not rule.tiers or tier in rule.tiers)


def _marked(claim: Claim, compiled: Sequence[tuple[str, Any]]) -> Claim:
    name = ""
    if claim.is_factual and compiled:
        text = claim.text.encode("utf-8", "replace")  # lone surrogates cannot be encoded
        name = next((name for name, pattern in compiled if pattern.search(text)), "")
    return claim if name == claim.critical_rule else claim.model_copy(update={"critical_rule": name})


@lru_cache(maxsize=1024)
def _compile(pattern: str) -> Any:
    if len(pattern) > _MAX_PATTERN_CHARS:
        raise ConfigError(f"pattern of {len(pattern)} characters; shorten it to {_MAX_PATTERN_CHARS} or split the rule")
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = _MAX_PROGRAM_BYTES
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        raise ConfigError(
            f"pattern {pattern!r} is not valid RE2 syntax (no look-around or back references): {error}"
        ) from error
