"""Faults that a well-formed policy can still have: lines that can never apply, and values without meaning.

Such a policy would be obeyed to the letter and not do what its author meant, so it is refused.
"""

import re
from collections.abc import Iterator

from sampling.effective import ANY
from sampling.policy_yaml import Path
from schemas.policy import REST, Allocation, PolicyDocument, StratumRule


def problems(document: PolicyDocument) -> Iterator[tuple[Path, str]]:
    """Path and fault (with value and fix) of everything that is wrong in a policy that has the right shape."""
    for index, rule in enumerate(document.sampling.strata):
        if fault := _rule_fault(rule):
            yield ("sampling", "strata", index), fault
    yield from _allocation_problems(document)
    for tier, bar in document.bars.items():
        if not 0 <= bar <= 1:
            yield ("bars", tier.value), f" = {bar}: a bar is a support score; give a number from 0 to 1"
    for intent, rules in document.intents.items():
        for index, critical in enumerate(rules.critical):
            try:
                re.compile(critical.pattern, re.IGNORECASE)
            except re.error as error:
                path: Path = ("intents", intent, "critical", index, "pattern")
                yield path, f" = {critical.pattern!r}: not a regular expression ({error}); escape special characters"


def _rule_fault(rule: StratumRule) -> str:
    if not rule.model_dump(exclude={"name"}, exclude_none=True):
        return f" = {rule.name}: has no condition and would take every trace; add one, or leave it to 'rest'"
    low, high = rule.score_at_least, rule.score_below
    if low is not None and high is not None and low >= high:
        return f" = {rule.name}: no score is at least {low} and below {high}; swap them"
    if rule.has_no_citation is True and rule.citations_at_least is not None:
        return f" = {rule.name}: asks for no citation and for at least {rule.citations_at_least}; keep one"
    return ""


def _allocation_problems(document: PolicyDocument) -> Iterator[tuple[Path, str]]:
    strata = [*(rule.name for rule in document.sampling.strata), REST]
    lines = document.sampling.allocations
    for index, line in enumerate(lines):
        path: Path = ("sampling", "allocations", index)
        if line.stratum not in {ANY, *strata}:
            yield (*path, "stratum"), f" = {line.stratum}: no such stratum; use '*' or one of {', '.join(strata)}"
        earlier = next((number for number, other in enumerate(lines[:index]) if _covers(other, line)), None)
        if earlier is not None:
            yield path, f" is never used: allocation {earlier} before it takes the same traces; put this one first"


def _covers(general: Allocation, special: Allocation) -> bool:
    return (
        general.intent in {ANY, special.intent}
        and general.tier in {None, special.tier}
        and general.stratum in {ANY, special.stratum}
    )
