"""What the claims of an answer come to: features of the whole answer, added up from those of its claims.

The claims and the pieces matched to them count, so that padding of the passages changes nothing here either, unless it
holds a name or a figure that the answer has made up.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from detectors.evidence.features import FEATURES, WHOLE
from detectors.evidence.forest import Array

MORE_IS_BETTER = (
    "weakest",
    "second_weakest",
    "third_weakest",
    "mean",
    "all_supported",
    "union_coverage",
    "window_coverage",
    "soft_coverage",
    "best_coverage",
    "lowest_window_coverage",
    "lowest_best_coverage",
    "phrase_coverage",
    "pair_coverage",
)
MORE_IS_WORSE = (
    "missing_heaviest",
    "missing_weight_share",
    "missing_weight",
    "names_missing_share",
    "names_outside_best_share",
    "figures_missing_share",
    "figures_outside_best_share",
    "capitals_absent_share",
    "numbers_absent_share",
    "conflicts_decisive",
    "meaning_opposite",
    "antonym_in_best",
)
EITHER = (
    "claims",
    "names",
    "figures",
    "ordered_pairs",
    "question_overlap",
    "key_values",
    "length",
    "length_a_claim",
    "best_precision",
    "novelty_in_copy",
    "meaning_same",
    "meaning_kind",
    "meaning_unrelated",
    "antonym_near",
    "polarity_conflicts",
    "hedge_lost",
    "absolutes_added",
    "substitutions",
    "insertions",
    "neighbour_swaps",
    "name_swaps",
    "runner_up_coverage",
    "union_pieces",
    "missing_in_question",
)
ANSWER_FEATURES = (*MORE_IS_BETTER, *MORE_IS_WORSE, *EITHER)
_COLUMN = {name: at for at, name in enumerate((*FEATURES, *WHOLE))}
_LEAST = 1e-4
_TINY = 1e-9


def answer_features(rows: Array, support: Array, sizes: Sequence[int]) -> Array:
    """One row of ``ANSWER_FEATURES`` an answer, of claims in order; ``sizes`` says how many each has, at least one.

    ``rows`` hold ``FEATURES`` and ``WHOLE`` of each claim, ``support`` their probabilities. Shares of words are by
    weight, shares of phrases by number of words.
    """
    counts = np.asarray(sizes, dtype=np.intp)
    first = np.cumsum(counts) - counts
    odds = log_odds(support)
    ranked = odds[np.lexsort((odds, np.repeat(np.arange(len(counts)), counts)))]
    total, words = _column(rows, "weighted_length"), np.expm1(_column(rows, "length"))

    def summed(values: Array) -> Array:
        sums: Array = np.add.reduceat(values, first)
        return sums

    all_weight, all_words = np.maximum(summed(total), _TINY), np.maximum(summed(words), _TINY)

    def by_weight(name: str) -> Array:
        return summed(total * _column(rows, name)) / all_weight

    def by_words(name: str) -> Array:
        return summed(words * _column(rows, name)) / all_words

    def each(name: str) -> Array:
        return summed(_column(rows, name))

    def share(name: str, of: str) -> Array:
        return each(name) / np.maximum(each(of), 1.0)

    every = np.minimum(summed(np.log(_clipped(support))), -_TINY)
    made = {
        "weakest": ranked[first],
        "second_weakest": ranked[first + np.minimum(1, counts - 1)],
        "third_weakest": ranked[first + np.minimum(2, counts - 1)],
        "mean": summed(odds) / counts,
        "all_supported": every - np.log(-np.expm1(every)),
        "claims": np.log1p(counts),
        "lowest_window_coverage": np.minimum.reduceat(_column(rows, "window_coverage"), first),
        "lowest_best_coverage": np.minimum.reduceat(_column(rows, "best_coverage"), first),
        "missing_heaviest": np.maximum.reduceat(_column(rows, "missing_heaviest"), first),
        "missing_weight_share": each("missing_weight") / all_weight,
        "missing_weight": np.log1p(each("missing_weight")),
        "names": each("names"),
        "figures": each("figures"),
        "names_missing_share": share("names_missing", "names"),
        "names_outside_best_share": share("names_outside_best", "names"),
        "figures_missing_share": share("figures_missing", "figures"),
        "figures_outside_best_share": share("figures_outside_best", "figures"),
        "capitals_absent_share": share("capitals_absent", "capitals"),
        "numbers_absent_share": share("numbers_absent", "numbers"),
        "conflicts_decisive": each("conflict_decisive"),
        "question_overlap": by_weight("question_overlap"),
        "key_values": each("is_key_value") / counts,
        "length": np.log1p(all_words),
        "length_a_claim": all_words / counts,
        "novelty_in_copy": np.maximum.reduceat(_column(rows, "novelty_in_copy"), first),
        **{name: by_weight(name) for name in ("union_coverage", "window_coverage", "soft_coverage", "best_coverage")},
        **{name: by_words(name) for name in ("phrase_coverage", "pair_coverage", "ordered_pairs", "best_precision")},
        **{name: each(name) / all_weight for name in _OF_WEIGHT},
        **{name: each(name) / all_words for name in _OF_WORDS},
        **{name: each(name) / counts for name in _OF_CLAIMS},
    }
    return np.stack([made[name] for name in ANSWER_FEATURES], axis=1)


_OF_WEIGHT = (
    "meaning_same",
    "meaning_kind",
    "meaning_unrelated",
    "meaning_opposite",
    "antonym_near",
    "antonym_in_best",
)
_OF_WORDS = ("substitutions", "insertions", "neighbour_swaps", "name_swaps")
_OF_CLAIMS = (
    "polarity_conflicts",
    "hedge_lost",
    "absolutes_added",
    "runner_up_coverage",
    "union_pieces",
    "missing_in_question",
)


def _column(rows: NDArray[np.float64], name: str) -> Array:
    values: Array = rows[:, _COLUMN[name]]
    return values


def _clipped(support: Array) -> Array:
    values: Array = np.clip(support, _LEAST, 1 - _LEAST)
    return values


def log_odds(support: Array) -> Array:
    """Of probabilities, finite at 0 and 1."""
    kept = _clipped(support)
    odds: Array = np.log(kept / (1 - kept))
    return odds


def sigmoid(scores: Array) -> Array:
    """The logistic function, without overflow."""
    result: Array = 0.5 * (1.0 + np.tanh(0.5 * scores))
    return result
