"""The alert's operating point: the threshold at which the jump test finds a doubling after the fewest answers."""

import math
from collections.abc import Sequence

import numpy as np

from alerts.power import Marks, evidence_for_page, fastest, power_of
from detectors.calibration import (
    GRID,
    Counts,
    Curve,
    Pair,
    ScoreCounts,
    counted,
    cross_fitted,
    folds_of,
    fractions_at,
    mark_sums,
    resampled,
)
from schemas.slice import Slice
from streams.calibration.report import OperatingPoint, PowerFigure
from streams.calibration.shares import missing
from streams.calibration.thresholds import at_threshold
from streams.calibration.wanted import FOLDS, ROUNDS, Wanted


def operating_point(
    pairs: Sequence[Pair], cell: Slice | None, wanted: Wanted, base: tuple[float, str]
) -> OperatingPoint:
    """The operating point of some answers at a base rate; on a hold-out only that of the policy is measured."""
    rate, source = base
    names = {} if cell is None else {"intent": cell.intent, "tier": cell.tier}
    counts = counted(pairs)
    curve = counts.curve()
    found = OperatingPoint(
        **names, base_rate=rate, base_rate_from=source, labels=len(pairs), missing=missing(len(pairs))
    )
    if not curve.has_both:
        return found
    now = wanted.policy.thresholds.unsupported
    at_policy = _figure(marks_of(at_threshold(pairs, now)), rate, wanted, now)
    if wanted.is_holdout:
        return found.model_copy(update={"at_policy": at_policy})
    place = _best(curve, rate, wanted)
    rng = np.random.default_rng(wanted.seed)
    places = [_best(drawn, rate, wanted) for drawn in resampled(counts, ROUNDS, rng) if drawn.has_both]
    low, high = np.quantile(GRID[places], [0.025, 0.975], method="inverted_cdf") if places else (None, None)
    crossed, fractions = _crossed(counts, rate, wanted, rng)
    return found.model_copy(
        update={
            "low": low,
            "high": high,
            "best": _figure(marks_of(curve.at(place)), rate, wanted, float(GRID[place])),
            "cross_fitted": crossed,
            "fractions": fractions,
            "at_policy": at_policy,
        }
    )


def marks_of(counts: Counts) -> Marks:
    """Shares with half an answer added on either side (Krichevsky and Trofimov 1981).

    A threshold that few answers reach must not look free of errors: at low base rates a specificity of one would win.
    """
    return Marks((counts.caught + 0.5) / (counts.bad + 1), (counts.false_alarms + 0.5) / (counts.good + 1))


def _best(curve: Curve, rate: float, wanted: Wanted) -> int:
    """The place of the best threshold, by the smoothed shares of ``marks_of``."""
    bad = (curve.flagged_bad + 0.5) / (curve.bad + 1)
    good = (curve.flagged_good + 0.5) / (curve.good + 1)
    return fastest(bad.tolist(), good.tolist(), rate, wanted.jump.odds_ratios)


def _crossed(
    counts: ScoreCounts, rate: float, wanted: Wanted, rng: np.random.Generator
) -> tuple[PowerFigure | None, PowerFigure | None]:
    """Figures of flags and of calibrated fractions where what marks an answer was fitted without its source."""
    if len(counts.sources) < 2:  # noqa: PLR2004  nothing is left to measure on
        return None, None
    fold = folds_of(counts.sources, min(FOLDS, len(counts.sources)), rng)
    fair = cross_fitted(counts, fold, lambda curve: _best(curve, rate, wanted) if curve.has_both else None)
    if fair is None:
        return None, None
    sums = np.zeros(2)
    for number in np.unique(fold):
        fractions = fractions_at(counts.curve((fold != number).astype(float)), rate)
        own = counts.curve((fold == number).astype(float))
        sums += mark_sums(own, fractions)
    bad, good = sums / (fair.bad, fair.good)
    return _figure(marks_of(fair), rate, wanted), _figure(Marks(float(bad), float(good)), rate, wanted)


def _figure(marks: Marks, rate: float, wanted: Wanted, threshold: float | None = None) -> PowerFigure:
    found = power_of(marks, rate, wanted.jump.odds_ratios)
    answers = found.answers(evidence_for_page(wanted.jump, wanted.slices, wanted.deploys_per_month))
    return PowerFigure(
        threshold=threshold,
        bad=marks.bad,
        good=marks.good,
        apparent_before=found.apparent_before,
        apparent_after=found.apparent_after,
        nats=found.nats,
        times_true=_finite(found.times_true),
        times_apparent=_finite(found.times_apparent),
        answers=_finite(answers),
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
