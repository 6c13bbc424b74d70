"""Choosing a threshold by a stated target; what cannot be reached is said, with the nearest that can."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from detectors.calibration.counts import Curve

LEAST_FLAGGED = 10
"""Flagged answers below which a precision is luck and chooses nothing."""


class Measure(StrEnum):
    """What a target is about."""

    PRECISION = "precision"
    RECALL = "recall"


@dataclass(frozen=True, slots=True)
class Target:
    """At least this precision (of what is flagged) or this recall (of what is hallucinated), in [0, 1]."""

    measure: Measure
    value: float


@dataclass(frozen=True, slots=True)
class Choice:
    """The place of a threshold in ``GRID``; ``is_reached`` False: the nearest to a target that no threshold reaches."""

    place: int
    is_reached: bool


def choose(curve: Curve, target: Target) -> Choice | None:
    """The threshold that finds most at the wanted precision, or flags least at the wanted recall.

    None when people found all answers alike. Point estimates decide; how sure they are is for intervals to tell.
    """
    if not curve.has_both:
        return None
    caught, alarms = curve.flagged_bad, curve.flagged_good
    flagged = caught + alarms
    if target.measure is Measure.RECALL:
        reached = np.flatnonzero(caught / curve.bad >= target.value)
        return Choice(int(reached[0]), is_reached=True) if len(reached) else Choice(len(caught) - 1, is_reached=False)
    precision = np.where(flagged >= LEAST_FLAGGED, caught / np.maximum(flagged, 1), -1.0)
    reached = np.flatnonzero(precision >= target.value)
    if len(reached):
        return Choice(int(reached[np.argmax(caught[reached])]), is_reached=True)
    best = np.flatnonzero(precision == precision.max())
    return Choice(int(best[np.argmax(caught[best])]), is_reached=False)
