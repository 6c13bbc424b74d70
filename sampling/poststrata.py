"""Tallies summed to one sample per stratum: traffic gives the weights, verdicts the rates.

Rows of one stratum under several policies are combined by their design weights (Hájek), then strata by their traffic. A
stratum with traffic but no sample takes the rate of its cell, else of its tier, else of the whole.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from sampling.intervals import Part
from schemas.labels import Outcome, RiskTier
from schemas.tally import Tally

Key = tuple[str, RiskTier, str]
_OUTCOMES = tuple(Outcome)
_NEIGHBOURS: tuple[Callable[[Key], Hashable], ...] = (lambda key: key[:2], lambda key: key[1], lambda _: None)


@dataclass(slots=True)
class Sums:
    """Sums of one stratum under one policy: structural counts are of all traffic, the others of verdicts."""

    traffic: int = 0
    drawn: int = 0
    judged: int = 0
    sum_w: float = 0.0
    sum_wk: float = 0.0
    sum_w2: float = 0.0
    verdicts: int = 0
    errors: int = 0
    unclear: int = 0
    abstained: int = 0
    unresolved: int = 0
    scorable: int = 0
    bad_claims: int = 0
    over_refusal: int = 0
    citation_failure: int = 0
    empty_retrieval: int = 0
    pending: int = 0

    @property
    def weight(self) -> float:
        """Mean design weight 1/π of the sample; from the judged where there are any, else traffic by drawn."""
        if self.judged and self.sum_w > 0:
            return self.sum_w / self.judged
        return self.traffic / self.drawn if self.drawn and self.traffic else 1.0

    @property
    def missing(self) -> int:
        """Drawn traces whose label is not known: in error, unclear or still pending."""
        return self.errors + self.unclear + self.pending


Strata = Mapping[Key, Sequence[Sums]]


@dataclass(frozen=True, slots=True)
class Sample:
    """Weighted sums that make a share: ``hits`` among ``base``, found on ``size`` units of a sample of ``whole``.

    ``size2`` is the sum of squared weights over the units, whose number bounds what the share can be known from.
    """

    hits: float
    base: float
    size: float
    size2: float
    whole: float


def gather(tallies: Sequence[Tally], fingerprint: str | None = None) -> Strata:
    """Sums per stratum and policy over all buckets and versions; of one detector, or of all when None."""
    strata: dict[Key, dict[str, Sums]] = defaultdict(lambda: defaultdict(Sums))
    for tally in tallies:
        sums = strata[tally.intent, tally.tier, tally.stratum][tally.policy_id]
        if not tally.fingerprint:
            _add_traffic(sums, tally)
        elif fingerprint in {None, tally.fingerprint}:
            _add_verdicts(sums, tally)
    return {key: tuple(by_policy.values()) for key, by_policy in strata.items()}


def _add_traffic(sums: Sums, tally: Tally) -> None:
    sums.traffic += tally.traffic
    sums.drawn += tally.drawn
    sums.empty_retrieval += tally.empty_retrieval
    sums.citation_failure += tally.citation_failure
    sums.pending += tally.pending


def _add_verdicts(sums: Sums, tally: Tally) -> None:
    outcomes = dict(zip(_OUTCOMES, tally.outcomes, strict=False))
    sums.judged += tally.judged
    sums.sum_w += tally.sum_w
    sums.sum_wk += tally.sum_wk
    sums.sum_w2 += tally.sum_w2
    # A tally without outcomes still says how many were judged.
    sums.verdicts += max(sum(tally.outcomes), tally.judged)
    sums.errors += sum(count for outcome, count in outcomes.items() if outcome.is_error)
    sums.unclear += outcomes.get(Outcome.UNCLEAR, 0)
    sums.abstained += outcomes.get(Outcome.ABSTAINED, 0)
    sums.unresolved += sum(count for outcome, count in outcomes.items() if outcome.is_unresolved)
    sums.scorable += tally.claims_scorable
    sums.bad_claims += tally.claims_unsupported + tally.claims_contradicted
    sums.over_refusal += tally.over_refusal
    sums.pending += tally.pending


def parts(strata: Strata, sample_of: Callable[[Sums], Sample]) -> list[Part]:
    """The strata as parts of one share; empty when nothing was sampled."""
    samples = {key: _total([sample_of(sums) for sums in policies]) for key, policies in strata.items()}
    # Where the row of all traffic is missing, the sample speaks for its own traffic.
    traffic = {key: sum(sums.traffic for sums in strata[key]) or sample.whole for key, sample in samples.items()}
    sampled = {key for key, sample in samples.items() if sample.base > 0 and sample.size2 > 0}
    known = {key for key, sample in samples.items() if sample.whole > 0}
    population = _borrow(traffic, known)
    weights = {key: population[key] * samples[key].base / samples[key].whole for key in sampled}
    total = sum(weights.values())
    return [_part(samples[key], weight, total) for key, weight in weights.items() if weight > 0]


def _part(sample: Sample, population: float, total: float) -> Part:
    share = min(sample.size / sample.whole, 1.0)
    return Part(population / total, sample.hits / sample.base, sample.size**2 / sample.size2, share, population)


def _total(samples: Sequence[Sample]) -> Sample:
    return Sample(
        hits=sum(sample.hits for sample in samples),
        base=sum(sample.base for sample in samples),
        size=sum(sample.size for sample in samples),
        size2=sum(sample.size2 for sample in samples),
        whole=sum(sample.whole for sample in samples),
    )


def _borrow(traffic: Mapping[Key, float], known: set[Key]) -> dict[Key, float]:
    """Traffic per sampled stratum, that of unsampled ones handed to the nearest sampled neighbours in proportion."""
    population = {key: traffic[key] for key in known}
    orphans = {key: count for key, count in traffic.items() if key not in known and count > 0}
    for neighbourhood in _NEIGHBOURS:
        nearby: dict[Hashable, float] = defaultdict(float)
        lost: dict[Hashable, float] = defaultdict(float)
        for key in known:
            nearby[neighbourhood(key)] += traffic[key]
        for key, count in orphans.items():
            lost[neighbourhood(key)] += count
        for key in known:
            group = neighbourhood(key)
            if nearby[group] > 0:
                population[key] += lost[group] * traffic[key] / nearby[group]
        orphans = {key: count for key, count in orphans.items() if nearby[neighbourhood(key)] <= 0}
    return population
