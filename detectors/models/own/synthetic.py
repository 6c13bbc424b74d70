"""Weak supervision: sentences of documents as true claims, their minimal corruptions as false ones."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from detectors.evidence.passages import IndexedPassage, index_passage
from detectors.evidence.words import words_of
from detectors.models.own.edits import (
    Document,
    Edit,
    Vocabulary,
    applied,
    changed_spans,
    corrupted,
    document,
    vocabulary,
)

_FEWEST, _MOST = 6, 40
_IN_EVIDENCE = 0.3
_WITHOUT_SOURCE = 0.12
_COMPRESSED = 0.4
_MERGED = 0.12
_CUT = re.compile(
    r"\([^()]{1,80}\) ?|, (?:who|which|where|when)\b[^,.;]{3,80}(?=,)"
    r"|\b(?:also|however|already|recently|later|very|really|just) "
)
_TAIL = re.compile(
    r"[,;:] (?=[a-z])|\s(?=(?:which|who|while|because|although|after|before|when|where|but|and|as|with) )"
)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A claim beside the passages it is to be judged by.

    ``wrong`` are characters of the claim known to be wrong; None where that is not known. ``replaced`` are pieces of
    the passages (passage, piece) that read otherwise in this case, or, with an empty text, are taken out.
    """

    claim: str
    supported: bool
    wrong: tuple[tuple[int, int], ...] | None
    replaced: tuple[tuple[tuple[int, int], str], ...] = ()
    group: str = "synthetic"


@dataclass(frozen=True, slots=True)
class Source:
    """Passages of one case with their indexes, and what of them can be exchanged."""

    indexes: Sequence[IndexedPassage]
    texts: Sequence[str]
    documents: Sequence[Document]


def source(texts: Sequence[str]) -> Source:
    """``texts`` made ready."""
    return Source([index_passage(text) for text in texts], texts, [document(text) for text in texts])


def words_of_all(sources: Sequence[Source]) -> Vocabulary:
    """The vocabulary of all documents."""
    return vocabulary({text for one in sources for text in one.texts})


def groups(one: Source, known: Vocabulary, rng: Random, count: int) -> Iterator[list[Labelled]]:
    """Up to ``count`` groups of a true claim and its corruption, from sentences drawn without repeats."""
    places = [
        (number, at)
        for number, index in enumerate(one.indexes)
        for at, piece in enumerate(index.pieces)
        if _FEWEST <= len(piece.words) <= _MOST and not piece.is_key_value
    ]
    for place in rng.sample(places, min(count, len(places))):
        group = _group(one, place, known, rng)
        if group:
            yield group


def beside_labelled(one: Labelled, source: Source, known: Vocabulary, rng: Random) -> list[Labelled]:
    """A claim that people found supported, beside a corruption of it; empty where none fits.

    Sentences of documents are copies of their evidence; these are written as answers are.
    """
    edits = corrupted(one.claim, rng.choice(source.documents), known, rng)
    if not edits:
        return []
    return [one, Labelled(applied(one.claim, edits), supported=False, wrong=tuple(changed_spans(edits)))]


def _group(one: Source, place: tuple[int, int], known: Vocabulary, rng: Random) -> list[Labelled]:
    sentence = _sentence(one, place)
    claim, origin = compressed(sentence, rng) if rng.random() < _COMPRESSED else (sentence, list(range(len(sentence))))
    edits = corrupted(claim, one.documents[place[0]], known, rng)
    if not edits:
        return []
    false = applied(claim, edits)
    wrong = tuple(changed_spans(edits))
    inside = _moved(edits, origin)
    if inside is not None and rng.random() < _IN_EVIDENCE:
        changed = ((place, applied(sentence, inside)),)
        own = tuple((start, end) for start, end, _ in edits if end > start)
        return [
            Labelled(false, supported=True, wrong=(), replaced=changed),
            Labelled(claim, supported=False, wrong=own or None, replaced=changed),
        ]
    if rng.random() < _WITHOUT_SOURCE:
        return [
            Labelled(claim, supported=True, wrong=()),
            Labelled(claim, supported=False, wrong=None, replaced=((place, ""),)),
        ]
    if rng.random() < _MERGED and place[1] + 1 < len(one.indexes[place[0]].pieces):
        other = compressed(_sentence(one, (place[0], place[1] + 1)), rng)[0]
        joined = f"{claim.rstrip('. ')}, and {other}"
        if len(words_of(joined)) <= _MOST:
            return [
                Labelled(joined, supported=True, wrong=()),
                Labelled(f"{false.rstrip('. ')}, and {other}", supported=False, wrong=wrong),
            ]
    return [Labelled(claim, supported=True, wrong=()), Labelled(false, supported=False, wrong=wrong)]


def _sentence(one: Source, place: tuple[int, int]) -> str:
    piece = one.indexes[place[0]].pieces[place[1]]
    return " ".join(one.texts[place[0]][piece.start : piece.end].split())


def compressed(text: str, rng: Random) -> tuple[str, list[int]]:
    """``text`` without an aside, a filler or its tail, and for each character left its place in ``text``."""
    kept = list(range(len(text)))
    for cut in _CUT.finditer(text):
        if rng.random() < 0.7:  # noqa: PLR2004 - most asides go
            gone = set(range(*cut.span()))
            kept = [at for at in kept if at not in gone]
    tails = [tail for tail in _TAIL.finditer(text) if len(words_of(text[: tail.start()])) >= _FEWEST]
    if tails and rng.random() < 0.6:  # noqa: PLR2004 - tails often
        end = rng.choice(tails).start()
        kept = [at for at in kept if at < end]
    return "".join(text[at] for at in kept), kept


def _moved(edits: Sequence[Edit], origin: Sequence[int]) -> list[Edit] | None:
    """The same edits in the sentence that the claim was made of; None where it is not in one piece there."""
    moved: list[Edit] = []
    for start, end, new in edits:
        last = max(end, start + 1) - 1
        if last >= len(origin) or origin[last] - origin[start] != last - start:
            return None
        moved.append((origin[start], origin[start] + end - start, new))
    return moved
