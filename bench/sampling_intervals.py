"""Coverage of the intervals, and what the allocation buys: ``python bench/sampling_intervals.py [--worlds 40]``.

Made-up worlds of 56 intents and 3 tiers, 140 cells, each with strata by score band (bad answers crowd in the weak
band), abstentions that differ by stratum and failed verdicts; 30,000 answers a day, 1,500 checked. Truth is the rate
that the world was made with, not that of the day's answers. Seeds are fixed, so two runs print the same numbers.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from math import sqrt
from typing import Any

import numpy as np

from sampling.allocation import StratumSize, allocate
from sampling.poststrata import gather
from sampling.rates import estimate
from schemas.labels import Outcome, RiskTier
from schemas.tally import Tally

ANSWERS_PER_DAY, CHECKS_PER_DAY = 30_000, 1_500
BUCKET = datetime(2026, 1, 1, tzinfo=UTC)
TIERS = tuple(RiskTier)
BANDS = ("weak", "unsure", "rest")
BAND_SHARE = np.array([0.15, 0.25, 0.60])
BAND_RISK = np.array([3.5, 1.2, 0.3])
BAND_ABSTAIN = np.array([0.30, 0.10, 0.03])
ERROR_SHARE = 0.02


class World:
    """Cells with traffic and true rates; strata are the bands of a cell."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        volume = 1 / np.arange(1, 57) ** 0.9
        cells = [(f"i{i}", TIERS[t]) for i in range(56) for t in rng.permutation(3)[: 3 if i % 2 else 2]]
        weight = np.array([volume[int(intent[1:])] * rng.uniform(0.3, 1) for intent, _ in cells])
        rate = np.clip(rng.gamma(4, 0.05 / 4, len(cells)), 0.005, 0.15)
        self.sizes = [
            StratumSize(intent, tier, band, float(n), float(p))
            for (intent, tier), share, base in zip(cells, weight / weight.sum(), rate, strict=True)
            for band, n, p in zip(
                BANDS, ANSWERS_PER_DAY * share * BAND_SHARE, np.clip(base * BAND_RISK, 0, 0.9), strict=True
            )
        ]
        self.abstain = np.tile(BAND_ABSTAIN, len(cells))
        self.traffic = np.array([size.traffic for size in self.sizes])
        self.rate = np.array([size.rate for size in self.sizes])

    def truth(self, members: np.ndarray) -> float:
        """True hallucinated / (hallucinated + grounded) over some strata."""
        judgeable = (self.traffic * (1 - self.abstain))[members]
        return float(judgeable @ self.rate[members] / judgeable.sum())

    def sample(self, pi: np.ndarray, days: int, rng: np.random.Generator) -> list[Tally]:
        """Tallies of one draw of ``days`` days."""
        rows = []
        traffic = rng.poisson(self.traffic * days)
        drawn = rng.binomial(traffic, pi)
        errors = rng.binomial(drawn, ERROR_SHARE)
        abstained = rng.binomial(drawn - errors, self.abstain)
        judged = drawn - errors - abstained
        bad = rng.binomial(judged, self.rate)
        for h, size in enumerate(self.sizes):
            key = {"bucket": BUCKET, "intent": size.intent, "tier": size.tier, "stratum": size.stratum}
            rows.append(Tally(**key, traffic=int(traffic[h]), drawn=int(drawn[h])))
            counts = dict.fromkeys(Outcome, 0)
            counts[Outcome.HALLUCINATED], counts[Outcome.GROUNDED] = int(bad[h]), int(judged[h] - bad[h])
            counts[Outcome.ABSTAINED], counts[Outcome.ERROR_TIMEOUT] = int(abstained[h]), int(errors[h])
            w, n, k = 1 / pi[h], int(judged[h]), int(bad[h])
            rows.append(
                Tally(
                    **key,
                    fingerprint="d",
                    judged=n,
                    hallucinated=k,
                    sum_w=w * n,
                    sum_wk=w * k,
                    sum_w2=w * w * n,
                    outcomes=tuple(counts.values()),
                )
            )
        return rows


