"""Faults that a well-formed policy can still have: lines that can never apply, and values without meaning.

Such a policy would be obeyed to the letter and not do what its author meant, so it is refused.
"""

from collections.abc import Iterator

from sampling.effective import ANY
from sampling.policy_yaml import Path, dotted
from schemas.errors import ConfigError
from schemas.patterns import compile_pattern
from schemas.policy import REST, Allocation, IntentRules, PolicyDocument, StratumRule
from schemas.routes import Budget, Route
from schemas.sources import RestrictedSource

_MIN_CANARY_LETTERS = 4
Problems = Iterator[tuple[Path, str]]
"""Path, and fault with value and fix, as it follows the path in a message."""


def problems(document: PolicyDocument) -> Problems:
    """Everything that is wrong in a policy that has the right shape."""
    yield from _sampling_problems(document)
    for tier, bar in document.bars.items():
        if not 0 <= bar <= 1:
            yield ("bars", tier.value), f" = {bar}: a bar is a support score; give a number from 0 to 1"
    for intent, rules in document.intents.items():
        yield from _intent_problems(intent, rules, document)
    yield from _source_problems(document)
    yield from _route_problems(document)
    for index, phrase in enumerate(document.canaries):
        if sum(char.isalnum() for char in phrase) < _MIN_CANARY_LETTERS:
            fault = f" = {phrase!r}: answers would hold this by chance; give a phrase of 4 letters or more"
            yield ("canaries", index), fault
    for path, pattern in _patterns(document):
        if fault := _pattern_fault(pattern):
            yield path, f" = {pattern[:60]!r}: {fault}"


def check_patterns(document: PolicyDocument) -> None:
    """Raise ConfigError, naming key, value and fix, for a pattern that would fail when a trace meets it."""
    for path, pattern in _patterns(document):
        try:
            compile_pattern(pattern)
        except ConfigError as error:
            message = f"{dotted(path)} = {pattern[:60]!r}: {error}"
            raise ConfigError(message) from error


def _pattern_fault(pattern: str) -> str:
    try:
        is_in_any_text = compile_pattern(pattern).is_in("")
    except ConfigError as error:
        return str(error)
    return "it matches every text, even an empty one; write '.' if that is meant" if is_in_any_text else ""


def _patterns(document: PolicyDocument) -> Iterator[tuple[Path, str]]:
    for intent, rules in document.intents.items():
        for index, critical in enumerate(rules.critical):
            yield ("intents", intent, "critical", index, "pattern"), critical.pattern
    for index, restricted in enumerate(document.sources.restricted):
        yield ("sources", "restricted", index, "documents"), restricted.documents
    for index, source in enumerate(document.sources.trust):
        yield ("sources", "trust", index, "documents"), source.documents


def _sampling_problems(document: PolicyDocument) -> Problems:
    for index, rule in enumerate(document.sampling.strata):
        if fault := _rule_fault(rule):
            yield ("sampling", "strata", index), fault
    strata = [*(rule.name for rule in document.sampling.strata), REST]
    lines = document.sampling.allocations
    for index, line in enumerate(lines):
        path: Path = ("sampling", "allocations", index)
        if line.stratum not in {ANY, *strata}:
            yield (*path, "stratum"), f" = {line.stratum}: no such stratum; use '*' or one of {', '.join(strata)}"
        earlier = next((number for number, other in enumerate(lines[:index]) if _covers(other, line)), None)
        if earlier is not None:
            yield path, f" is never used: allocation {earlier} before it takes the same traces; put this one first"


def _rule_fault(rule: StratumRule) -> str:
    if not rule.model_dump(exclude={"name"}, exclude_none=True):
        return f" = {rule.name}: has no condition and would take every trace; add one, or leave it to 'rest'"
    low, high = rule.score_at_least, rule.score_below
    if low is not None and high is not None and low >= high:
        return f" = {rule.name}: no score is at least {low} and below {high}; swap them"
    if rule.has_no_citation is True and rule.citations_at_least is not None:
        return f" = {rule.name}: asks for no citation and for at least {rule.citations_at_least}; keep one"
    return ""


def _covers(general: Allocation, special: Allocation) -> bool:
    return _takes(general, special) and general.stratum in {ANY, special.stratum}


def _takes(general: Allocation | Route, special: Allocation | Route) -> bool:
    return general.intent in {ANY, special.intent} and general.tier in {None, special.tier}


def _route_problems(document: PolicyDocument) -> Problems:
    for index, route in enumerate(document.routes):
        path: Path = ("routes", index)
        earlier = next((number for number, other in enumerate(document.routes[:index]) if _takes(other, route)), None)
        if earlier is not None:
            yield path, f" is never used: route {earlier} before it takes the same answers; put this one first"
        if route.judge is not None and _is_nothing(route.budget, document.budget):
            fault = ": with a budget of 0 every claim that it is wanted for would be error:budget; leave the judge out"
            yield (*path, "judge"), fault
        rule = route.consistency
        if rule is not None and rule.may_resample and rule.temperature == 0:
            fault = " = 0: the model would give the same answer each time; use 0.3 to 1, or may_resample: false"
            yield (*path, "consistency", "temperature"), fault


def _is_nothing(*budgets: Budget) -> bool:
    return any(0 in {budget.usd_per_hour, budget.tokens_per_hour} for budget in budgets)


def _intent_problems(intent: str, rules: IntentRules, document: PolicyDocument) -> Problems:
    own = document.intents.keys() - {ANY}
    for index, critical in enumerate(rules.critical):
        reached = [name for name in critical.intents if (name not in own if intent == ANY else name == intent)]
        if critical.intents and not reached:
            path: Path = ("intents", intent, "critical", index, "intents")
            where = "these have rules of their own; put it there" if intent == ANY else "leave the list out"
            yield path, f" = {', '.join(critical.intents)}: the rule is never used here; {where}"
    for name, text in (("abstain", rules.fallbacks.abstain), ("hold_for_review", rules.fallbacks.hold_for_review)):
        if text and not text.strip():
            yield ("intents", intent, "fallbacks", name), " is blank; leave it out for the default text"


def _source_problems(document: PolicyDocument) -> Problems:
    sources = document.sources
    for index, restricted in enumerate(sources.restricted):
        yield from _restricted_problems(index, restricted)
    seen: dict[str, int] = {}
    for index, source in enumerate(sources.trust):
        first = seen.setdefault(source.documents, index)
        if first != index:
            fault = f" is never used: trust rule {first} before it has the same documents; keep one"
            yield ("sources", "trust", index), fault


def _restricted_problems(index: int, restricted: RestrictedSource) -> Problems:
    lists = (("tenants", restricted.tenants), ("roles", restricted.roles))
    for name, values in lists:
        if any(not value.strip() for value in values):
            path: Path = ("sources", "restricted", index, name)
            yield path, " holds an empty name, which every trace has that names none; leave it out"
