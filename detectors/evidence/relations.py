"""What WordNet says of two words: the same, wider, narrower, opposite, or of one kind; read once, by stem.

A claim word that its evidence lacks is a wording when the evidence has its synonym, and an error more often when it has
its opposite or another thing of the same kind. Which of both a relation means is left to the trained weights.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np

Ids = frozenset[int]
RELATIONS = ("same", "wider", "opposite", "narrower", "of_one_kind", "unrelated")
"""In order of precedence: a word with a synonym and an opposite in the evidence is said there."""
_NONE: Ids = frozenset()


@dataclass(frozen=True, slots=True)
class Meaning:
    """Synsets of a word, those directly above them, those up to two steps above, and the stems of its antonyms."""

    own: Ids = _NONE
    parents: Ids = _NONE
    above: Ids = _NONE
    antonyms: frozenset[str] = frozenset()


_UNKNOWN = Meaning()


@dataclass(frozen=True, slots=True)
class Company:
    """Words that others are compared with, and the meanings of those that WordNet knows."""

    stems: frozenset[str]
    meanings: tuple[Meaning, ...]


def company_of(stems: Iterable[str]) -> Company:
    """The words that a claim word is compared with, looked up once."""
    held = frozenset(stems)
    return Company(held, tuple([meaning for meaning in map(_MEANINGS.get, held) if meaning is not None]))


def relation(word: str, others: Company) -> str:
    """The first of ``RELATIONS`` in which ``word`` stands to any of ``others``."""
    meaning = _MEANINGS.get(word, _UNKNOWN)
    own, parents, above = meaning.own, meaning.parents, meaning.above
    is_wider = is_narrower = is_of_one_kind = False
    # Word by word: joining the synsets of a dozen words takes longer than comparing each of their small sets.
    for other in others.meanings if own else ():
        if not own.isdisjoint(other.own):
            return "same"
        is_wider = is_wider or not own.isdisjoint(other.above)
        is_narrower = is_narrower or not above.isdisjoint(other.own)
        is_of_one_kind = is_of_one_kind or not parents.isdisjoint(other.parents)
    if is_wider:
        return "wider"
    if not meaning.antonyms.isdisjoint(others.stems):
        return "opposite"
    if is_narrower:
        return "narrower"
    return "of_one_kind" if is_of_one_kind else "unrelated"


@lru_cache(maxsize=1 << 16)
def relation_of_two(word: str, other: str) -> str:
    """As ``relation``, to one other word."""
    return relation(word, company_of((other,)))


def antonyms_of(word: str) -> frozenset[str]:
    """Stems of the antonyms of a stem."""
    return _MEANINGS.get(word, _UNKNOWN).antonyms


def _load() -> dict[str, Meaning]:
    with files("detectors.evidence").joinpath("wordnet.npz").open("rb") as file:
        table = np.load(file)
        stems = str(table["stems"]).split("\n")
        senses, parents, antonyms = (table[name].tolist() for name in ("senses", "parents", "antonyms"))
    above = _grouped(parents)
    own, opposite = _grouped(senses), _grouped(antonyms)
    meanings = {}
    for at, word in enumerate(stems):
        synsets = own.get(at, [])
        direct = {up for one in synsets for up in above.get(one, ())}
        higher = {up for one in direct for up in above.get(one, ())}
        others = frozenset(stems[other] for other in opposite.get(at, ()))
        meanings[word] = Meaning(frozenset(synsets), frozenset(direct), frozenset(direct | higher), others)
    return meanings


def _grouped(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    found: defaultdict[int, list[int]] = defaultdict(list)
    for left, right in pairs:
        found[left].append(right)
    return dict(found)


_MEANINGS = _load()
