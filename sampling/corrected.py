"""The rate that people would find, estimated from what the detector says of all and people say of some.

p = q · PPV + (1 − q) · FOR: q the share that the detector flags, PPV the share of flagged answers that people find
hallucinated, FOR the share of unflagged ones. The interval comes from draws of all three, Beta with Jeffreys' prior, so
that few labels and rare misses are not taken for certain. PPV and FOR belong to the traffic that the labels were drawn
from: q must be of the same days and detector. Measured in docs/results.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from sampling.rates import LEVEL, effective_estimate, estimate
from sampling.review_labels import Reviewed, weights_of
from schemas.alert import RateEstimate
from schemas.base import Record
from schemas.labels import ClaimLabel, Outcome
from schemas.review import ReviewLabel, ReviewStratum
from schemas.slice import Slice
from schemas.tally import Tally

NEEDED = {ReviewStratum.FLAGGED: 60, ReviewStratum.UNFLAGGED: 140}
"""Labels from which a corrected rate is shown: 200, three in ten of them on flagged answers."""
DRAWS = 20_000


@dataclass(frozen=True, slots=True)
class Labelled:
    """Labels of one verdict stratum: ``hits`` hallucinated among an effective ``size`` of ``labels`` counted ones."""

    hits: float = 0.0
    size: float = 0.0
    labels: int = 0

    @property
    def share(self) -> float | None:
        """Hallucinated among the labelled; None without labels."""
        return self.hits / self.size if self.size else None


class CorrectedRate(Record):
    """The estimated true rate beside the apparent one; ``rate`` is None while labels are missing.

    ``precision`` is PPV, ``false_omission`` FOR. ``unsettled`` answers, on which reviewers disagree, and ``undecided``
    ones, called unclear or abstained, are not among the labels.
    """

    apparent: RateEstimate
    rate: float | None = None
    low: float = 0.0
    high: float = 1.0
    level: float = LEVEL
    precision: float | None = None
    false_omission: float | None = None
    flagged_labels: int = 0
    unflagged_labels: int = 0
    missing_flagged: int = 0
    missing_unflagged: int = 0
    unsettled: int = 0
    undecided: int = 0

    @property
    def labels(self) -> int:
        """Labels that count."""
        return self.flagged_labels + self.unflagged_labels

    @property
    def missing(self) -> int:
        """Labels that are missing until a corrected rate is shown."""
        return self.missing_flagged + self.missing_unflagged


def correct(
    apparent: Labelled, flagged: Labelled, unflagged: Labelled, rng: np.random.Generator, level: float = LEVEL
) -> tuple[float, float, float]:
    """Corrected share with its interval, from the ``apparent`` share and the labels of both strata; none may be empty.

    The estimate is the plug-in, which is unbiased; it lies in the interval.
    """
    parts = (apparent, flagged, unflagged)
    q, ppv, omission = (rng.beta(part.hits + 0.5, max(part.size - part.hits, 0.0) + 0.5, DRAWS) for part in parts)
    low, high = np.quantile(q * ppv + (1 - q) * omission, [(1 - level) / 2, (1 + level) / 2])
    rate, share, missed = (part.hits / part.size for part in parts)
    plug_in = rate * share + (1 - rate) * missed
    return plug_in, min(float(low), plug_in), max(float(high), plug_in)


def corrected_rate(
    tallies: Sequence[Tally], answers: Iterable[Reviewed], fingerprint: str, rng: np.random.Generator
) -> CorrectedRate:
    """The corrected rate of some traffic: its tallies, and what people said of answers drawn from it.

    Only labels that the review draw asked for on verdicts of this detector count, each with its weight. Below
    ``NEEDED`` labels the rate is None, and the missing ones are told.
    """
    return _corrected(tallies, _weighted(answers, fingerprint), fingerprint, rng)


def corrected_by_slice(
    by_slice: Mapping[Slice, Sequence[Tally]], answers: Iterable[Reviewed], fingerprint: str, rng: np.random.Generator
) -> tuple[CorrectedRate, dict[Slice, CorrectedRate]]:
    """The corrected rate of all slices together, and that of each from its own labels alone."""
    every = _weighted(answers, fingerprint)
    whole = _corrected(list(chain.from_iterable(by_slice.values())), every, fingerprint, rng)
    own: dict[Slice, list[_Weighted]] = {}
    for one in every:
        own.setdefault(Slice(intent=one.drawn.intent, tier=one.drawn.tier), []).append(one)
    return whole, {cell: _corrected(rows, own.get(cell, []), fingerprint, rng) for cell, rows in by_slice.items()}


@dataclass(frozen=True, slots=True)
class _Weighted:
    """An answer that the draw asked about, with the answers of all traffic that it stands for."""

    drawn: ReviewLabel
    label: Outcome | ClaimLabel | None
    weight: float

    @property
    def is_decided(self) -> bool:
        return self.label in {Outcome.HALLUCINATED, Outcome.GROUNDED}


def _weighted(answers: Iterable[Reviewed], fingerprint: str) -> list[_Weighted]:
    own = [(one.drawn, one.label) for one in answers if one.drawn is not None and one.drawn.fingerprint == fingerprint]
    weights = weights_of([drawn for drawn, _ in own])
    return [_Weighted(drawn, label, weight) for (drawn, label), weight in zip(own, weights, strict=True)]


def _corrected(
    tallies: Sequence[Tally], own: Sequence[_Weighted], fingerprint: str, rng: np.random.Generator
) -> CorrectedRate:
    by_stratum = {stratum: _labelled(own, stratum) for stratum in NEEDED}
    missing = {stratum: max(NEEDED[stratum] - found.labels, 0) for stratum, found in by_stratum.items()}
    flagged, unflagged = by_stratum[ReviewStratum.FLAGGED], by_stratum[ReviewStratum.UNFLAGGED]
    found = CorrectedRate(
        apparent=estimate(tallies, fingerprint=fingerprint),
        precision=flagged.share,
        false_omission=unflagged.share,
        flagged_labels=flagged.labels,
        unflagged_labels=unflagged.labels,
        missing_flagged=missing[ReviewStratum.FLAGGED],
        missing_unflagged=missing[ReviewStratum.UNFLAGGED],
        unsettled=sum(one.label is None for one in own),
        undecided=sum(one.label is not None and not one.is_decided for one in own),
    )
    known = effective_estimate(tallies, fingerprint=fingerprint)
    if known is None or found.missing:
        return found
    share, size = known
    rate, low, high = correct(Labelled(share * size, size), flagged, unflagged, rng)
    return found.model_copy(update={"rate": rate, "low": low, "high": high})


def _labelled(answers: Iterable[_Weighted], stratum: ReviewStratum) -> Labelled:
    """Weighted hits at the effective sample size (Kish): (Σw)² / Σw² of the labels' weights."""
    mine = [one for one in answers if one.drawn.stratum is stratum and one.is_decided]
    if not mine:
        return Labelled()
    total = sum(one.weight for one in mine)
    size = total**2 / sum(one.weight**2 for one in mine)
    hits = sum(one.weight for one in mine if one.label is Outcome.HALLUCINATED)
    return Labelled(size * hits / total, size, len(mine))
