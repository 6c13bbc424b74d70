"""Self-consistency (L4): how far an answer stays the same when the model is asked several times; never a label."""

from detectors.consistency.causes import mean_logprob, why_check
from detectors.consistency.check import SelfConsistency
from detectors.consistency.comparing import Comparison, compare
from detectors.consistency.drawing import CompletionResampler
from detectors.consistency.resampling import Resampler, ResamplingFailed, Samples
from detectors.consistency.vote import LEAST_OF_FIVE, Vote, normalised, vote

__all__ = [
    "LEAST_OF_FIVE",
    "Comparison",
    "CompletionResampler",
    "Resampler",
    "ResamplingFailed",
    "Samples",
    "SelfConsistency",
    "Vote",
    "compare",
    "mean_logprob",
    "normalised",
    "vote",
    "why_check",
]
