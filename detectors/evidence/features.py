"""Numbers that describe how a matched claim stands to its evidence; names and order of ``FEATURES`` are the contract."""

from collections.abc import Sequence
from math import log1p

from detectors.evidence.matching import Figure, Match, PreparedClaim, figures_of
from detectors.evidence.words import Word

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
)
FEATURE_VERSION = "1"
_PREFIX = 5
_GAP = 4


def featurise(claim: PreparedClaim, found: Match, question: frozenset[str]) -> list[float]:
    """One value per name of ``FEATURES``; each depends on the claim, the question and the matched pieces alone."""
    weights, total = claim.weights, claim.total or 1.0
    best_at = positions(found.best.words)
    missing = [key for key in claim.keys if key not in found.window_keys]
    stems = {key[:_PREFIX] for key in found.window_keys if len(key) >= _PREFIX}
    hard = [key for key in missing if len(key) < _PREFIX or key[:_PREFIX] not in stems]
    union_weight = sum(weights[key] for key in claim.keys if key in found.union_keys)
    missing_weight = sum(weights[key] for key in missing)
    hard_weight = sum(weights[key] for key in hard)
    substituted, inserted, heaviest = _substitutions(claim, best_at, found.best.words)
    return [
        found.best_score,
        union_weight / total,
        1 - missing_weight / total,
        1 - hard_weight / total,
        found.runner_up,
        float(len(found.chosen)),
        *_order(claim, found),
        len(found.best.keys & weights.keys()) / max(len(found.best.keys), 1),
        float(len(hard)),
        hard_weight,
        max((weights[key] for key in hard), default=0.0),
        sum(key in question for key in hard) / max(len(hard), 1),
        *_names(claim, found, best_at),
        *_figures(claim, found),
        float(substituted),
        float(inserted),
        heaviest,
        *_polarity(claim, found),
        float(found.best.is_key_value),
        log1p(len(claim.keys)),
        sum(weights[key] for key in claim.keys if key in question) / total,
        _coverage(claim.keys[:3], weights, found.window_keys),
        _coverage(claim.keys[-3:], weights, found.window_keys),
        *_scopes(claim, found),
        *_swaps(claim, found),
        total,
        hard_weight / total,
    ]


def _coverage(keys: Sequence[str], weights: dict[str, float], held: frozenset[str]) -> float:
    total = sum(weights[key] for key in keys)
    return sum(weights[key] for key in keys if key in held) / total if total else 1.0


_SCOPE = 4


def negated_keys(words: Sequence[Word]) -> set[str]:
    """Counting keys within four words after a negation."""
    found: set[str] = set()
    left = 0
    for word in words:
        if word.is_negation:
            left = _SCOPE
        elif left:
            left -= 1
            if not word.is_stop:
                found.add(word.key)
    return found


def _scopes(claim: PreparedClaim, found: Match) -> tuple[float, float]:
    own = negated_keys(claim.words)
    conflicts = denied = 0
    for piece in found.chosen:
        shared = claim.weights.keys() & piece.keys
        if not piece.is_key_value:
            other = negated_keys(piece.words)
            conflicts += len((own ^ other) & shared)
    for piece in found.near_key_values:
        is_denied = piece.words[-1].is_negation
        label = piece.last_label
        if label and label <= claim.weights.keys():
            denied += is_denied != bool(label & own)
    return float(conflicts), float(denied)


def _swaps(claim: PreparedClaim, found: Match) -> tuple[float, float]:
    """Missing claim words whose neighbour is found beside a different word on the same side."""
    swaps = names = 0
    content = [word for word in claim.words if not word.is_stop]
    for piece in found.chosen:
        theirs = [word for word in piece.words if not word.is_stop]
        at = {}
        for i, word in enumerate(theirs):
            at.setdefault(word.key, i)
        for i, word in enumerate(content):
            if word.key in found.window_keys:
                continue
            for step in (-1, 1):
                j = i + step
                if not 0 <= j < len(content):
                    continue
                place = at.get(content[j].key)
                if place is None or not 0 <= place - step < len(theirs):
                    continue
                other = theirs[place - step]
                if other.key not in claim.weights:
                    swaps += 1
                    names += other.is_capital == word.is_capital and (other.value is None) == (word.value is None)
    return float(swaps), float(names)


def positions(words: Sequence[Word]) -> dict[str, int]:
    """First position of each counting key."""
    found: dict[str, int] = {}
    for at, word in enumerate(words):
        if not word.is_stop:
            found.setdefault(word.key, at)
    return found


def _order(claim: PreparedClaim, found: Match) -> tuple[float, float, float]:
    """Shares of the claim's word pairs found: as written, in one piece near each other, and of those in order."""
    phrases = {(a.key, b.key) for piece in found.chosen for a, b in zip(piece.words, piece.words[1:], strict=False)}
    written = [(a.key, b.key) for a, b in zip(claim.words, claim.words[1:], strict=False)]
    places = [positions(piece.words) for piece in found.chosen]
    keys = claim.keys
    pairs = [*zip(keys, keys[1:], strict=False), *zip(keys, keys[2:], strict=False)]
    together = ordered = 0
    for left, right in pairs:
        steps = [place[right] - place[left] for place in places if left in place and right in place]
        near = min(steps, key=abs, default=0)
        together += near != 0
        ordered += near > 0
    return (
        sum(pair in phrases for pair in written) / max(len(written), 1),
        together / max(len(pairs), 1),
        ordered / together if together else 1.0,
    )


