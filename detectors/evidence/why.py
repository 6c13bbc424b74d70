"""The reason beside a score: the figure, word or name that speaks loudest against a claim, in a few words."""

from collections.abc import Sequence

from detectors.evidence import figures
from detectors.evidence.conflicts import (
    clashing_amounts,
    clashing_names,
    exchanges,
    is_denied_on_one_side,
)
from detectors.evidence.matching import Match, PreparedClaim
from detectors.evidence.polarity import opposing
from detectors.evidence.roles import clashing_roles
from detectors.evidence.words import Word

NO_EVIDENCE = "no word of weight is in the passages"
_LONGEST = 40
_MOST_WORDS = 3


def explain(claim: PreparedClaim, found: Match) -> str:
    """Why the claim stands or falls, shown in the claim's own spelling; bounded in length, untrusted in content."""
    clashes = [(own.text, other.text) for own, other in clashing_amounts(claim, found)]
    clashes = clashes or [(exchange.own, exchange.other) for exchange in exchanges(claim, found)]
    if not clashes:
        evidence = found.best.figures
        clashes = [(own.text, other.text) for own, other in figures.conflicting(claim.figures, evidence)]
    if clashes:
        return f"{clashes[0][0][:_LONGEST]} here, {clashes[0][1][:_LONGEST]} in the evidence"
    missing = figures.missing(claim.figures, found.window_figures)
    if missing:
        return f"the figure {missing[0].text[:_LONGEST]} is not in the evidence"
    opposites = opposing(claim, found)
    if opposites:
        return f"'{_spelled(claim.words, opposites[0][0])}' has its opposite in the evidence"
    if is_denied_on_one_side(claim, found):
        return "a negation on one side only"
    return _names(claim, found) or _absence(claim, found)


def _names(claim: PreparedClaim, found: Match) -> str:
    for name, stands in clashing_names(claim, found):
        return f"{_spelled(claim.words, name)} here, {_spelled(found.best.words, stands)} in the evidence"
    for left, right in clashing_roles(claim, found):
        one, other = _spelled(claim.words, left), _spelled(claim.words, right)
        return f"{one} and {other} have changed places in the evidence"
    return ""


def _absence(claim: PreparedClaim, found: Match) -> str:
    absent = sorted((key for key in claim.keys if key not in found.window_keys), key=lambda key: -claim.weights[key])
    names = [key for key in absent if key in claim.names] or absent
    if not names:
        return "every word that counts is in the evidence"
    return "not in the evidence: " + ", ".join(_spelled(claim.words, key) for key in names[:_MOST_WORDS])


def _spelled(words: Sequence[Word], key: str) -> str:
    return next(word.text for word in words if word.key == key)[:_LONGEST]
