"""What a figure measures: durations, money, percentages, dates, times and counts, on one scale within each kind."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from detectors.evidence.figures import figures_of
from detectors.evidence.measures import BEFORE_A_DATE, DURATION, MONEY, MONTH, SHARE, Measure
from detectors.evidence.words import Word

_POINTS = "percentage point"
_EACH = frozenset(("a", "an", "per", "each", "everi", "pro", "je", "par", "por", "al", "i", "om"))
_FIRST_YEAR, _LAST_YEAR = 1800, 2100
_EXACT = frozenset(("year", "date", "clock", "end of a span"))
"""Kinds that are not rounded, added or converted."""
_NEAR = 3
_SHORT_UNIT = 2
_TOLERANCE = 0.02
_MOST_COMPARED = 12
_MOST_OF_A_KIND = 100
_HALF_DAY = 720
_FIRST_AFTERNOON_HOUR, _FIRST_HOUR = 780, 60
_CENTURY = 100
_DECADE = 10


@dataclass(frozen=True, slots=True)
class Amount:
    """A figure with its kind ("" when nothing tells), its value on the scale of that, and its spelling.

    ``dimension`` and ``unit`` are "" where no known unit stands beside it, ``rate`` is the period of "$9 a month";
    ``at`` and ``unit_at`` are places among the words, the same where the unit is a sign.
    """

    key: str
    kind: str
    value: float
    text: str
    dimension: str = ""
    unit: str = ""
    rate: str = ""
    is_convertible: bool = False
    at: int = 0
    unit_at: int = 0


def amounts_of(words: Sequence[Word]) -> list[Amount]:
    """Figures among ``words`` with what they measure; durations in hours, lengths in metres, and so on."""
    found = []
    figures = iter(figures_of(words))
    for at, word in enumerate(words):
        if word.value is not None:
            figure = next(figures)
            found.append(_amount(words, at, figure.key, figure.unit))
    return found


def _amount(words: Sequence[Word], at: int, key: str, sign: str) -> Amount:
    word, value, unit_at = words[at], words[at].value or 0.0, _unit_at(words, at)
    if is_address(word.unit):
        return Amount(key, word.unit, value, word.text, at=at, unit_at=at)
    if word.unit:
        dimension = {"%": SHARE, "clock": ""}.get(word.unit, MONEY)
        return Amount(key, word.unit, value, word.text, dimension, word.unit, _rate(words, at + 1), at=at, unit_at=at)
    measure = words[unit_at].measure if unit_at is not None else None
    if unit_at is None or measure is None or (measure.unit == "year" and _is_year(value)):
        kind = _kind_before(words[at - 1] if at else Word(""), words, at) or sign
        return Amount(key, kind, value, word.text, at=at, unit_at=at)
    # "5 percentage points" are no 5 %.
    are_points = measure.dimension == SHARE and _key_at(words, unit_at + 1) == "point"
    return Amount(
        key=key,
        kind=measure.dimension if measure.scale else measure.unit,
        value=value * (measure.scale or 1.0),
        text=word.text,
        dimension=measure.dimension,
        unit=_POINTS if are_points else measure.unit,
        rate=_rate(words, max(at, unit_at) + 1),
        is_convertible=bool(measure.scale),
        at=at,
        unit_at=unit_at,
    )


def _rate(words: Sequence[Word], place: int) -> str:
    """The unit of time at ``place``, or after "a" or "per" there."""
    place += _key_at(words, place) in _EACH
    measure = words[place].measure if place < len(words) else None
    return measure.unit if measure is not None and measure.dimension == DURATION else ""


def _key_at(words: Sequence[Word], place: int) -> str:
    return words[place].key if place < len(words) else ""


def _unit_at(words: Sequence[Word], at: int) -> int | None:
    """Place of the unit of the figure at ``at``: a period within three words, another unit within two, "m" directly."""
    after = takewhile(lambda place: words[place].value is None, range(at + 1, min(at + 1 + _NEAR, len(words))))
    for place in after:
        measure, distance = words[place].measure, place - at
        if measure is None or not measure.is_unit:
            continue
        reach = _NEAR if measure.dimension == DURATION else _NEAR - 1
        if distance <= (1 if len(words[place].text) <= _SHORT_UNIT and words[place].text.isascii() else reach):
            return place
    if at and (measure := words[at - 1].measure) is not None and measure.dimension == MONEY:
        return at - 1
    return None


def dates_of(words: Sequence[Word]) -> list[tuple[int, Measure]]:
    """Months and days of the week among ``words`` with their places.

    "May" and "Sun" count beside a figure or after "in".
    """
    found = []
    for at, word in enumerate(words):
        measure = word.measure
        if measure is None or measure.is_unit:
            continue
        if not measure.needs_company or _has_company(words, at):
            found.append((at, measure))
    return found


def _has_company(words: Sequence[Word], at: int) -> bool:
    before, after = words[at - 1] if at else Word(""), words[at + 1] if at + 1 < len(words) else Word("")
    return before.value is not None or after.value is not None or before.key in BEFORE_A_DATE


def is_address(kind: str) -> bool:
    """Whether it is an e-mail address, or what stands for a number or an address that was redacted."""
    return kind.startswith("[")


def by_kind(amounts: Sequence[Amount]) -> dict[str, list[Amount]]:
    """The first amounts of each kind; a text with more of one kind than ``_MOST_OF_A_KIND`` is no sentence."""
    kinds: dict[str, list[Amount]] = {}
    for amount in amounts:
        same = kinds.setdefault(amount.kind, [])
        if len(same) < _MOST_OF_A_KIND:
            same.append(amount)
    return kinds


def is_derived(amount: Amount, others: Sequence[Amount]) -> bool:
    """True when ``amount`` is one of ``others`` in other units, or the sum or difference of two; all of one kind."""
    # "10:30" beside "10:30 PM": the half of the day is often left out.
    if amount.kind == "clock" and any(_is_same_hour(amount, other) for other in others):
        return True
    if amount.kind in _EXACT or is_address(amount.kind):
        # "the 1970s" holds 1979.
        is_decade = amount.kind == "year" and amount.value % _DECADE == 0
        return is_decade and any(0 <= other.value - amount.value < _DECADE for other in others)
    values = [other.value for other in others[:_MOST_COMPARED]]
    made = [*values]
    for at, left in enumerate(values):
        made += [total for right in values[at + 1 :] for total in (left + right, abs(left - right))]
    return any(abs(value - amount.value) <= _TOLERANCE * abs(value) for value in made if value)


def _is_same_hour(one: Amount, other: Amount) -> bool:
    """True half a day apart, unless both say which half they mean."""
    return abs(other.value - one.value) == _HALF_DAY and not (_tells_half(one) and _tells_half(other))


def _tells_half(time: Amount) -> bool:
    is_written = time.text.lower().rstrip(".").endswith("m")
    return is_written or not _FIRST_HOUR <= time.value < _FIRST_AFTERNOON_HOUR


def _kind_before(before: Word, words: Sequence[Word], at: int) -> str:
    value = words[at].value or 0.0
    if _is_month(before) or (at + 1 < len(words) and _is_month(words[at + 1])):
        return "date"
    if before.value is not None and _is_year(before.value) and value < _CENTURY:
        return "end of a span"  # "2018-19"
    return "year" if _is_year(value) else ""


def _is_month(word: Word) -> bool:
    return word.measure is not None and word.measure.dimension == MONTH


def _is_year(value: float) -> bool:
    return value.is_integer() and _FIRST_YEAR <= value <= _LAST_YEAR