def _names(claim: PreparedClaim, found: Match, best_at: dict[str, int]) -> tuple[float, float, float, float, float]:
    missing = sum(name not in found.window_keys for name in claim.names)
    outside = sum(name not in best_at for name in claim.names)
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
    return float(count), float(missing), missing / max(count, 1), float(outside), float(apart)


def missing_figures(claim: PreparedClaim, found: Match) -> list[Figure]:
    """Figures of the claim that stand nowhere in or directly around the chosen pieces, rounding allowed."""
    return [figure for figure in claim.figures if not _stands(figure, found.window_figures)]


def conflicting_figures(claim: PreparedClaim, found: Match) -> list[tuple[Figure, Figure]]:
    """Claim figures that the best piece lacks, each with a figure of the best piece in the same unit."""
    own = figures_of(found.best.words)
    held = {figure.key for figure in claim.figures}
    pairs = []
    for figure in claim.figures:
        if figure.unit and not _stands(figure, own):
            other = next((o for o in own if o.unit == figure.unit and o.key not in held), None)
            if other is not None:
                pairs.append((figure, other))
    return pairs


def _stands(figure: Figure, others: Sequence[Figure]) -> bool:
    return any(figure.key == other.key or _rounds_to(other.value, figure.value) for other in others)


def _rounds_to(exact: float, rounded: float) -> bool:
    """True when ``rounded`` is ``exact`` with fewer digits: 1.5 million for 1,523,000, 12 for 11.8; not 31 for 30."""
    # Small counts and years are exact: 2020 is not a rounded 2022.
    if exact.is_integer() and abs(exact) < 10_000:  # noqa: PLR2004
        return False
    near = abs(exact - rounded) <= 0.05 * abs(exact)
    return near and any(float(f"{exact:.{digits}g}") == rounded for digits in (1, 2, 3))


def _figures(claim: PreparedClaim, found: Match) -> tuple[float, float, float, float, float, float]:
    if not claim.figures:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    missing = missing_figures(claim, found)
    own = figures_of(found.best.words)
    outside = sum(not _stands(figure, own) for figure in claim.figures)
    units = {(figure.key, figure.unit) for figure in found.window_figures}
    keys = {figure.key for figure in found.window_figures}
    other_unit = sum(
        bool(figure.unit) and figure.key in keys and (figure.key, figure.unit) not in units for figure in claim.figures
    )
    return (
        float(len(claim.figures)),
        float(len(missing)),
        len(missing) / len(claim.figures),
        float(len(conflicting_figures(claim, found))),
        float(outside),
        float(other_unit),
    )


def _substitutions(claim: PreparedClaim, best_at: dict[str, int], words: Sequence[Word]) -> tuple[int, int, float]:
    """Claim words between two shared anchors where the evidence has other words (substituted) or none (inserted)."""
    substituted = inserted = 0
    heaviest = 0.0
    keys = claim.keys
    for at, key in enumerate(keys):
        if key in best_at:
            continue
        before = next((best_at[k] for k in reversed(keys[max(0, at - 2) : at]) if k in best_at), None)
        after = next((best_at[k] for k in keys[at + 1 : at + 3] if k in best_at), None)
        if before is None and after is None:
            continue
        low = before if before is not None else max(-1, (after or 0) - _GAP)
        high = after if after is not None else min(len(words), low + _GAP)
        if not 0 < high - low <= _GAP + 2:
            continue
        between = [word for word in words[low + 1 : high] if not word.is_stop and word.key not in claim.weights]
        if between:
            substituted += 1
            heaviest = max(heaviest, claim.weights[key])
        elif before is not None and after is not None:
            inserted += 1
    return substituted, inserted, heaviest


def _polarity(claim: PreparedClaim, found: Match) -> tuple[float, float, float, float, float, float]:
    denied = any(word.is_negation for word in claim.words)
    evidence = found.best.words
    evidence_denied = any(word.is_negation for word in evidence)
    hedged = any(word.is_hedge for word in claim.words)
    evidence_hedged = any(word.is_hedge for word in evidence)
    absolutes = {word.key for word in evidence if word.is_absolute}
    return (
        float(denied and not evidence_denied),
        float(evidence_denied and not denied),
        float(len(opposing(claim, found))),
        float(hedged and not evidence_hedged),
        float(evidence_hedged and not hedged),
        float(sum(word.is_absolute and word.key not in absolutes for word in claim.words)),
    )


def opposing(claim: PreparedClaim, found: Match) -> list[tuple[str, str]]:
    """Claim words missing from the best piece whose opposite stands there and not in the claim, as stems."""
    keys = {word.key for word in found.best.words}
    own = {word.key for word in claim.words}
    return [
        (word.key, other)
        for word in claim.words
        if word.opposites and word.key not in keys
        for other in sorted(word.opposites & keys)
        if other not in own
    ]


def is_disputed(claim: PreparedClaim, found: Match) -> bool:
    """True when the best piece has another figure in the same unit, or the opposite of a word of the claim."""
    return bool(conflicting_figures(claim, found) or opposing(claim, found))
