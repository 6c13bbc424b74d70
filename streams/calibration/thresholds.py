"""The threshold of each tier by a stated target, with what it does to answers that it was not chosen on."""

from collections.abc import Sequence

import numpy as np

from detectors.calibration import (
    GRID,
    Choice,
    Counts,
    Curve,
    Measure,
    Pair,
    ScoreCounts,
    Target,
    choose,
    counted,
    cross_fitted,
    folds_of,
    resampled,
)
from schemas.labels import RiskTier
from streams.calibration.report import Confusion, ThresholdFigure
from streams.calibration.shares import confusion, missing, precision_at
from streams.calibration.wanted import FOLDS, ROUNDS, Wanted


def threshold_figure(pairs: Sequence[Pair], tier: RiskTier | None, wanted: Wanted) -> ThresholdFigure:
    """The figure of these pairs; nothing is chosen on a hold-out, nor where people found all answers alike."""
    bar = bar_of(tier, wanted)
    whole = ThresholdFigure(
        tier=tier,
        labels=len(pairs),
        hallucinated=sum(pair.is_bad for pair in pairs),
        sources=len({pair.source for pair in pairs}),
        missing=missing(len(pairs)),
        bar=bar,
        at_bar=confusion(at_threshold(pairs, bar)),
    )
    counts = counted(pairs)
    chosen = None if wanted.is_holdout else choose(counts.curve(), wanted.target)
    if chosen is None:
        rate, _ = wanted.rate_of(None)
        return whole.model_copy(update={"precision_at_base_rate": precision_at(whole.at_bar, rate)})
    return whole.model_copy(update=_chosen(counts, chosen, wanted))


def with_fallback(tier: ThresholdFigure, pooled: ThresholdFigure) -> ThresholdFigure:
    """The figure of a tier with the threshold that it uses: its own, or the pooled one while labels are missing."""
    is_own = not tier.missing and tier.threshold is not None
    source = tier if is_own else pooled
    used = source.threshold if source.is_reached else None
    return tier.model_copy(update={"used": used, "uses_pooled": not is_own})


def at_threshold(pairs: Sequence[Pair], threshold: float) -> Counts:
    """Counts at any threshold, on the grid or not."""
    flagged = [pair.score < threshold for pair in pairs]
    caught = sum(is_flagged and pair.is_bad for pair, is_flagged in zip(pairs, flagged, strict=True))
    bad = sum(pair.is_bad for pair in pairs)
    alarms = sum(flagged) - caught
    return Counts(caught, alarms, bad - caught, len(pairs) - bad - alarms)


def bar_of(tier: RiskTier | None, wanted: Wanted) -> float:
    """The policy's bar of a tier, its threshold for labels where there is none."""
    unsupported = wanted.policy.thresholds.unsupported
    return unsupported if tier is None else wanted.policy.bars.get(tier, unsupported)


def _chosen(counts: ScoreCounts, chosen: Choice, wanted: Wanted) -> dict[str, object]:
    rng = np.random.default_rng(wanted.seed)
    low, high, reached = _uncertainty(counts, wanted.target, rng)
    fold = folds_of(counts.sources, min(FOLDS, len(counts.sources)), rng)
    fair = cross_fitted(counts, fold, lambda curve: _place(curve, wanted.target)) if len(counts.sources) > 1 else None
    in_sample, crossed = confusion(counts.curve().at(chosen.place)), confusion(fair) if fair else None
    rate, _ = wanted.rate_of(None)
    return {
        "threshold": float(GRID[chosen.place]),
        "used": float(GRID[chosen.place]) if chosen.is_reached else None,
        "is_reached": chosen.is_reached,
        "is_sure": chosen.is_reached and crossed is not None and _lower(crossed, wanted.target) >= wanted.target.value,
        "low": low,
        "high": high,
        "reached_share": reached,
        "in_sample": in_sample,
        "cross_fitted": crossed,
        "precision_at_base_rate": precision_at(crossed or in_sample, rate),
    }


def _place(curve: Curve, target: Target) -> int | None:
    found = choose(curve, target)
    return None if found is None else found.place


def _lower(found: Confusion, target: Target) -> float:
    return (found.precision if target.measure is Measure.PRECISION else found.recall).low


def _uncertainty(
    counts: ScoreCounts, target: Target, rng: np.random.Generator
) -> tuple[float | None, float | None, float | None]:
    """2.5 % and 97.5 % quantiles of the thresholds of resamples that reach the target, and the share that do."""
    found = [choice for curve in resampled(counts, ROUNDS, rng) if (choice := choose(curve, target)) is not None]
    places = [choice.place for choice in found if choice.is_reached]
    if not places:
        return None, None, 0.0 if found else None
    low, high = np.quantile(GRID[places], [0.025, 0.975], method="inverted_cdf")
    return float(low), float(high), len(places) / len(found)
