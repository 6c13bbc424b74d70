"""Numbers that say how a matched claim stands to its evidence; names and order of ``FEATURES`` are the contract."""

from collections.abc import Sequence
from math import log1p

from detectors.evidence import figures
from detectors.evidence.alignment import meanings, order_of, substitutions, swaps
from detectors.evidence.conflicts import CONFLICTS, conflicts_of, exchanges
from detectors.evidence.matching import Match, PreparedClaim
from detectors.evidence.passages import IndexedPassage
from detectors.evidence.polarity import opposing, polarity, scopes
from detectors.evidence.roles import reversals

FEATURES = (
    "best_coverage",
    "union_coverage",
    "window_coverage",
    "soft_coverage",
    "runner_up_coverage",
    "union_pieces",
    "phrase_coverage",
    "pair_coverage",
    "ordered_pairs",
    "best_precision",
    "missing_count",
    "missing_weight",
    "missing_heaviest",
    "missing_in_question",
    "names",
    "names_missing",
    "names_missing_share",
    "names_outside_best",
    "name_pairs_apart",
    "figures",
    "figures_missing",
    "figures_missing_share",
    "figures_conflicting",
    "figures_outside_best",
    "figures_other_unit",
    "substitutions",
    "insertions",
    "heaviest_substitution",
    "negation_added",
    "negation_lost",
    "opposites",
    "hedge_added",
    "hedge_lost",
    "absolutes_added",
    "is_key_value",
    "length",
    "question_overlap",
    "head_coverage",
    "tail_coverage",
    "polarity_conflicts",
    "denied_keys",
    "neighbour_swaps",
    "name_swaps",
    "weighted_length",
    "missing_share",
    "names_in_close_copy",
    "figures_in_close_copy",
    "polarity_in_close_copy",
    "missing_in_close_copy",
    "novelty_in_copy",
    "place_opposite",
    "place_kind",
    "place_same",
    "meaning_same",
    "meaning_wider",
    "meaning_narrower",
    "meaning_opposite",
    "meaning_kind",
    "meaning_unrelated",
    "antonym_in_best",
    "antonym_near",
    "roles_reversed",
    "ends_reversed",
    *CONFLICTS,
)
WHOLE = ("capitals", "capitals_absent", "numbers", "numbers_absent")
"""Beside them, for the score of the answer alone: what no passage holds anywhere."""
NOTHING = [0.0] * (len(FEATURES) + len(WHOLE))
"""The row of a claim without evidence."""
FEATURE_VERSION = "9"
_PREFIX = 5


def featurise(claim: PreparedClaim, found: Match, question: frozenset[str]) -> list[float]:
    """One value per name of ``FEATURES``; each depends on the claim, the question and the matched pieces alone."""
    weights, total = claim.weights, claim.total or 1.0
    hard, missing_weight = _missing(claim, found)
    hard_weight = sum(weights[key] for key in hard)
    phrases, pairs, ordered = order_of(claim, found)
    names = _names(claim, found)
    numbers = _figures(claim, found)
    sides = polarity(claim, found)
    conflicts, denied = scopes(claim, found)
    swapped, swapped_alike, *in_place = swaps(claim, found)
    close = pairs * pairs
    return [
        found.best_score,
        sum(weights[key] for key in claim.keys if key in found.union_keys) / total,
        1 - missing_weight / total,
        1 - hard_weight / total,
        found.runner_up,
        float(len(found.chosen)),
        phrases,
        pairs,
        ordered,
        len(found.best.keys & weights.keys()) / max(len(found.best.keys), 1),
        float(len(hard)),
        hard_weight,
        max((weights[key] for key in hard), default=0.0),
        sum(key in question for key in hard) / max(len(hard), 1),
        *names,
        *numbers,
        *substitutions(claim, found),
        *sides,
        float(found.best.is_key_value),
        log1p(len(claim.keys)),
        sum(weights[key] for key in claim.keys if key in question) / total,
        _coverage(claim.keys[:3], weights, found.window_keys),
        _coverage(claim.keys[-3:], weights, found.window_keys),
        conflicts,
        denied,
        swapped,
        swapped_alike,
        total,
        hard_weight / total,
        # One small change in a close copy is an error; the same change in a free wording is a wording.
        min(names[1] + 0.5 * swapped_alike, 3.0) * close,
        min(numbers[1] + numbers[3], 2.0) * close,
        min(sides[0] + sides[1] + sides[2] + 0.5 * conflicts, 3.0) * close,
        min(len(hard), 3) * close,
        bool(hard) * phrases * found.best_score,
        *in_place,
        *meanings(claim, found),
        *reversals(claim, found),
        *conflicts_of(claim, found),
    ]


