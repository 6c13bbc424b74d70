"""The reason beside a score: the figure, word or name that speaks loudest against a claim, in a few words."""

from collections.abc import Sequence

from detectors.evidence import figures
from detectors.evidence.matching import Match, PreparedClaim
from detectors.evidence.polarity import negated_keys, opposing
from detectors.evidence.words import Word

NO_EVIDENCE = "no word of weight is in the passages"
_LONGEST = 40
_MOST_WORDS = 3


def explain(claim: PreparedClaim, found: Match) -> str:
    """Why the claim stands or falls, shown in the claim's own spelling; bounded in length, untrusted in content."""
    conflicts = figures.conflicting(claim.figures, figures.figures_of(found.best.words))
    if conflicts:
        own, other = conflicts[0]
        return f"{own.text[:_LONGEST]} here, {other.text[:_LONGEST]} in the evidence"
    missing = figures.missing(claim.figures, found.window_figures)
    if missing:
        return f"the figure {missing[0].text[:_LONGEST]} is not in the evidence"
    opposites = opposing(claim, found)
    if opposites:
        return f"'{_spelled(claim, opposites[0][0])}' has its opposite in the evidence"
    if _is_denied(claim.words) != _is_denied(found.best.words) and _differ_in_scope(claim, found):
        return "a negation on one side only"
    return _absence(claim, found)


def _absence(claim: PreparedClaim, found: Match) -> str:
    absent = sorted((key for key in claim.keys if key not in found.window_keys), key=lambda key: -claim.weights[key])
    names = [key for key in absent if key in claim.names] or absent
    if not names:
        return "every word that counts is in the evidence"
    return "not in the evidence: " + ", ".join(_spelled(claim, key) for key in names[:_MOST_WORDS])


def _differ_in_scope(claim: PreparedClaim, found: Match) -> bool:
    shared = claim.weights.keys() & found.best.keys
    return bool((negated_keys(claim.words) ^ negated_keys(found.best.words)) & shared)


def _is_denied(words: Sequence[Word]) -> bool:
    return any(word.is_negation for word in words)


def _spelled(claim: PreparedClaim, key: str) -> str:
    return next(word.text for word in claim.words if word.key == key)[:_LONGEST]
