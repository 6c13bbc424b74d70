"""Questions that are nearly the same: trigrams of letters, Jaccard similarity, found without comparing every pair.

Letters and not words, since that works in scripts without spaces and for other endings of a word; numbers count like
letters, so two questions that differ in one figure are near. Exact: the prefix filter only skips pairs that cannot
reach the threshold (Chaudhuri, Ganti and Kaushik 2006, "A primitive operator for similarity joins in data cleaning").
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

SIMILARITY = 0.8
"""Jaccard similarity of trigrams from which two questions are one: some three changed words in a sentence of twelve."""
_ROUNDING = 1e-9
"""0.1 × 30 is a little more than 3: the filters must not skip a pair for that."""


@dataclass(frozen=True, slots=True)
class NearPair:
    """Two texts by their places, the earlier first."""

    first: int
    second: int
    similarity: float


def near_pairs(texts: Sequence[str], similarity: float = SIMILARITY) -> Iterator[NearPair]:
    """Every pair of texts that are at least so similar, ordered by the second and then the first; equal ones too."""
    grams = [trigrams(text) for text in texts]
    often = Counter(gram for own in grams for gram in own)
    by_gram: dict[str, list[int]] = defaultdict(list)
    for second, own in enumerate(grams):
        ordered = sorted(own, key=lambda gram: (often[gram], gram))
        prefix = ordered[: len(ordered) - ceil(similarity * len(ordered) - _ROUNDING) + 1]
        least, most = similarity * len(own) - _ROUNDING, len(own) / similarity + _ROUNDING
        for first in sorted({place for gram in prefix for place in by_gram[gram]}):
            if not least <= len(grams[first]) <= most:
                continue
            found = jaccard(grams[first], own)
            if found >= similarity:
                yield NearPair(first, second, found)
        for gram in prefix:
            by_gram[gram].append(second)


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared by all trigrams; 0 for two empty sets."""
    shared = len(one & other)
    together = len(one) + len(other) - shared
    return shared / together if together else 0.0


def trigrams(text: str) -> frozenset[str]:
    """Trigrams of the words, case, width and punctuation aside; a text without words is its own only one."""
    words = normal(text).split()
    padded = f" {' '.join(words)} "
    if not words:
        return frozenset((text.strip(),)) if text.strip() else frozenset()
    return frozenset(padded[start : start + 3] for start in range(len(padded) - 2))


def normal(text: str) -> str:
    """Words in small letters with one space between, whatever the punctuation and the width of the letters."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = "".join(character if _is_of_a_word(character) else " " for character in folded)
    return " ".join(kept.split())


def _is_of_a_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMNS"
