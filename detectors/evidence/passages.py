"""Passages cut into short pieces with an inverted index, made once per content and kept in a bounded cache."""

import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from threading import Lock

from detectors.evidence.figures import Figure, figures_of
from detectors.evidence.keyvalue import key_value_spans
from detectors.evidence.kinds import Amount, amounts_of, dates_of
from detectors.evidence.measures import Measure
from detectors.evidence.words import Word, first_offset, first_places, tokenise, words_of
from schemas.trace import Passage, passage_hash

_BOUNDARY = re.compile(
    r"[.!?。！？؟।\n](?:(?<=[.!?])(?<!\b[A-Z].)(?<!\bMr.)(?<!\bMs.)(?<!\bMrs.)(?<!\bDr.)(?<!\bSt.)(?<!\bvs.)(?<!\bNo.)"
    r"(?<!\bInc.)(?<!\bCo.)(?<!\bLtd.)[.!?]{0,39}[\"'”’)\]]*(?=\s)|(?<=[。！？؟।])[。！？؟।]*|(?<=\n)\n*)"
)
"""Only the end of a match counts, so a bound on the stops changes nothing but the time that a row of them takes.

The set of signs stands first because the search skips to it quickly.
"""
_LONGEST_PIECE_WORDS = 60
_CUT_WORDS = 40
_ENTRY_CHARACTERS = 100


@dataclass(frozen=True)
class Piece:
    """A sentence, line, or 40-word stretch of a text without sentence ends; ``keys`` are its words that count.

    ``label`` holds the words of the innermost key where the piece is a key with its value. What is derived from the
    words is made once, when a first claim asks for it.
    """

    start: int
    end: int
    words: tuple[Word, ...]
    keys: frozenset[str]
    is_key_value: bool = False
    label: frozenset[str] = frozenset()

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """Its figures with their units."""
        return figures_of(self.words)

    @cached_property
    def amounts(self) -> list[Amount]:
        """Its figures with what they measure."""
        return amounts_of(self.words)

    @cached_property
    def dates(self) -> list[tuple[int, Measure]]:
        """Its months and days of the week with their places."""
        return dates_of(self.words)

    @cached_property
    def has_negation(self) -> bool:
        """True when a negation stands anywhere in it."""
        return any(word.is_negation for word in self.words)

    @cached_property
    def has_hedge(self) -> bool:
        """True when a hedge stands anywhere in it."""
        return any(word.is_hedge for word in self.words)

    @cached_property
    def absolutes(self) -> frozenset[str]:
        """Keys of its absolute words."""
        return frozenset([word.key for word in self.words if word.is_absolute])

    @cached_property
    def all_keys(self) -> frozenset[str]:
        """Keys of all its words, of those too that do not count."""
        return frozenset([word.key for word in self.words])

    @cached_property
    def content(self) -> tuple[Word, ...]:
        """Its words that count, in order."""
        return tuple([word for word in self.words if not word.is_stop])

    @cached_property
    def places(self) -> dict[str, int]:
        """First place among all words of each key that counts."""
        return first_places(self.words)

    @cached_property
    def content_places(self) -> dict[str, int]:
        """First place of each key among the words that count."""
        return first_places(self.content)

    @cached_property
    def phrases(self) -> frozenset[tuple[str, str]]:
        """Keys that stand directly beside each other, in order."""
        keys = [word.key for word in self.words]
        return frozenset(pairwise(keys))


@dataclass(frozen=True, slots=True)
class IndexedPassage:
    """Pieces of one passage in order, and for each counting word the pieces that hold it."""

    content_hash: str
    pieces: tuple[Piece, ...]
    postings: dict[str, tuple[int, ...]]


