"""Scores against people's labels: pairs, thresholds, reliability, confusion; counts only, intervals are for the caller.

A score is the support of an answer's weakest claim; an answer is flagged when it lies *below* the threshold.
"""

from detectors.calibration.choosing import LEAST_FLAGGED, Choice, Measure, Target, choose
from detectors.calibration.claims import ClaimPair, claim_pairs
from detectors.calibration.counts import GRID, Counts, Curve, ScoreCounts, counted, place_of
from detectors.calibration.folding import cross_fitted, folds_of, resampled
from detectors.calibration.fractions import fractions_at, mark_sums
from detectors.calibration.pairs import Pair, Paired, paired
from detectors.calibration.reliability import Bin, Reliability, reliability

__all__ = [
    "GRID",
    "LEAST_FLAGGED",
    "Bin",
    "Choice",
    "ClaimPair",
    "Counts",
    "Curve",
    "Measure",
    "Pair",
    "Paired",
    "Reliability",
    "ScoreCounts",
    "Target",
    "choose",
    "claim_pairs",
    "counted",
    "cross_fitted",
    "folds_of",
    "fractions_at",
    "mark_sums",
    "paired",
    "place_of",
    "reliability",
    "resampled",
]
