"""Results of many cases in numbers, with intervals: a small golden set must not be read as if it were a large one."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from detectors.gate import DEPTHS, CaseResult, Diagnosis, Retrieval, Status
from sampling.intervals import clopper_pearson
from schemas.base import Record
from schemas.labels import Outcome, RiskTier


class Share(Record):
    """A share of ``n`` with its exact 95 % interval (Clopper and Pearson); ``value`` is None where n is 0."""

    count: int
    n: int
    value: float | None
    low: float
    high: float


class RetrievalMeans(Record):
    """Means over the ``n`` cases with gold passages; ``precision`` over those where anything was retrieved."""

    n: int
    precision: float | None = None
    recall_at: dict[int, float]
    mrr: float


class Summary(Record):
    """The cases of a tier, of a slice (intent and tier), or all of them (neither is set)."""

    intent: str | None = None
    tier: RiskTier | None = None
    cases: int
    passed: int
    failed: int
    unclear: int
    errors: int
    missing: int
    """Part of ``failed``."""
    diagnoses: dict[Diagnosis, int]
    """Of the cases that failed."""
    hallucinated: Share
    """Of the grounded and hallucinated answers."""
    failing: Share
    """Of the passed and failed cases."""
    contradicted_critical: int
    retrieval: RetrievalMeans | None = None


def summarise(results: Iterable[CaseResult], intent: str | None = None, tier: RiskTier | None = None) -> Summary:
    """The numbers of the results that belong to an intent and a tier, where these are given."""
    own = [result for result in results if intent in {None, result.intent} and tier in {None, result.tier}]
    by_status = {status: sum(result.status is status for result in own) for status in Status}
    failed = [result for result in own if result.status is Status.FAILED]
    judged = [result for result in own if result.outcome is not None and result.outcome.is_judged]
    wrong = sum(result.outcome is Outcome.HALLUCINATED for result in judged)
    found = [result.diagnosis for result in failed]
    return Summary(
        intent=intent,
        tier=tier,
        cases=len(own),
        passed=by_status[Status.PASSED],
        failed=len(failed),
        unclear=by_status[Status.UNCLEAR],
        errors=by_status[Status.ERROR],
        missing=found.count(Diagnosis.MISSING),
        diagnoses={diagnosis: found.count(diagnosis) for diagnosis in Diagnosis if diagnosis in found},
        hallucinated=share(wrong, len(judged)),
        failing=share(len(failed), len(failed) + by_status[Status.PASSED]),
        contradicted_critical=sum(result.contradicted_critical for result in own),
        retrieval=_means([result.retrieval for result in own if result.retrieval is not None]),
    )


def share(count: int, n: int) -> Share:
    """``count`` of ``n`` with its interval."""
    low, high = clopper_pearson(count, n)
    return Share(count=count, n=n, value=count / n if n else None, low=low, high=high)


def slices_of(results: Iterable[CaseResult]) -> list[tuple[str, RiskTier]]:
    """The slices that occur, by name."""
    return sorted({(result.intent, result.tier) for result in results})


def _means(found: Sequence[Retrieval]) -> RetrievalMeans | None:
    if not found:
        return None
    precisions = [one.precision for one in found if one.precision is not None]
    return RetrievalMeans(
        n=len(found),
        precision=fmean(precisions) if precisions else None,
        recall_at={depth: fmean(one.recall_at[depth] for one in found) for depth in DEPTHS},
        mrr=fmean(one.reciprocal_rank for one in found),
    )