def absences(claim: PreparedClaim, passages: Sequence[IndexedPassage]) -> list[float]:
    """One value per name of ``WHOLE``: capitalised words and figures, and how many of them no passage holds."""
    capitals = [word.key for word in claim.words if word.is_capital and word.value is None and not word.is_stop]
    numbers = [word.key for word in claim.words if word.value is not None]
    counts = []
    for keys in (capitals, numbers):
        absent = [key for key in keys if not any(key in passage.postings for passage in passages)]
        counts += [float(len(keys)), float(len(absent))]
    return counts


def disputed_keys(claim: PreparedClaim, found: Match) -> set[str]:
    """Claim words to which the best piece has another figure in the same unit, another unit, date or the opposite."""
    own = found.best.figures if claim.figures else ()
    conflicts = {figure.key for figure, _ in figures.conflicting(claim.figures, own)}
    exchanged = {key for exchange in exchanges(claim, found) for key in exchange.keys}
    return conflicts | exchanged | {key for key, _ in opposing(claim, found)}


def _missing(claim: PreparedClaim, found: Match) -> tuple[list[str], float]:
    """Keys without even a word of the same beginning around the evidence, and the weight of all missing ones."""
    missing = [key for key in claim.keys if key not in found.window_keys]
    if not missing:
        return [], 0.0
    beginnings = {key[:_PREFIX] for key in found.window_keys if len(key) >= _PREFIX}
    hard = [key for key in missing if len(key) < _PREFIX or key[:_PREFIX] not in beginnings]
    return hard, sum(claim.weights[key] for key in missing)


def _coverage(keys: Sequence[str], weights: dict[str, float], held: frozenset[str]) -> float:
    total = sum(weights[key] for key in keys)
    return sum(weights[key] for key in keys if key in held) / total if total else 1.0


def _names(claim: PreparedClaim, found: Match) -> tuple[float, float, float, float, float]:
    if not claim.names:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    missing = sum(name not in found.window_keys for name in claim.names)
    outside = sum(name not in found.best.keys for name in claim.names)
    apart = 0
    keys = claim.keys
    for at, key in enumerate(keys):
        if key not in claim.names:
            continue
        # A name that never shares a piece with the words beside it in the claim was probably moved there.
        beside = [other for other in keys[max(0, at - 2) : at + 3] if other != key and other in found.union_keys]
        shared = any(key in piece.keys and other in piece.keys for piece in found.chosen for other in beside)
        apart += bool(beside) and key in found.window_keys and not shared
    count = len(claim.names)
    return float(count), float(missing), missing / count, float(outside), float(apart)


def _figures(claim: PreparedClaim, found: Match) -> tuple[float, float, float, float, float, float]:
    if not claim.figures:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    own = found.best.figures
    missing = len(figures.missing(claim.figures, found.window_figures))
    return (
        float(len(claim.figures)),
        float(missing),
        missing / len(claim.figures),
        float(len(figures.conflicting(claim.figures, own))),
        float(len(figures.missing(claim.figures, own))),
        float(figures.in_other_unit(claim.figures, found.window_figures)),
    )
