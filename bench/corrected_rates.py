"""Corrected rates against other estimates: ``python bench/corrected_rates.py [--runs 1000]``.

Made-up worlds: people find a share p of answers hallucinated; the detector flags a share se of those and 1 − sp of the
others; 20,000 answers are judged, m of them labelled. RMSE and width in percentage points, coverage of 95 % intervals
of the true p. The last lines go the whole way, per run: unequal π, the review draw by hash, weights, tallies.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import sqrt
from typing import Any

import numpy as np

from sampling.corrected import Labelled, correct, corrected_rate
from sampling.intervals import wilson
from sampling.review_draw import Candidate, draw_reviews
from sampling.review_labels import Reviewed, reviewed
from schemas.labels import Outcome, RiskTier
from schemas.review import ReviewLabel
from schemas.tally import Tally

JUDGED = 20_000
FLAGGED_SHARE = 0.3
Z = 1.959964
WORLDS = ((0.05, 0.80, 0.97), (0.05, 0.73, 0.73), (0.02, 0.80, 0.97), (0.15, 0.60, 0.90))
START = datetime(2026, 1, 1, tzinfo=UTC)
Estimate = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class World:
    """Joint counts of (detector flags, people find hallucinated) among judged answers of one run."""

    hit: int
    false_alarm: int
    miss: int
    fine: int

    @property
    def flagged(self) -> int:
        """Answers that the detector flags."""
        return self.hit + self.false_alarm

    @property
    def unflagged(self) -> int:
        """The others."""
        return self.miss + self.fine


def world(p: float, se: float, sp: float, rng: np.random.Generator) -> World:
    """One run."""
    return World(*(int(n) for n in rng.multinomial(JUDGED, [p * se, (1 - p) * (1 - sp), p * (1 - se), (1 - p) * sp])))


def raw(seen: World, _labels: int, _rng: np.random.Generator) -> Estimate:
    """What the detector says, uncorrected."""
    return (seen.flagged / JUDGED, *wilson(seen.flagged, JUDGED))


def humans_only(seen: World, labels: int, rng: np.random.Generator) -> Estimate:
    """Labels on a simple sample, the detector left out."""
    hits = int(rng.hypergeometric(seen.hit + seen.miss, seen.fine + seen.false_alarm, labels))
    return (hits / labels, *wilson(hits, labels))


def ppi(seen: World, labels: int, rng: np.random.Generator) -> Estimate:
    """Prediction-powered inference with a tuned weight (PPI++), labels on a simple sample, Wald interval."""
    cells = rng.multivariate_hypergeometric([seen.hit, seen.false_alarm, seen.miss, seen.fine], labels)
    said = np.repeat([1.0, 1.0, 0.0, 0.0], cells)
    found = np.repeat([1.0, 0.0, 1.0, 0.0], cells)
    share = seen.flagged / JUDGED
    spread = share * (1 - share)
    weight = float(np.cov(said, found)[0, 1] / ((1 + labels / JUDGED) * spread))
    estimate = found.mean() + weight * (share - said.mean())
    half = Z * sqrt(np.var(found - weight * said, ddof=1) / labels + weight**2 * spread / JUDGED)
    return float(estimate), float(estimate - half), float(estimate + half)


def ours(seen: World, labels: int, rng: np.random.Generator) -> Estimate:
    """``sampling.corrected``: three labels in ten on flagged answers."""
    on_flagged = min(round(FLAGGED_SHARE * labels), seen.flagged)
    on_others = labels - on_flagged
    hits = float(rng.hypergeometric(seen.hit, seen.false_alarm, on_flagged))
    misses = float(rng.hypergeometric(seen.miss, seen.fine, on_others))
    flagged, unflagged = Labelled(hits, on_flagged, on_flagged), Labelled(misses, on_others, on_others)
    return correct(Labelled(seen.flagged, JUDGED, JUDGED), flagged, unflagged, rng)


METHODS: dict[str, Callable[[World, int, np.random.Generator], Estimate]] = {
    "raw": raw,
    "human labels only (Wilson)": humans_only,
    "PPI++, random labels (Wald)": ppi,
    "verdict-stratified, Beta draws (ours)": ours,
}


def measured(p: float, se: float, sp: float, labels: int, runs: int) -> dict[str, tuple[float, float, float]]:
    """RMSE and width in points, and coverage, by method; every method sees the same worlds."""
    rows: dict[str, list[Estimate]] = {name: [] for name in METHODS}
    for run in range(runs):
        seen = world(p, se, sp, np.random.default_rng([run, labels, 1]))
        for place, (name, method) in enumerate(METHODS.items()):
            rows[name].append(method(seen, labels, np.random.default_rng([run, labels, 2, place])))
    return {name: _summary(np.array(found), p) for name, found in rows.items()}


def _summary(found: np.ndarray, p: float) -> tuple[float, float, float]:
    estimate, low, high = found.T
    rmse = 100 * float(np.sqrt(np.mean((estimate - p) ** 2)))
    return rmse, float(np.mean((low <= p) & (p <= high))), 100 * float(np.mean(high - low))


def whole_way(p: float, se: float, sp: float, labels: int, runs: int) -> tuple[float, float, float]:
    """One policy stratum at π = 0.5 with most bad answers, one at 0.1; drawn, labelled and estimated as shipped."""
    found = []
    for run in range(runs):
        rng = np.random.default_rng([run, labels, 3])
        rate = corrected_rate(*_one_run((p, se, sp), labels, rng), "d", rng)
        if rate.rate is not None:
            found.append((rate.rate, rate.low, rate.high))
    return _summary(np.array(found), p)


def _one_run(
    rates: tuple[float, float, float], labels: int, rng: np.random.Generator
) -> tuple[list[Tally], list[Reviewed]]:
    p, se, sp = rates
    is_weak = rng.random(30_000) < 0.2
    is_bad = rng.random(30_000) < np.where(is_weak, 3 * p, p / 2)
    is_flagged = rng.random(30_000) < np.where(is_bad, se, 1 - sp)
    pi = np.where(is_weak, 0.5, 0.1)
    drawn = np.flatnonzero(rng.random(30_000) < pi)
    candidates = [Candidate(int(i), f"t{i}", bool(is_flagged[i]), float(pi[i])) for i in drawn]
    given = [
        _label(one.place, one.stratum, one.probability, float(pi[one.place]), is_bad=bool(is_bad[one.place]))
        for one in draw_reviews(candidates, labels, rng.bytes(16))
    ]
    tallies = [
        row
        for weak, name in ((True, "weak"), (False, "rest"))
        for row in _tallies(name, is_weak == weak, is_flagged, drawn, 0.5 if weak else 0.1)
    ]
    return tallies, reviewed(given)


def _label(place: int, stratum: Any, probability: float, pi: float, *, is_bad: bool) -> ReviewLabel:
    return ReviewLabel(
        trace_id=f"t{place}",
        ts=START,
        fingerprint="d",
        answer_label=Outcome.HALLUCINATED if is_bad else Outcome.GROUNDED,
        reviewer="r",
        stratum=stratum,
        probability=probability,
        draw_probability=pi,
        at=START + timedelta(days=1),
    )


def _tallies(stratum: str, mine: np.ndarray, is_flagged: np.ndarray, drawn: np.ndarray, pi: float) -> list[Tally]:
    of_stratum = drawn[mine[drawn]]
    n, k, w = len(of_stratum), int(is_flagged[of_stratum].sum()), 1 / pi
    counts = dict.fromkeys(Outcome, 0)
    counts[Outcome.HALLUCINATED], counts[Outcome.GROUNDED] = k, n - k
    key = {"bucket": START, "intent": "i", "tier": RiskTier.LOW, "stratum": stratum}
    return [
        Tally(**key, traffic=int(mine.sum()), drawn=n),
        Tally(
            **key,
            fingerprint="d",
            judged=n,
            hallucinated=k,
            sum_w=w * n,
            sum_wk=w * k,
            sum_w2=w * w * n,
            outcomes=tuple(counts.values()),
        ),
    ]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    runs = parser.parse_args().runs
    for p, se, sp in WORLDS:
        print(f"\np = {p:.0%}, se {se:.2f}, sp {sp:.2f}; {JUDGED:,} judged, {runs:,} runs")
        print("| method | RMSE, m=200 | coverage | width | RMSE, m=400 | coverage | width |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        few, many = (measured(p, se, sp, labels, runs) for labels in (200, 400))
        for name in METHODS:
            print(f"| {name} | {_cells(few[name])} | {_cells(many[name])} |")
    fewer = max(runs // 5, 1)
    print(f"\nThe whole way: two policy strata, π 0.5 and 0.1, 30,000 answers, {fewer} runs")
    for p, se, sp in WORLDS[:2]:
        for labels in (200, 400):
            print(f"p = {p:.0%}, se {se}, sp {sp}, m = {labels}: {_cells(whole_way(p, se, sp, labels, fewer))}")


def _cells(found: tuple[float, float, float]) -> str:
    rmse, coverage, width = found
    return f"{rmse:.2f} | {coverage:.3f} | {width:.1f}"


if __name__ == "__main__":
    main()
