"""Word order: which pairs of the claim stand together in the evidence, and where another word stands in their place.

What WordNet says of that other word tells a wording from an exchange.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from detectors.evidence.matching import Match, PreparedClaim
from detectors.evidence.relations import company_of, relation, relation_of_two
from detectors.evidence.words import Word

_GAP = 4


def order_of(claim: PreparedClaim, found: Match) -> tuple[float, float, float]:
    """Shares of the claim's word pairs found: as written, in one piece near each other, and of those in order."""
    written = unwritten = claim.phrases
    for piece in found.chosen:
        phrases = piece.phrases
        unwritten = [pair for pair in unwritten if pair not in phrases]
    places = [piece.places for piece in found.chosen]
    keys = claim.keys
    pairs = [*pairwise(keys), *zip(keys, keys[2:], strict=False)]
    together = ordered = 0
    for left, right in pairs:
        near = 0
        for place in places:
            if left in place and right in place:
                step = place[right] - place[left]
                near = step if not near or abs(step) < abs(near) else near
        together += near != 0
        ordered += near > 0
    return (
        (len(written) - len(unwritten)) / max(len(written), 1),
        together / max(len(pairs), 1),
        ordered / together if together else 1.0,
    )


def substitutions(claim: PreparedClaim, found: Match) -> tuple[float, float, float]:
    """Claim words between two shared anchors where the best piece has other words, or none; heaviest of the first."""
    substituted = inserted = 0
    heaviest = 0.0
    keys = claim.keys
    words = found.best.words
    best_at = found.best.places
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
    return float(substituted), float(inserted), heaviest


def swaps(claim: PreparedClaim, found: Match) -> tuple[float, ...]:
    """Missing claim words whose neighbour stands beside a different word on the same side.

    Their number, and how many of these others are alike in kind, the opposite, another of one kind or narrower, and the
    same or wider.
    """
    content = [word for word in claim.words if not word.is_stop]
    absent = [at for at, word in enumerate(content) if word.key not in found.window_keys]
    if not absent:
        return (0.0,) * 5
    swapped = alike = 0
    stand: Counter[str] = Counter()
    for piece in found.chosen:
        theirs, places = piece.content, piece.content_places
        for at in absent:
            for other in _in_its_place(content, at, theirs, places):
                if other.key not in claim.weights:
                    swapped += 1
                    alike += _is_like(content[at], other)
                    stand[relation_of_two(content[at].key, other.key)] += 1
    kinds = (stand["opposite"], stand["of_one_kind"] + stand["narrower"], stand["same"] + stand["wider"])
    return (float(swapped), float(alike), *map(float, kinds))


def meanings(claim: PreparedClaim, found: Match) -> tuple[float, ...]:
    """Weights of the missing words by what the evidence has in their stead, and of words with an antonym there.

    Same, wider, narrower, opposite, of one kind, none of these; an antonym in the best piece; one in the window.
    """
    weights, own = claim.weights, claim.weights.keys()
    missing = [key for key in claim.keys if key not in found.window_keys and key[0] not in "#@"]
    others = company_of(found.union_keys - own if missing else ())
    sums = dict.fromkeys(("same", "wider", "narrower", "opposite", "of_one_kind", "unrelated"), 0.0)
    for key in missing:
        sums[relation(key, others)] += weights[key]
    opposed = [0.0, 0.0]
    for key, antonyms in claim.antonyms:
        for at, held in enumerate((found.best.keys, found.window_keys)):
            opposed[at] += weights[key] if key not in held and not antonyms.isdisjoint(held) else 0.0
    return (*sums.values(), *opposed)


def _in_its_place(content: Sequence[Word], at: int, theirs: Sequence[Word], places: dict[str, int]) -> list[Word]:
    found = []
    for step in (-1, 1):
        neighbour = at + step
        place = places.get(content[neighbour].key) if 0 <= neighbour < len(content) else None
        if place is not None and 0 <= place - step < len(theirs):
            found.append(theirs[place - step])
    return found


def _is_like(word: Word, other: Word) -> bool:
    return word.is_capital == other.is_capital and (word.value is None) == (other.value is None)
