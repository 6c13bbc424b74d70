"""Whether the limits are kept, gate by gate, with the interval behind each share and a word where the set is small."""

from collections.abc import Iterator, Sequence

from detectors.gate import CaseResult
from schemas.base import Record
from schemas.labels import RiskTier
from streams.gate.comparison import Comparison
from streams.gate.limits import Bound, Limits, TierLimits
from streams.gate.summary import Share, Summary, summarise

_RECALL = ((1, "min_recall_at_1"), (3, "min_recall_at_3"), (5, "min_recall_at_5"), (10, "min_recall_at_10"))


class GateResult(Record):
    """One limit; ``tier`` is None for those over all cases. ``value`` is None where there was nothing to measure.

    ``low`` and ``high`` are set for shares: their 95 % interval over ``n``.
    """

    gate: str
    tier: RiskTier | None = None
    is_passed: bool
    limit: float
    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    note: str = ""


def gate_results(
    results: Sequence[CaseResult], limits: Limits, comparison: Comparison | None
) -> tuple[GateResult, ...]:
    """Every limit that is set, over all cases and then by tier, high first; tiers without a case are left out.

    Limits of regressions need a comparison, and are left out without one.
    """
    found = list(_whole(limits, comparison)) if comparison else []
    for tier in reversed(RiskTier):
        summary = summarise(results, tier=tier)
        if summary.cases:
            found += _of_tier(tier, limits.tiers[tier], summary, comparison)
    return tuple(found)


def _whole(limits: Limits, comparison: Comparison) -> Iterator[GateResult]:
    whole = comparison.whole
    if limits.significance is not None:
        is_worse = whole.difference < 0 and whole.p_value < limits.significance
        told = f"{whole.newly_failed} newly failed, {whole.newly_passed} newly passed"
        yield GateResult(
            gate="significance",
            is_passed=not is_worse,
            limit=limits.significance,
            value=whole.p_value,
            n=whole.n,
            note=told,
        )
    if limits.max_regressions is not None:
        yield _most("max_regressions", None, limits.max_regressions, whole.newly_failed, whole.n)


def _of_tier(
    tier: RiskTier, limits: TierLimits, summary: Summary, comparison: Comparison | None
) -> Iterator[GateResult]:
    if limits.max_hallucinated is not None:
        yield _rate("max_hallucinated", tier, limits.max_hallucinated, summary.hallucinated, limits.bound)
    if limits.max_failed is not None:
        yield _rate("max_failed", tier, limits.max_failed, summary.failing, limits.bound)
    if limits.max_contradicted_critical is not None:
        found = summary.contradicted_critical
        yield _most("max_contradicted_critical", tier, limits.max_contradicted_critical, found, summary.cases)
    if limits.max_missing is not None:
        yield _most("max_missing", tier, limits.max_missing, summary.missing, summary.cases)
    if limits.max_errors is not None:
        yield _most("max_errors", tier, limits.max_errors, summary.errors, summary.cases)
    means = summary.retrieval
    n = means.n if means else 0
    for depth, name in _RECALL:
        yield from _least(name, tier, getattr(limits, name), means.recall_at[depth] if means else None, n)
    yield from _least("min_mrr", tier, limits.min_mrr, means.mrr if means else None, n)
    if limits.max_regressions is not None and comparison is not None:
        own = [one for one in comparison.slices if one.tier is tier]
        lost, pairs = sum(one.newly_failed for one in own), sum(one.n for one in own)
        yield _most("max_regressions", tier, limits.max_regressions, lost, pairs)


def _most(gate: str, tier: RiskTier | None, limit: int, value: int, n: int) -> GateResult:
    return GateResult(gate=gate, tier=tier, is_passed=value <= limit, limit=limit, value=value, n=n)


def _least(gate: str, tier: RiskTier, limit: float | None, value: float | None, n: int) -> Iterator[GateResult]:
    """A mean that nothing was measured for is not reached: the limit was asked for."""
    if limit is None:
        return
    told = "" if value is not None else "no case of this tier names gold passages; add them, or leave the limit out"
    is_passed = value is not None and value >= limit
    yield GateResult(gate=gate, tier=tier, is_passed=is_passed, limit=limit, value=value, n=n, note=told)


def _rate(gate: str, tier: RiskTier, limit: float, found: Share, bound: Bound) -> GateResult:
    """Nothing judged passes a point, and with it says so; an upper bound of 1 does not pass."""
    if bound is Bound.UPPER:
        is_passed = found.high <= limit
        told = "" if is_passed or (found.value or 0) > limit else "the share is below the limit, its upper bound is not"
    else:
        is_passed = found.value is None or found.value <= limit
        told = "too few cases to be sure of it" if is_passed and found.high > limit else ""
    if not found.n:
        told = "nothing was judged"
    return GateResult(
        gate=gate,
        tier=tier,
        is_passed=is_passed,
        limit=limit,
        value=found.value,
        n=found.n,
        low=found.low,
        high=found.high,
        note=told,
    )
