"""A claim said as its evidence says it: "1 hour" is read as "60 minutes", "WHO" as "World Health Organization".

The same quantity and the same name are then the same words for everything that counts words.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

from detectors.evidence.aliases import aliased
from detectors.evidence.exchanges import is_same_quantity
from detectors.evidence.kinds import Amount, amounts_of
from detectors.evidence.matching import Match, PreparedClaim, match, prepare
from detectors.evidence.measures import DURATION, Measure
from detectors.evidence.passages import IndexedPassage
from detectors.evidence.words import Word

_ONES = frozenset(("one", "a", "an"))


def matched(
    words: Sequence[Word], weight: Callable[[str], float], passages: Sequence[IndexedPassage]
) -> tuple[PreparedClaim, Match | None]:
    """The claim, in the units and short forms of its evidence where they differ, and its match over all passages."""
    claim = prepare(words, weight)
    found = match(claim, passages)
    named = aliased(claim, found) if found is not None and claim.has_names else None
    if named is not None:
        claim = prepare(named, weight)
        found = match(claim, passages)
    again = restated(claim, found) if found is not None and (claim.is_measured or claim.figures) else None
    if again is None:
        return claim, found
    claim = prepare(again, weight)
    return claim, match(claim, passages)


def restated(claim: PreparedClaim, found: Match) -> list[Word] | None:
    """Words of the claim with its quantities as the chosen pieces write them; None when nothing is to be changed."""
    held = found.best.keys
    words = claim.words
    strange = [one for one in _quantities(words) if one.key not in held or words[one.unit_at].key not in held]
    if not strange:
        return None
    theirs = [(other, piece.words) for piece in found.chosen for other in _quantities(piece.words)]
    changed: dict[int, list[Word]] = {}
    for one in strange:
        same = next((pair for pair in theirs if is_same_quantity(one, pair[0])), None)
        if same is not None and (same[0].key, same[0].unit) != (one.key, one.unit):
            changed[one.unit_at] = []
            changed[one.at] = _written(*same)
    if not changed:
        return None
    return [new for at, word in enumerate(words) for new in changed.get(at, [word])]


def _written(amount: Amount, words: Sequence[Word]) -> list[Word]:
    return [words[at] for at in sorted({amount.at, amount.unit_at})]


def _quantities(words: Sequence[Word]) -> list[Amount]:
    """Figures with units or between 0 and 1, and "one hour", "a day"."""
    found = [amount for amount in amounts_of(words) if amount.dimension or 0 < amount.value < 1]
    for at, (word, following) in enumerate(pairwise(words)):
        measure = following.measure
        if measure is None or measure.dimension != DURATION or word.text.lower() not in _ONES:
            continue
        # "three times a day" is a rate.
        if all(before.value is None for before in words[max(at - 2, 0) : at]):
            found.append(_one(word, measure, at))
    return found


def _one(word: Word, measure: Measure, at: int) -> Amount:
    return Amount(
        key=word.key,
        kind=DURATION,
        value=measure.scale,
        text=word.text,
        dimension=DURATION,
        unit=measure.unit,
        is_convertible=True,
        at=at,
        unit_at=at + 1,
    )
