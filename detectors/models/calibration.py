"""The seam between a model's raw probability and a score that means what it says; the default changes nothing."""

from dataclasses import dataclass
from math import exp, log

_NEAREST = 1e-6
"""Probabilities are kept this far from 0 and 1 when their log-odds are taken."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Platt scaling of log-odds: sigmoid(slope · logit(p) + intercept) (Platt 1999).

    >>> Calibration().apply(0.25)
    0.25
    >>> round(Calibration(slope=0.5, intercept=1.0).apply(0.25), 3)
    0.611
    """

    slope: float = 1.0
    intercept: float = 0.0

    def apply(self, probability: float) -> float:
        """The calibrated probability; the identity gives back the very number."""
        if self == IDENTITY:
            return probability
        kept = min(max(probability, _NEAREST), 1 - _NEAREST)
        scaled = self.slope * log(kept / (1 - kept)) + self.intercept
        return 1 / (1 + exp(-scaled)) if scaled >= 0 else exp(scaled) / (1 + exp(scaled))

    @property
    def numbers(self) -> list[float]:
        """For fingerprints."""
        return [self.slope, self.intercept]


IDENTITY = Calibration()