def wald(tallies: Sequence[Tally]) -> tuple[float, float]:
    """The plain textbook interval, for comparison: weighted rate ± 1.96 standard errors at the Kish sample size."""
    sums = [row for rows in gather(tallies).values() for row in rows]
    w, wk, w2 = (sum(getattr(row, name) for row in sums) for name in ("sum_w", "sum_wk", "sum_w2"))
    if w == 0:
        return 0.0, 1.0
    p = wk / w
    half = 1.96 * sqrt(p * (1 - p) * w2 / w**2)
    return p - half, p + half


LEVELS: dict[str, Callable[[StratumSize], str]] = {
    "overall": lambda _: "all",
    "tier": lambda size: size.tier.value,
    "intent": lambda size: size.intent,
    "cell": lambda size: f"{size.intent}/{size.tier.value}",
}


def coverage(worlds: Iterable[int], days: int) -> None:
    """Share of intervals that hold the truth and their mean half width, by level; Wald beside it."""
    hits: dict[str, list[tuple[bool, bool, float]]] = defaultdict(list)
    for seed in worlds:
        world = World(seed)
        pi = np.array(allocate(world.sizes, CHECKS_PER_DAY))
        rows = world.sample(pi, days, np.random.default_rng([seed, days]))
        for level, name_of in LEVELS.items():
            names = np.array([name_of(size) for size in world.sizes])
            for name in dict.fromkeys(names):
                members = np.flatnonzero(names == name)
                part = [row for h in members for row in rows[2 * h : 2 * h + 2]]
                truth, found = world.truth(members), estimate(part)
                low, high = wald(part)
                # Below 20 judged answers the interval is nearly [0, 1] and its coverage says nothing.
                if found.n >= 20:
                    hits[level].append(
                        (found.low <= truth <= found.high, low <= truth <= high, (found.high - found.low) / 2)
                    )
    for level, seen in hits.items():
        kg, plain, half = np.array(seen, float).mean(axis=0)
        print(
            f"{days} d  {level:8} {len(seen):6} intervals  covered {kg:.3f}  ± {100 * half:4.1f} pp  Wald {plain:.3f}"
        )


def allocation_gain(worlds: Iterable[int]) -> None:
    """Variance of a uniform draw over that of the design at equal cost: above 1, the design is better."""
    designs: dict[str, dict[str, Any]] = {
        "Neyman": {"overall_share": 1.0, "max_spread": None},
        "half and half": {"overall_share": 0.5, "max_spread": None},
        "half and half, spread 3": {},
        "multi-level": {"overall_share": 0.0, "max_spread": None},
    }
    ratios: dict[tuple[str, str], list[float]] = defaultdict(list)
    for seed in worlds:
        world = World(seed)
        uniform = np.full(len(world.sizes), CHECKS_PER_DAY / world.traffic.sum())
        for design, options in designs.items():
            pi = np.array(allocate(world.sizes, CHECKS_PER_DAY, **options))
            for level, name_of in LEVELS.items():
                names = np.array([name_of(size) for size in world.sizes])
                for name in dict.fromkeys(names):
                    members = np.flatnonzero(names == name)
                    ratios[design, level].append(variance(world, uniform, members) / variance(world, pi, members))
    for design in designs:
        medians = "  ".join(f"{level} {np.median(ratios[design, level]):.2f}" for level in LEVELS)
        print(f"{design:24} {medians}")


def variance(world: World, pi: np.ndarray, members: np.ndarray) -> float:
    """Variance of the stratified mean with N_h π_h checks in each stratum."""
    share = world.traffic[members] / world.traffic[members].sum()
    rate = world.rate[members]
    return float((share**2 * rate * (1 - rate) / (world.traffic[members] * pi[members])).sum())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--worlds", type=int, default=40)
    seeds = range(parser.parse_args().worlds)
    coverage(seeds, days=1)
    coverage(seeds, days=7)
    print("variance, uniform / design (above 1: better than uniform), median over slices:")
    allocation_gain(seeds)
