"""Initialisms: "WHO" for "World Health Organization" and the other way round, read as the evidence writes them."""

from collections.abc import Iterator, Sequence
from itertools import chain

from detectors.evidence.matching import Match, PreparedClaim
from detectors.evidence.words import Word

_FEWEST, _MOST = 2, 6
_MOST_BETWEEN = 2
"""Small words inside a long name, as in "Bank of the West"."""


def aliased(claim: PreparedClaim, found: Match) -> list[Word] | None:
    """Words of the claim with its initialisms and long names as the pieces near it write them; None without a change.

    Only what the best piece does not hold as the claim writes it is looked for.
    """
    held, words = found.best.keys, claim.words
    short = [at for at, word in enumerate(words) if is_initialism(word) and word.key not in held]
    strange = any(name not in held for name in claim.names)
    if not short and not strange:
        return None
    pieces = (found.best, *found.near)
    changed: dict[int, list[Word]] = {}
    if short:
        runs = [run for piece in pieces for _, run in long_names(piece.words)]
        for at in short:
            run = next((one for one in runs if _spells(one, words[at].text)), None)
            if run is not None:
                changed[at] = list(run)
    if strange:
        initialisms = {word.text: word for word in chain.from_iterable(p.words for p in pieces) if is_initialism(word)}
        for start, run in long_names(words) if initialisms else ():
            other = initialisms.get("".join(word.text[0] for word in run if word.is_capital))
            if other is not None and any(word.key not in held for word in run if word.is_capital):
                changed |= {at: [] for at in range(start, start + len(run))}
                changed[start] = [other]
    if not changed:
        return None
    return [new for at, word in enumerate(words) for new in changed.get(at, [word])]


def is_initialism(word: Word) -> bool:
    """Two to six capital letters."""
    return word.is_capital and _FEWEST <= len(word.text) <= _MOST and word.text.isalpha() and word.text.isupper()


def long_names(words: Sequence[Word]) -> Iterator[tuple[int, Sequence[Word]]]:
    """Runs of at least two capitalised words, small words between them, with the place of the first."""
    start, last = -1, -1
    for at, word in enumerate([*words, Word("")]):
        if word.is_capital and not word.is_stop and word.value is None and not word.text.isupper():
            start = at if start < 0 else start
            last = at
        elif start >= 0 and not (word.is_stop and at - last <= _MOST_BETWEEN):
            if last > start:
                yield start, words[start : last + 1]
            start = -1


def _spells(run: Sequence[Word], initialism: str) -> bool:
    return "".join(word.text[0] for word in run if word.is_capital) == initialism
