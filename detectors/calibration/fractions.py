"""Calibrated fractions: a score as the share of hallucinated answers among those that score so, at a base rate."""

import numpy as np
from scipy.optimize import isotonic_regression

from detectors.calibration.counts import Array, Curve


def fractions_at(curve: Curve, base_rate: float) -> Array:
    """For every score bin P(hallucinated | score) where ``base_rate`` of the answers are; never rising with support.

    Isotonic regression over bins (Zadrozny and Elkan 2002), labels reweighed to the base rate. Needs both labels.
    """
    bad = base_rate * curve.bad_bins / curve.bad
    good = (1 - base_rate) * curve.good_bins / curve.good
    weight = bad + good
    seen = weight > 0
    fitted = isotonic_regression(bad[seen] / weight[seen], weights=weight[seen], increasing=False).x
    places = np.arange(len(weight))
    return np.asarray(np.interp(places, places[seen], fitted))


def mark_sums(curve: Curve, fractions: Array) -> tuple[float, float]:
    """The fractions that hallucinated, and that grounded answers get, each added up."""
    return float(curve.bad_bins @ fractions), float(curve.good_bins @ fractions)
