"""Claims in the light of their answer: the log-odds of all of them move by one amount, to where the answer stands.

The answer as a whole tells more than its weakest claim does. So the weakest claim is moved to the score of the answer,
brought to the scale of claims, and the others keep their distance from it: their order stays. Upwards it goes only as
far as the weakest of many claims errs low for their number; so a short answer never hides a doubtful claim, and a claim
that is alone in its answer stays where it is.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from detectors.evidence.answers import log_odds, sigmoid
from detectors.evidence.forest import Array

Flags = NDArray[np.bool_]
MOST_SUPPORT_IN_CONFLICT = 0.3
LEAST_CONTRADICTION_IN_CONFLICT = 0.5
"""Bounds where the evidence says otherwise in so many words; the training record holds how often people agree."""
_NAMED = 0.4
"""Contradiction that the shipped thresholds name: a claim of so much never has less of it after a move."""
_SHORT = 3
"""Claims of a short answer."""
_TINY = 1e-4
_BISECTIONS = 40
_FURTHEST = 8.0


def shifts(support: Array, contradiction: Array, is_decided: Flags, sizes: Sequence[int], aims: Array) -> Array:
    """How far the claims of each answer move, in log-odds, so that the weakest stands at the answer's of ``aims``.

    ``sizes`` says how many claims each answer has, at least one; ``is_decided`` those that a conflict bounds. A move
    upwards is at most log(claims / 3), ends where a bounded claim would pass its bound, or a contradicted one what its
    contradiction leaves, and is none where a claim has no support at all.
    """
    counts = np.asarray(sizes, dtype=np.intp)
    first = np.cumsum(counts) - counts
    odds = log_odds(support)
    bounds = np.where(contradiction >= _NAMED, 1 - contradiction, 1.0)
    bounds = np.where(is_decided, np.minimum(bounds, MOST_SUPPORT_IN_CONFLICT), bounds)
    room = np.where(bounds < 1, np.maximum(log_odds(bounds) - odds, 0.0), np.inf)
    room = np.where(support > 0, room, 0.0)
    most = np.minimum(np.log(np.maximum(counts / _SHORT, 1.0)), np.minimum.reduceat(room, first))
    moves = np.minimum(aims - np.minimum.reduceat(odds, first), most)
    found: Array = np.where(counts > 1, moves, 0.0)
    return found


def moved(support: Array, contradiction: Array, is_decided: Flags, by: Array) -> tuple[Array, Array]:
    """Support moved by ``by`` log-odds, a row a judgement, and contradiction, which takes the same part of the rest.

    Where ``by`` is 0 both stay to the last bit. A decisive conflict bounds both as before, and contradiction that is
    named does not fall.
    """
    found = sigmoid(log_odds(support) + by)
    found = np.where(is_decided, np.minimum(found, MOST_SUPPORT_IN_CONFLICT), found)
    follows = np.minimum(contradiction * (1 - found) / np.maximum(1 - support, _TINY), 1 - found)
    follows = np.where(is_decided, np.maximum(follows, LEAST_CONTRADICTION_IN_CONFLICT), follows)
    follows = np.where(contradiction >= _NAMED, np.maximum(follows, contradiction), follows)
    return np.where(by == 0, support, found), np.where(by == 0, contradiction, follows)


def fit_anchor(support: Array, is_decided: Flags, sizes: Sequence[int], answer: Array, supported: Array) -> float:
    """What added to the log-odds of ``answer`` makes claims as supported, on the mean, as people say they are.

    ``supported`` is 1 or 0, NaN where nobody said; claims that are alone in their answer are left out, as they stay.
    """
    counts = np.asarray(sizes, dtype=np.intp)
    used = ~np.isnan(supported) & np.repeat(counts > 1, counts)
    if not used.any():
        return 0.0
    share, low, high = supported[used].mean(), -_FURTHEST, _FURTHEST
    none = np.zeros_like(support)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        by = np.repeat(shifts(support, none, is_decided, sizes, log_odds(answer) + middle), counts)
        mean = moved(support, none, is_decided, by)[0][used].mean()
        low, high = (low, middle) if mean > share else (middle, high)
    return float(middle)