def index_passage(text: str, content_hash: str = "") -> IndexedPassage:
    """The index of one passage; JSON objects and arrays become one piece per key with its value."""
    pieces = tuple(_key_value_pieces(text) or _prose_pieces(text, 0, len(text)))
    postings: dict[str, list[int]] = {}
    for number, piece in enumerate(pieces):
        for key in piece.keys:
            postings.setdefault(key, []).append(number)
    return IndexedPassage(content_hash, pieces, {key: tuple(numbers) for key, numbers in postings.items()})


class PassageCache:
    """Least-recently-used indexes by content hash, bounded by ``max_characters`` of text; safe across threads.

    Every passage counts 100 characters beside its text, so that a flood of empty ones is bounded too.
    """

    def __init__(self, max_characters: int) -> None:
        self._max_characters = max_characters
        self._held: OrderedDict[str, tuple[IndexedPassage, int]] = OrderedDict()
        self._characters = 0
        self._lock = Lock()

    def __len__(self) -> int:
        """How many passages are held."""
        return len(self._held)

    def indexed(self, passages: Sequence[Passage]) -> list[IndexedPassage]:
        """Indexes of ``passages``, in order."""
        return [self._one(passage.text) for passage in passages]

    def _one(self, text: str) -> IndexedPassage:
        content_hash = passage_hash(text)
        with self._lock:
            held = self._held.get(content_hash)
            if held is not None:
                self._held.move_to_end(content_hash)
                return held[0]
        index = index_passage(text, content_hash)
        with self._lock:
            if content_hash not in self._held:
                self._held[content_hash] = (index, len(text) + _ENTRY_CHARACTERS)
                self._characters += len(text) + _ENTRY_CHARACTERS
            while self._characters > self._max_characters and len(self._held) > 1:
                self._characters -= self._held.popitem(last=False)[1][1]
        return index


def _key_value_pieces(text: str) -> list[Piece]:
    pieces: list[Piece] = []
    for span in key_value_spans(text):
        values = _prose_pieces(text, span.start, span.end)
        if not values:
            continue
        first, label = values[0], words_of(span.key)
        words = (*words_of(span.path), *label, *first.words)
        keys = _counting(words) | _joined(label)
        pieces.append(Piece(span.label_start, first.end, words, keys, is_key_value=True, label=_counting(label)))
        pieces.extend(values[1:])
    return pieces


def _joined(label: Sequence[Word]) -> frozenset[str]:
    """Neighbours of a split key as one word: ``TakeOut`` is also ``takeout``."""
    joined = (left.text.lower() + right.text.lower() for left, right in pairwise(label))
    return _counting([word for text in joined for word in words_of(text)])


def _prose_pieces(text: str, start: int, end: int) -> list[Piece]:
    pieces: list[Piece] = []
    at = start
    while at < end:
        match = _BOUNDARY.search(text, at, end)
        stop = match.end() if match else end
        _append_pieces(pieces, text, at, stop)
        at = stop
    return pieces


def _append_pieces(pieces: list[Piece], text: str, start: int, end: int) -> None:
    sentence = text[start:end]
    words = words_of(sentence)
    if len(words) > _LONGEST_PIECE_WORDS:
        pieces.extend(_stretches(text, start, end))
    elif words:
        first = first_offset(sentence)
        pieces.append(
            Piece(start + first, start + first + len(sentence[first:].rstrip()), tuple(words), _counting(words))
        )


def _stretches(text: str, start: int, end: int) -> Iterator[Piece]:
    found = [(word, start + offset) for word, offset in tokenise(text[start:end])]
    for at in range(0, len(found), _CUT_WORDS):
        words = tuple(word for word, _ in found[at : at + _CUT_WORDS])
        piece_end = found[at + _CUT_WORDS][1] if at + _CUT_WORDS < len(found) else end
        piece_end = found[at][1] + len(text[found[at][1] : piece_end].rstrip())
        yield Piece(found[at][1], piece_end, words, _counting(words))


def _counting(words: Sequence[Word]) -> frozenset[str]:
    return frozenset([word.key for word in words if not word.is_stop])
