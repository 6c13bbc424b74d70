"""Said against denied: negation, opposites, hedges and absolute words on both sides of a match."""

from collections.abc import Sequence

from detectors.evidence.matching import Match, PreparedClaim, once
from detectors.evidence.words import Word

_SCOPE_WORDS = 4


def negated_keys(words: Sequence[Word]) -> set[str]:
    """Counting keys within four words after a negation."""
    found: set[str] = set()
    left = 0
    for word in words:
        if word.is_negation:
            left = _SCOPE_WORDS
        elif left:
            left -= 1
            if not word.is_stop:
                found.add(word.key)
    return found


@once
def opposing(claim: PreparedClaim, found: Match) -> list[tuple[str, str]]:
    """Claim words missing from the best piece whose opposite stands there and not in the claim, as stems."""
    if not claim.turning:
        return []
    keys = found.best.all_keys
    own = {word.key for word in claim.words}
    return [
        (word.key, other)
        for word in claim.turning
        if word.key not in keys
        for other in sorted(word.opposites & keys)
        if other not in own
    ]


def polarity(claim: PreparedClaim, found: Match) -> tuple[float, float, float, float, float, float]:
    """Negation added and lost, opposites, hedges added and lost, absolute words added; against the best piece."""
    denied = claim.has_negation
    evidence_denied = found.best.has_negation
    hedged = claim.has_hedge
    evidence_hedged = found.best.has_hedge
    absolutes = found.best.absolutes
    return (
        float(denied and not evidence_denied),
        float(evidence_denied and not denied),
        float(len(opposing(claim, found))),
        float(hedged and not evidence_hedged),
        float(evidence_hedged and not hedged),
        float(sum([word.is_absolute and word.key not in absolutes for word in claim.words])),
    )


def scopes(claim: PreparedClaim, found: Match) -> tuple[float, float]:
    """Shared words negated on one side only, and keys of key-value pieces whose value says the opposite."""
    own = negated_keys(claim.words)
    conflicts = denied = 0
    for piece in found.chosen:
        if not piece.is_key_value:
            conflicts += len((own ^ negated_keys(piece.words)) & claim.weights.keys() & piece.keys)
    for piece in found.near_key_values:
        label = piece.label
        if label and label <= claim.weights.keys():
            denied += piece.words[-1].is_negation != bool(label & own)
    return float(conflicts), float(denied)
