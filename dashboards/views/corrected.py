"""The estimated true rate beside the apparent one: what reviewers said of the last four weeks, and what is missing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dashboards import series
from sampling.corrected import CorrectedRate, corrected_by_slice
from sampling.review_labels import answers_of, reviewed
from schemas.review import ReviewLabel
from schemas.slice import Slice
from schemas.tally import Tally

_SEED = 0
"""Fixed, so that an interval does not tremble from one look at the page to the next."""


@dataclass(frozen=True, slots=True)
class CorrectedView:
    """The rate of all slices together; ``slices`` holds those that have enough labels of their own."""

    whole: CorrectedRate
    slices: Mapping[Slice, CorrectedRate] = field(default_factory=dict)


def corrected_view(tallies: Sequence[Tally], labels: Sequence[ReviewLabel], fingerprint: str) -> CorrectedView:
    """Corrected rates of one detector from tallies and labels of the same days."""
    by_slice = series.by_slice(series.of_detector(tallies, fingerprint))
    answers = answers_of(reviewed(labels))
    whole, slices = corrected_by_slice(by_slice, answers, fingerprint, np.random.default_rng(_SEED))
    return CorrectedView(whole, {cell: found for cell, found in slices.items() if found.rate is not None})
