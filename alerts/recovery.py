"""The reverse test of a firing alert: resolved takes evidence that the ratio is below the one at which it would matter.

An e-CUSUM against 'the rate is still at least max(1.25, √R) times the reference', R being the ratio since the onset. R
is read again on each new day, because at firing it rests on few answers and is too high by selection.
"""

import math
from dataclasses import dataclass, replace

from alerts.jump import exposure_per_answer, log_factor_in_day

SMALLEST_BAR = 1.25
LARGEST_RATIO = 25.0
LOWERED = 0.9
"""A bar that falls below this part of the old one replaces it, and the evidence starts anew: it is a harder claim."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """``bar`` times the reference is the rate ``held``; ``exposure`` is today's, under that rate."""

    bar: float
    held: float
    log_evidence: float = 0.0
    exposure: float = 0.0


def started(reference: float, judged: float, hallucinated: float, judged_today: float) -> Recovery:
    """The test at firing, from the nested counts since the onset and of the whole day so far."""
    bar = _bar(reference, judged, hallucinated)
    held = _held(reference, bar)
    return Recovery(bar, held, exposure=judged_today * exposure_per_answer(held, 1.0 / bar))


def reviewed(recovery: Recovery, reference: float, judged: float, hallucinated: float) -> Recovery:
    """The test on a new day, from the nested counts since the onset."""
    bar = _bar(reference, judged, hallucinated)
    if LOWERED * recovery.bar <= bar <= recovery.bar:
        return replace(recovery, exposure=0.0)
    # What speaks against a low bar speaks against a higher one too, but not the other way round.
    evidence = recovery.log_evidence if bar > recovery.bar else 0.0
    return Recovery(bar, _held(reference, bar), evidence)


def fed(recovery: Recovery, judged: float, hallucinated: float, shape: float, hallucinated_today: float) -> Recovery:
    """The test after the nested counts of one bucket; ``hallucinated_today`` is K of the day before it."""
    odds_ratio = 1.0 / recovery.bar
    added = judged * exposure_per_answer(recovery.held, odds_ratio)
    log = log_factor_in_day(hallucinated, added, odds_ratio, shape, (hallucinated_today, recovery.exposure))
    return replace(recovery, log_evidence=max(recovery.log_evidence, 0.0) + log, exposure=recovery.exposure + added)


def _bar(reference: float, judged: float, hallucinated: float) -> float:
    ratio = hallucinated / (judged * reference) if judged > 0 else LARGEST_RATIO
    return max(SMALLEST_BAR, math.sqrt(min(max(ratio, 1.0), LARGEST_RATIO)))


def _held(reference: float, bar: float) -> float:
    odds = bar * reference / (1.0 - reference)
    return odds / (1.0 + odds)
