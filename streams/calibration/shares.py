"""Counts as shares with intervals, for every figure of a report."""

from detectors.calibration import Counts
from detectors.golden.stats import ENOUGH_LABELS
from sampling.intervals import clopper_pearson
from schemas.alert import RateEstimate
from streams.calibration.report import Confusion


def share(hits: float, n: float) -> RateEstimate:
    """``hits`` of ``n`` with the exact interval; rate None when there are none."""
    low, high = clopper_pearson(hits, n)
    return RateEstimate(rate=hits / n if n else None, low=low, high=high, n=round(n))


def confusion(counts: Counts) -> Confusion:
    """The counts with their shares."""
    return Confusion(
        caught=round(counts.caught),
        false_alarms=round(counts.false_alarms),
        missed=round(counts.missed),
        cleared=round(counts.cleared),
        precision=share(counts.caught, counts.flagged),
        recall=share(counts.caught, counts.bad),
        specificity=share(counts.cleared, counts.good),
    )


def missing(labels: int) -> int:
    """Labels that are missing until a figure is more than a guess."""
    return max(ENOUGH_LABELS - labels, 0)


def precision_at(found: Confusion, base_rate: float) -> float | None:
    """Precision where ``base_rate`` of the answers are hallucinated, by Bayes; None when a share is not known."""
    if found.recall.rate is None or found.specificity.rate is None:
        return None
    caught = base_rate * found.recall.rate
    alarms = (1 - base_rate) * (1 - found.specificity.rate)
    return caught / (caught + alarms) if caught + alarms else None
