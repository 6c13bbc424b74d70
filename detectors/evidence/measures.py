"""Names of units, months and days of the week in many languages; data (``measures.json``), so a language is one word.

In the data ``^`` marks a word that counts with a capital letter only, ``#`` one that needs a figure or a preposition of
time beside it ("may", "mars", "Sun").
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

_DATA = json.loads(files("detectors.evidence").joinpath("measures.json").read_text(encoding="utf-8"))
MONTH, WEEKDAY = "month", "weekday"
MONEY, SHARE, DURATION = "money", "share", "duration"
BEFORE_A_DATE: frozenset[str] = frozenset(_DATA["before_a_date"].split())
"""Stems of prepositions of time."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What a word measures: "day" is a unit of duration of 24 (hours), "march" the 3rd month.

    ``scale`` is 0 where units of the dimension are not converted into each other: money, shares, temperature, dates.
    """

    dimension: str
    unit: str
    scale: float = 0.0
    needs_capital: bool = False
    needs_company: bool = False

    @property
    def is_unit(self) -> bool:
        """False for months and days of the week, which are values by themselves."""
        return self.dimension not in {MONTH, WEEKDAY}


def measure_of(word: str, *, is_capital: bool) -> Measure | None:
    """The measure that a word in lower case names, in any language of the table."""
    measure = _TABLE.get(word)
    return None if measure is None or (measure.needs_capital and not is_capital) else measure


def _entries() -> Iterator[tuple[str, Measure]]:
    for dimension, units in _DATA["units"].items():
        for unit, entry in units.items():
            yield from _spellings(entry["words"], dimension, unit, entry["scale"])
    for dimension in (MONTH, WEEKDAY):
        for number, words in enumerate(_DATA[dimension], 1):
            yield from _spellings(words, dimension, str(number), 0.0)


def _spellings(words: str, dimension: str, unit: str, scale: float) -> Iterator[tuple[str, Measure]]:
    for marked in words.split():
        yield marked.lstrip("^#"), Measure(dimension, unit, scale, "^" in marked, "#" in marked)


_TABLE = dict(_entries())
