"""Failed cases in groups that one person can look into: the same part of the product, the same fault, with owners."""

from collections import defaultdict
from collections.abc import Iterable

from detectors.gate.results import CaseResult, Diagnosis, Fault
from schemas.base import Record
from schemas.labels import RiskTier, Severity

MOST_EXAMPLES = 3
_TIERS = tuple(RiskTier)
_SEVERITIES = tuple(Severity)


class Example(Record):
    """A case to begin with; question, answer and detail are untrusted text."""

    case_id: str
    intent: str
    tier: RiskTier
    question: str
    answer: str
    detail: str


class Bucket(Record):
    """Cases with one diagnosis and one main fault, and their owners, the most concerned first; worst examples first."""

    diagnosis: Diagnosis
    fault: Fault
    owners: tuple[str, ...]
    cases: tuple[str, ...]
    examples: tuple[Example, ...]


def buckets_of(results: Iterable[CaseResult]) -> tuple[Bucket, ...]:
    """The cases that have a reason, by diagnosis and the fault that decided it; the largest group first."""
    groups: dict[tuple[Diagnosis, Fault], list[CaseResult]] = defaultdict(list)
    for result in results:
        if result.reasons:
            groups[result.reasons[0].diagnosis, result.reasons[0].fault].append(result)
    made = [_bucket(diagnosis, fault, found) for (diagnosis, fault), found in groups.items()]
    return tuple(sorted(made, key=lambda bucket: (-len(bucket.cases), bucket.diagnosis, bucket.fault)))


def _bucket(diagnosis: Diagnosis, fault: Fault, found: list[CaseResult]) -> Bucket:
    worst = sorted(found, key=_badness)
    owned: dict[str, int] = defaultdict(int)
    for result in found:
        owned[result.owner] += 1
    return Bucket(
        diagnosis=diagnosis,
        fault=fault,
        owners=tuple(sorted((name for name in owned if name), key=lambda name: (-owned[name], name))),
        cases=tuple(result.case_id for result in worst),
        examples=tuple(_example(result) for result in worst[:MOST_EXAMPLES]),
    )


def _badness(result: CaseResult) -> tuple[int, int, float, str]:
    """High tiers first, then severe failures, then the least supported claim."""
    severity = -1 if result.severity is None else _SEVERITIES.index(result.severity)
    return -_TIERS.index(result.tier), -severity, 1.0 if result.score is None else result.score, result.case_id


def _example(result: CaseResult) -> Example:
    return Example(
        case_id=result.case_id,
        intent=result.intent,
        tier=result.tier,
        question=result.question,
        answer=result.answer,
        detail=result.reasons[0].detail,
    )
