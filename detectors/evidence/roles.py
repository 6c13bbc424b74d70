"""Who did what to whom: names that have changed places, by the order of words and the passive."""

from collections.abc import Sequence
from itertools import pairwise

from detectors.evidence.lexicon import MUTUAL
from detectors.evidence.matching import Match, PreparedClaim, once
from detectors.evidence.words import Word, stem

_REACH = 8
_BESIDE = frozenset(("and", "or", "nor", "as", "&"))
"""What stands between two names that may change places without a change of meaning."""
_TURNING = frozenset(("by", "is", "are", "was", "were", "be", "been", "being", "isn't", "aren't", "wasn't", "weren't"))
"""Words of the passive."""
_MUTUAL = frozenset(map(stem, MUTUAL))


def reversals(claim: PreparedClaim, found: Match) -> tuple[float, float]:
    """How many roles are exchanged, and how many names or figures stand in the other order; against the best piece.

    The second counts neighbours with a word between them that is no "and" ("from Oslo to Bergen").
    """
    there, ends = found.best.places, 0
    for left, right in pairwise(claim.movable):
        if left in there and right in there and 0 < there[left] - there[right] <= _REACH:
            start, end = claim.places[left], claim.places[right]
            between = [word.key for word in claim.words[start + 1 : end]]
            is_one_voice = _is_turned(claim.words, start, end) == _is_turned(
                found.best.words, there[right], there[left]
            )
            ends += 0 < len(between) <= _REACH and _BESIDE.isdisjoint(between) and is_one_voice
    return float(len(exchanged_roles(claim, found))), float(ends)


@once
def exchanged_roles(claim: PreparedClaim, found: Match) -> list[tuple[str, str, str]]:
    """Who did what to whom the other way round: "Ben manages Anna" beside "Anna manages Ben".

    Three neighbours of the claim of which the outer ones have changed places in the best piece, unless one side alone
    is in the passive; with a passive on one side those that have not.
    """
    keys, there, exchanged = claim.keys, found.best.places, []
    for left, middle, right in zip(keys, keys[1:], keys[2:], strict=False):
        if left not in there or middle not in there or right not in there:
            continue
        first, second, third = there[left], there[middle], there[right]
        if abs(third - first) > _REACH or not (first < second < third or first > second > third):
            continue
        mine = _is_turned(claim.words, claim.places[left], claim.places[right])
        theirs = _is_turned(found.best.words, min(first, third), max(first, third))
        if (first > third) != (mine != theirs):
            exchanged.append((left, middle, right))
    return exchanged


def _is_turned(words: Sequence[Word], start: int, end: int) -> bool:
    return any(word.key in _TURNING for word in words[start + 1 : end])


def clashing_roles(claim: PreparedClaim, found: Match) -> list[tuple[str, str]]:
    """Two names that have changed places around the same word, unless what it says goes both ways ("met")."""
    if found.best.is_key_value or len(claim.movable) <= 1 or claim.has_negation != found.best.has_negation:
        return []
    # With a capital on both sides: any word may begin a sentence.
    there = {word.key for word in found.best.words if word.is_capital}
    names = frozenset(key for key in claim.movable if key[0] not in "#@" and key in there)
    # Names around a name are a list, which may be told in any order.
    return [
        (left, right)
        for left, middle, right in exchanged_roles(claim, found)
        if left in names and right in names and middle not in names and middle not in _MUTUAL
    ]
