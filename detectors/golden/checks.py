"""Faults that a set of well-formed cases can still have: leaks over split borders, labels that deny each other.

A fault makes a measured number wrong and has to be mended; a doubt is worth a look.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from detectors.golden.answers import answer_problems, pair_problems
from detectors.golden.leaks import leak_problems
from detectors.golden.lock import HoldoutLock, breaches
from detectors.golden.near import SIMILARITY
from detectors.golden.problem import Problem, fault
from detectors.golden.sets import GoldenSet
from detectors.golden.sources import source_problems
from schemas.golden import GoldenCase
from schemas.labels import RiskTier
from schemas.policy import PolicyDocument
from schemas.trace import UNMAPPED


@dataclass(frozen=True, slots=True)
class Expected:
    """What a set is checked against beside itself; ``intents`` and ``tiers`` are those of a policy, None: any."""

    now: datetime
    lock: HoldoutLock | None = None
    intents: frozenset[str] | None = None
    tiers: frozenset[RiskTier] | None = None
    similarity: float = field(default=SIMILARITY)


def named_in(policy: PolicyDocument) -> tuple[frozenset[str] | None, frozenset[RiskTier] | None]:
    """Intents and tiers that a policy has rules, allocations or bars for; None where it names none: all are alike."""
    lines = policy.sampling.allocations
    intents = {*policy.intents, *(line.intent for line in lines)} - {"*"}
    tiers = {*policy.bars, *(line.tier for line in lines if line.tier is not None)}
    return frozenset(intents) or None, frozenset(tiers) or None


def problems_of(golden: GoldenSet, expected: Expected) -> list[Problem]:
    """Everything that is wrong or doubtful in a set, by line; nothing when it is fit to be measured on."""
    found = [
        problem for place, case in enumerate(golden.cases) for problem in _of_case(case, golden.line(place), expected)
    ]
    found += pair_problems(golden)
    found += leak_problems(golden, expected.similarity)
    found += _of_lock(golden, expected.lock)
    return sorted(found, key=lambda problem: (problem.line, problem.is_doubt))


def _of_case(case: GoldenCase, line: int, expected: Expected) -> Iterator[Problem]:
    yield from source_problems(case, line)
    yield from answer_problems(case, line, expected.now)
    if expected.intents is not None and case.intent not in {*expected.intents, UNMAPPED}:
        known = ", ".join(sorted(expected.intents))
        yield fault(case, line, "intent", f"{case.intent!r} is not in the policy; use one of {known}, or add it there")
    if expected.tiers is not None and case.tier not in expected.tiers:
        known = ", ".join(sorted(expected.tiers))
        yield fault(
            case, line, "tier", f"the policy says nothing of {case.tier.value!r}, only of {known}; add it there"
        )


def _of_lock(golden: GoldenSet, lock: HoldoutLock | None) -> Iterator[Problem]:
    lines = {case.case_id: golden.line(place) for place, case in enumerate(golden.cases)}
    for breach in breaches(golden, lock):
        told = (
            f"the case was {breach.kind} after the hold-out was locked; bring it back, or `golden lock --unlock REASON`"
        )
        yield Problem(lines.get(breach.case_id, 0), breach.case_id, "split", told)
