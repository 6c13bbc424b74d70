"""Numbers of a claim against numbers of the evidence: found, missing, or in conflict in the same unit."""

from collections.abc import Sequence
from dataclasses import dataclass

from detectors.evidence.words import Word

UNIT_WORDS = {"dollar": "$", "usd": "$", "euro": "€", "eur": "€", "pound": "£", "gbp": "£", "percent": "%"}
"""Unit words as stems, and the sign that means the same."""

_EXACT_BELOW = 10_000
_ROUNDING = 0.05


@dataclass(frozen=True, slots=True)
class Figure:
    """A number in a text with its unit: a sign, ``clock``, or the stem of the word that follows."""

    key: str
    value: float
    unit: str
    text: str


def figures_of(words: Sequence[Word]) -> tuple[Figure, ...]:
    """Figures among ``words`` with their units."""
    found = []
    for at, word in enumerate(words):
        if word.value is None:
            continue
        unit = word.unit
        if not unit:
            following = next((other for other in words[at + 1 : at + 3] if not other.is_stop), None)
            if following is not None and following.value is None:
                unit = UNIT_WORDS.get(following.key, following.key)
        found.append(Figure(word.key, word.value, unit, word.text))
    return tuple(found)


def missing(figures: Sequence[Figure], evidence: Sequence[Figure]) -> list[Figure]:
    """Figures that stand nowhere in ``evidence``, rounding allowed."""
    return [figure for figure in figures if not _stands(figure, evidence)]


def conflicting(figures: Sequence[Figure], evidence: Sequence[Figure]) -> list[tuple[Figure, Figure]]:
    """Figures that ``evidence`` lacks, each with one of its figures in the same unit that the claim lacks."""
    held = {figure.key for figure in figures}
    pairs = []
    for figure in figures:
        if figure.unit and not _stands(figure, evidence):
            other = next((one for one in evidence if one.unit == figure.unit and one.key not in held), None)
            if other is not None:
                pairs.append((figure, other))
    return pairs


def in_other_unit(figures: Sequence[Figure], evidence: Sequence[Figure]) -> int:
    """How many figures stand in ``evidence`` with other units only."""
    units = {(figure.key, figure.unit) for figure in evidence}
    keys = {figure.key for figure in evidence}
    return sum(bool(one.unit) and one.key in keys and (one.key, one.unit) not in units for one in figures)


def _stands(figure: Figure, others: Sequence[Figure]) -> bool:
    return any(figure.key == other.key or rounds_to(other.value, figure.value) for other in others)


def rounds_to(exact: float, rounded: float) -> bool:
    """True when ``rounded`` is ``exact`` with fewer digits.

    >>> rounds_to(1523000.0, 1500000.0), rounds_to(11.8, 12.0), rounds_to(30.0, 31.0), rounds_to(2022.0, 2020.0)
    (True, True, False, False)
    """
    # Small counts and years are exact: 2020 is not a rounded 2022.
    if exact.is_integer() and abs(exact) < _EXACT_BELOW:
        return False
    near = abs(exact - rounded) <= _ROUNDING * abs(exact)
    return near and any(float(f"{exact:.{digits}g}") == rounded for digits in (1, 2, 3))
