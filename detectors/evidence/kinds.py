"""What a figure measures: durations, money, percentages, dates, times and counts, on one scale within each kind."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from detectors.evidence.figures import UNIT_WORDS, figures_of
from detectors.evidence.words import Word

_HOURS = {"second": 1 / 3600, "minut": 1 / 60, "hour": 1.0, "day": 24.0, "week": 168.0, "month": 730.0, "year": 8760.0}
_MONTHS = frozenset(
    (
        *("januari", "februari", "march", "april", "june", "juli", "august", "septemb", "octob", "novemb", "decemb"),
        *("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    )
)
_SIGNS = frozenset(("$", "€", "£", "¥", "₹", "%", "clock"))
_FIRST_YEAR, _LAST_YEAR = 1800, 2100
_DAYS = frozenset(("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))
PERIODS = frozenset(_HOURS)
"""Stems of units of time."""
DATE_WORDS = _MONTHS | _DAYS
"""Stems of the names of months and days."""
_EXACT = frozenset(("year", "date", "clock", "end of a span"))
"""Kinds that are not rounded, added or converted."""
_NEAR = 3
_TOLERANCE = 0.02
_MOST_COMPARED = 12
_MOST_OF_A_KIND = 100
_HALF_DAY = 720
_CENTURY = 100
_DECADE = 10


@dataclass(frozen=True, slots=True)
class Amount:
    """A figure with its kind ("" when nothing tells), its value on the scale of that, and its spelling."""

    key: str
    kind: str
    value: float
    text: str


def amounts_of(words: Sequence[Word]) -> list[Amount]:
    """Figures among ``words`` with what they measure; durations in hours."""
    found = []
    figures = iter(figures_of(words))
    for at, word in enumerate(words):
        if word.value is not None:
            figure = next(figures)
            kind, scale = _kind(words, at, figure.unit)
            found.append(Amount(figure.key, kind, figure.value * scale, figure.text))
    return found


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
    if amount.kind == "clock" and any(abs(other.value - amount.value) == _HALF_DAY for other in others):
        return True
    if amount.kind in _EXACT:
        # "the 1970s" holds 1979.
        is_decade = amount.kind == "year" and amount.value % _DECADE == 0
        return is_decade and any(0 <= other.value - amount.value < _DECADE for other in others)
    values = [other.value for other in others[:_MOST_COMPARED]]
    made = [*values]
    for at, left in enumerate(values):
        made += [total for right in values[at + 1 :] for total in (left + right, abs(left - right))]
    return any(abs(value - amount.value) <= _TOLERANCE * abs(value) for value in made if value)


def _kind(words: Sequence[Word], at: int, unit: str) -> tuple[str, float]:
    if unit in _SIGNS:
        return unit, 1.0
    after = list(takewhile(lambda word: word.value is None, words[at + 1 : at + 1 + _NEAR]))
    scale = next((_HOURS[word.key] for word in after if word.key in _HOURS), None)
    if scale is not None:
        return "duration", scale
    return _kind_before(words[at - 1] if at else Word(""), words[at].value or 0.0, after) or unit, 1.0


def _kind_before(before: Word, value: float, after: Sequence[Word]) -> str:
    if before.key in _MONTHS or (after and after[0].key in _MONTHS):
        return "date"
    if before.value is not None and _is_year(before.value) and value < _CENTURY:
        return "end of a span"  # "2018-19"
    return "year" if _is_year(value) else UNIT_WORDS.get(before.key, "")


def _is_year(value: float) -> bool:
    return value.is_integer() and _FIRST_YEAR <= value <= _LAST_YEAR
