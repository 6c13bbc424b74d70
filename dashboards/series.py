"""Tallies to what a slice's row needs: one detector's counts, their rate, and the rate step by step."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from dashboards.charts import Point
from dashboards.periods import floor
from sampling.rates import RateBounds, bounds, estimate
from schemas.alert import RateEstimate
from schemas.labels import Outcome
from schemas.slice import Slice
from schemas.tally import Tally

LEVEL = 0.95
POINT_JUDGED = 20
"""A point of a trend should rest on about this many judged answers, or its interval says nothing."""
THIN_SHARE = 0.05
"""With more than this share of the drawn answers unlabelled, a rate is shown with its bounds."""

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a slice's traffic a rate rests on; ``other`` answers asked back or made no claim.

    ``bounds`` says how far the drawn answers whose label is not known (pending, in error, unclear) could move the rate.
    """

    traffic: int
    drawn: int
    judged: int
    pending: int
    errors: int
    unresolved: int
    unclear: int
    abstained: int
    other: int
    bounds: RateBounds

    @property
    def is_thin(self) -> bool:
        """True when so many labels are missing that the rate alone would mislead."""
        return self.bounds.missing > THIN_SHARE * self.drawn


def current_fingerprint(tallies: Sequence[Tally]) -> str:
    """The detector that judged most in the newest step that has verdicts; empty when none has."""
    judged = [tally for tally in tallies if tally.fingerprint and tally.judged]
    if not judged:
        return ""
    newest = max(tally.bucket for tally in judged)
    by_detector: dict[str, int] = defaultdict(int)
    for tally in judged:
        if tally.bucket == newest:
            by_detector[tally.fingerprint] += tally.judged
    return max(by_detector, key=lambda name: (by_detector[name], name))


def of_detector(tallies: Sequence[Tally], fingerprint: str) -> list[Tally]:
    """All traffic, and the verdicts of one detector: a new fingerprint is a series of its own."""
    return [tally for tally in tallies if tally.fingerprint in {"", fingerprint}]


def group(tallies: Sequence[Tally], key: Callable[[Tally], K]) -> dict[K, list[Tally]]:
    """The tallies by key, in the order of first appearance."""
    groups: dict[K, list[Tally]] = {}
    for tally in tallies:
        groups.setdefault(key(tally), []).append(tally)
    return groups


def by_slice(tallies: Sequence[Tally]) -> dict[Slice, list[Tally]]:
    """The tallies of each alert cell."""
    keyed = group(tallies, lambda tally: (tally.intent, tally.tier))
    return {Slice(intent=intent, tier=tier): rows for (intent, tier), rows in keyed.items()}


def rate_of(tallies: Sequence[Tally]) -> RateEstimate:
    """The design-weighted rate of hallucinated answers, as the detector sees it (apparent, not corrected)."""
    return estimate(tallies, LEVEL)


def trend_step(tallies: Sequence[Tally], step: timedelta) -> timedelta:
    """``step``, or two or four of them, so that a typical point of the trend rests on enough judged answers."""
    judged = sum(tally.judged for tally in tallies)
    steps = len({tally.bucket for tally in tallies if tally.judged}) or 1
    return next((step * times for times in (1, 2) if judged * times >= POINT_JUDGED * steps), step * 4)


def points(tallies: Sequence[Tally], step: timedelta) -> list[Point]:
    """The rate of each step that has rows, in time order; ``step`` is a multiple of the tallies' own."""
    steps = group(tallies, lambda tally: floor(tally.bucket, step))
    return [Point(at, rate_of(steps[at])) for at in sorted(steps)]


def coverage(tallies: Sequence[Tally]) -> Coverage:
    """Counts of one slice and one detector (see ``of_detector``)."""
    known = dict.fromkeys(Outcome, 0)
    for tally in tallies:
        if tally.fingerprint:
            for outcome, number in zip(Outcome, tally.outcomes, strict=False):
                known[outcome] += number
    return Coverage(
        traffic=sum(tally.traffic for tally in tallies),
        drawn=sum(tally.drawn for tally in tallies if not tally.fingerprint),
        judged=sum(tally.judged for tally in tallies),
        pending=sum(tally.pending for tally in tallies),
        errors=sum(number for outcome, number in known.items() if outcome.is_error),
        unresolved=sum(number for outcome, number in known.items() if outcome.is_unresolved),
        unclear=known[Outcome.UNCLEAR],
        abstained=known[Outcome.ABSTAINED],
        other=known[Outcome.CLARIFIED] + known[Outcome.NO_CLAIMS],
        bounds=bounds(tallies),
    )
