"""Rates for people from tallies: design-weighted, with intervals that hold in small slices, and bounds for failures.

Rates and their intervals are about the apparent rate, what the detector says; a human label may differ. The sample is
taken as a sample of what the product does, so that an interval has a width even where every answer was checked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sampling.intervals import effective_sample, korn_graubard
from sampling.poststrata import Sample, Strata, Sums, gather, parts
from schemas.alert import RateEstimate
from schemas.tally import Tally

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class RateBounds:
    """The rate if every answer of unknown label was grounded (``low``) or hallucinated (``high``); ``missing`` of them.

    Unknown are drawn answers in error, unclear or pending. No interval: the sampling error comes on top.
    """

    low: float
    high: float
    missing: int


@dataclass(frozen=True, slots=True)
class OtherRates:
    """Shares beside the hallucination rate; ``n`` of each is the number of units it was counted on.

    Of all verdicts: ``abstained`` (over-refusals included), ``over_refusal``, ``unresolved`` and ``error``. Of all
    traffic, where the structural checks run: ``citation_failure`` and ``empty_retrieval``.
    """

    abstained: RateEstimate
    over_refusal: RateEstimate
    unresolved: RateEstimate
    error: RateEstimate
    citation_failure: RateEstimate
    empty_retrieval: RateEstimate


def estimate(tallies: Sequence[Tally], level: float = LEVEL, *, fingerprint: str | None = None) -> RateEstimate:
    """Share of hallucinated among hallucinated and grounded answers, post-stratified by intent, tier and stratum.

    Give the rows of all traffic (no fingerprint) beside the verdict rows; without them the sample's own weights count.
    ``fingerprint`` picks one detector; with None, rows of several are pooled, so do not leave it out where a shadow
    detector runs. With nothing judged the rate is None in [0, 1].
    """
    strata = gather(tallies, fingerprint)
    return _share(strata, _answers, level, _count(strata, lambda sums: sums.judged))


def effective_estimate(tallies: Sequence[Tally], *, fingerprint: str | None = None) -> tuple[float, float] | None:
    """The rate of ``estimate`` and the size of a simple sample that would know it as well; None with nothing judged."""
    found = parts(gather(tallies, fingerprint), _answers)
    return effective_sample(found) if found else None


def claim_rate(tallies: Sequence[Tally], level: float = LEVEL, *, fingerprint: str | None = None) -> RateEstimate:
    """Share of unsupported and contradicted among scorable claims; ``n`` counts answers.

    Claims of one answer fail together, and tallies do not say how often; the interval counts each answer once, which
    is on the safe side.
    """
    strata = gather(tallies, fingerprint)
    return _share(strata, _claims, level, _count(strata, lambda sums: sums.judged + sums.unclear))


def other_rates(tallies: Sequence[Tally], level: float = LEVEL, *, fingerprint: str | None = None) -> OtherRates:
    """Abstained, over-refusal, unresolved, error, citation failure and empty retrieval, each with its interval."""
    strata = gather(tallies, fingerprint)

    def of_verdicts(hits: Callable[[Sums], int]) -> RateEstimate:
        return _share(strata, _among_verdicts(hits), level, _count(strata, lambda sums: sums.verdicts))

    def of_traffic(hits: Callable[[Sums], int]) -> RateEstimate:
        return _share(strata, _among_traffic(hits), level, _count(strata, lambda sums: sums.traffic))

    return OtherRates(
        abstained=of_verdicts(lambda sums: sums.abstained),
        over_refusal=of_verdicts(lambda sums: sums.over_refusal),
        unresolved=of_verdicts(lambda sums: sums.unresolved),
        error=of_verdicts(lambda sums: sums.errors),
        citation_failure=of_traffic(lambda sums: sums.citation_failure),
        empty_retrieval=of_traffic(lambda sums: sums.empty_retrieval),
    )


def bounds(tallies: Sequence[Tally], *, fingerprint: str | None = None) -> RateBounds:
    """How far the answers of unknown label could move the rate; [0, 1] when no answer has a label or could have one."""
    strata = gather(tallies, fingerprint)
    missing = _count(strata, lambda sums: sums.missing)
    low, high = (parts(strata, _with_missing(share)) for share in (0.0, 1.0))
    if not low:
        return RateBounds(0.0, 1.0, missing)
    low_rate, high_rate = (min(sum(part.weight * part.rate for part in end), 1.0) for end in (low, high))
    return RateBounds(low_rate, high_rate, missing)


def _share(strata: Strata, sample_of: Callable[[Sums], Sample], level: float, n: int) -> RateEstimate:
    found = parts(strata, sample_of)
    if not found:
        return RateEstimate(rate=None, low=0.0, high=1.0, n=n, level=level)
    rate, low, high = korn_graubard(found, level)
    return RateEstimate(rate=rate, low=low, high=high, n=n, level=level)


def _count(strata: Strata, field: Callable[[Sums], int]) -> int:
    return sum(field(sums) for policies in strata.values() for sums in policies)


def _answers(sums: Sums) -> Sample:
    whole = sums.weight * (sums.verdicts - sums.errors)
    return Sample(sums.sum_wk, sums.sum_w, sums.sum_w, sums.sum_w2, whole)


def _claims(sums: Sums) -> Sample:
    weight, answers = sums.weight, sums.judged + sums.unclear
    whole = weight * (sums.verdicts - sums.errors)
    return Sample(weight * sums.bad_claims, weight * sums.scorable, weight * answers, weight**2 * answers, whole)


def _among_verdicts(hits: Callable[[Sums], int]) -> Callable[[Sums], Sample]:
    def sample(sums: Sums) -> Sample:
        weight, base = sums.weight, sums.verdicts
        return Sample(weight * hits(sums), weight * base, weight * base, weight**2 * base, weight * base)

    return sample


def _among_traffic(hits: Callable[[Sums], int]) -> Callable[[Sums], Sample]:
    def sample(sums: Sums) -> Sample:
        return Sample(hits(sums), sums.traffic, sums.traffic, sums.traffic, sums.traffic)

    return sample


def _with_missing(share_hallucinated: float) -> Callable[[Sums], Sample]:
    def sample(sums: Sums) -> Sample:
        unknown = sums.weight * sums.missing
        base = sums.sum_w + unknown
        size2 = sums.sum_w2 + sums.weight * unknown
        whole = sums.weight * (sums.verdicts + sums.pending)
        return Sample(sums.sum_wk + share_hallucinated * unknown, base, base, size2, whole)

    return sample
