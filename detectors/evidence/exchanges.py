"""What is exchanged under the same figure: a unit, a currency, a month, a day of the week.

"14 weeks" beside "14 days" says something else although its number stands there; "60 minutes" beside "1 hour" does not.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from detectors.evidence.kinds import Amount, dates_of
from detectors.evidence.matching import Match, PreparedClaim
from detectors.evidence.measures import MONTH, Measure
from detectors.evidence.words import Word

_TOLERANCE = 0.02
_NEAR = 8
_LENGTHS = {MONTH: 12}
_DAYS_A_WEEK = 7
Says = Callable[[frozenset[str]], bool]
"""Whether the best piece is a plain sentence that says the same as the claim but for these keys."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the claim says and what stands in its place, as written; ``keys`` are the claim's words in dispute."""

    own: str
    other: str
    keys: frozenset[str]


def exchanged_units(claim: PreparedClaim, found: Match, says_the_same: Says) -> list[Exchange]:
    """Figures of the claim that stand in the best piece with another unit of the same dimension only.

    No exchange where any piece near it holds the quantity, in whatever unit; where the best piece says the same but for
    the words in dispute, only that is asked.
    """
    if not claim.figures or not claim.is_measured:
        return []
    own = [one for one in claim.amounts if one.dimension and one.key in found.best.keys]
    theirs = [amount for amount in found.best.amounts if amount.dimension] if own else []
    pairs = [(one, other) for one in own if (other := _same_number(one, theirs)) is not None]
    pairs = [(one, other) for one, other in pairs if not any(is_same_quantity(one, held) for held in theirs)]
    if not pairs:
        return []
    keys = [frozenset((one.key, claim.words[one.unit_at].key)) for one, _ in pairs]
    pieces = () if says_the_same(frozenset().union(*keys)) else (*found.chosen, *found.near)
    around = [amount for piece in pieces for amount in piece.amounts]
    return [
        Exchange(_spelled(claim.words, one), _spelled(found.best.words, other), disputed)
        for (one, other), disputed in zip(pairs, keys, strict=True)
        if not any(is_same_quantity(one, held) for held in around)
    ]


def _same_number(one: Amount, theirs: Sequence[Amount]) -> Amount | None:
    alike = (other for other in theirs if (other.key, other.dimension) == (one.key, one.dimension))
    return next((other for other in alike if other.unit != one.unit or _differ(one.rate, other.rate)), None)


def _differ(rate: str, other: str) -> bool:
    return bool(rate) and bool(other) and rate != other


def is_same_quantity(one: Amount, other: Amount) -> bool:
    """True for the same amount in the same or another unit: 60 minutes and 1 hour, 0.5 and 50 %."""
    if _differ(one.rate, other.rate):
        return False
    if one.dimension != other.dimension:
        return _is_share_of(one, other) or _is_share_of(other, one)
    if one.is_convertible and other.is_convertible:
        return abs(one.value - other.value) <= _TOLERANCE * abs(other.value)
    return (one.key, one.unit) == (other.key, other.unit)


def _is_share_of(part: Amount, share: Amount) -> bool:
    return (
        share.unit == "%"
        and not part.dimension
        and 0 < part.value < 1
        and abs(100 * part.value - share.value) < _TOLERANCE
    )


def exchanged_dates(claim: PreparedClaim, found: Match, says_the_same: Says) -> list[Exchange]:
    """Months and days of the week of the claim beside the same words as another one in the best piece.

    No exchange where a piece near it holds the month or day, alone or within a span ("Monday to Friday"); where the
    best piece says the same but for the words in dispute, only that is asked, and the place does not matter.
    """
    if not claim.is_measured or found.best.is_key_value:
        return []
    own = dates_of(claim.words)
    theirs = found.best.dates if own else []
    strange = [(at, measure) for at, measure in own if not _holds(theirs, measure)] if theirs else []
    if not strange:
        return []
    is_same = says_the_same(frozenset(claim.words[at].key for at, _ in strange))
    around = () if is_same else tuple(piece.dates for piece in (*found.chosen, *found.near))
    said = {(measure.dimension, measure.unit) for _, measure in own}
    others = [(place, other) for place, other in theirs if (other.dimension, other.unit) not in said]
    exchanges = []
    for at, measure in strange:
        alike = (place for place, other in others if other.dimension == measure.dimension)
        beside = None if is_same else _beside(claim.words, at)
        place = next((p for p in alike if beside is None or beside & _beside(found.best.words, p)), None)
        if place is not None and not any(_holds(dates, measure) for dates in around):
            word, other = claim.words[at], found.best.words[place]
            exchanges.append(Exchange(word.text, other.text, frozenset((word.key,))))
    return exchanges


def _holds(dates: Iterable[tuple[int, Measure]], wanted: Measure) -> bool:
    numbers = [int(measure.unit) for _, measure in dates if measure.dimension == wanted.dimension]
    length = _LENGTHS.get(wanted.dimension, _DAYS_A_WEEK)
    number = int(wanted.unit)
    spans = ((number - first) % length < (last - first) % length for first, last in pairwise(numbers))
    return number in numbers or any(spans)


def _beside(words: Sequence[Word], at: int) -> set[str]:
    """The nearest counting words before and after one place, at most some words away."""
    before = next((word.key for word in reversed(words[max(at - _NEAR, 0) : at]) if not word.is_stop), None)
    after = next((word.key for word in words[at + 1 : at + 1 + _NEAR] if not word.is_stop), None)
    return {key for key in (before, after) if key is not None}


def _spelled(words: Sequence[Word], amount: Amount) -> str:
    first, last = sorted((amount.at, amount.unit_at))
    return " ".join([*(word.text for word in words[first : last + 1]), *([f"a {amount.rate}"] if amount.rate else [])])
