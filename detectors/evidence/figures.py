"""Numbers of a claim against numbers of the evidence: found, missing, or in conflict in the same unit."""

from collections.abc import Sequence
from dataclasses import dataclass

from detectors.evidence.words import Word

_EXACT_BELOW = 10_000
_ROUNDING = 0.05


@dataclass(frozen=True, slots=True)
class Figure:
    """A number in a text with its unit: a sign, ``clock``, a known unit, or the stem of the word that follows."""

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
                measure = following.measure
                unit = measure.unit if measure is not None and measure.is_unit else following.key
        found.append(Figure(word.key, word.value, unit, word.text))
    return tuple(found)


def missing(figures: Sequence[Figure], evidence: Sequence[Figure]) -> list[Figure]:
    """Figures that stand nowhere in ``evidence``, rounding allowed; linear in both."""
    keys, rounded = _held(evidence)
    return [figure for figure in figures if figure.key not in keys and figure.value not in rounded]


def conflicting(figures: Sequence[Figure], evidence: Sequence[Figure]) -> list[tuple[Figure, Figure]]:
    """Figures that ``evidence`` lacks, each with one of its figures in the same unit that the claim lacks."""
    own = {figure.key for figure in figures}
    others: dict[str, Figure] = {}
    for one in evidence:
        if one.key not in own:
            others.setdefault(one.unit, one)
    return [(one, others[one.unit]) for one in missing(figures, evidence) if one.unit and one.unit in others]


def in_other_unit(figures: Sequence[Figure], evidence: Sequence[Figure]) -> int:
    """How many figures stand in ``evidence`` with other units only."""
    units = {(figure.key, figure.unit) for figure in evidence}
    keys = {figure.key for figure in evidence}
    return sum(bool(one.unit) and one.key in keys and (one.key, one.unit) not in units for one in figures)


def _held(evidence: Sequence[Figure]) -> tuple[set[str], set[float]]:
    return {one.key for one in evidence}, {value for one in evidence for value in rounded_forms(one.value)}


def rounded_forms(exact: float) -> list[float]:
    """What people write for ``exact``: one to three digits kept, at most 5 % away.

    >>> rounded_forms(1523000.0), rounded_forms(11.8), rounded_forms(30.0), rounded_forms(2022.0)
    ([1500000.0, 1520000.0], [12.0, 11.8], [], [])
    """
    # Small counts and years are exact: 2020 is not a rounded 2022.
    if exact.is_integer() and abs(exact) < _EXACT_BELOW:
        return []
    forms = (float(f"{exact:.{digits}g}") for digits in (1, 2, 3))
    return [form for form in forms if abs(exact - form) <= _ROUNDING * abs(exact)]
