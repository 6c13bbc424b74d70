"""By which names an answer may call a passage: ids of document and chunk, numbers, web addresses, words of a title.

A number means the passage of that rank when ranks are distinct and count from 1, else its place in the list from 1.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from detectors.claims.links import find_links, normal_address
from schemas.trace import Passage

_DIGITS = re.compile(r"\d+")
_WORDS = re.compile(r"\w+")
_INDEXED = re.compile(r"\d{1,3}:(\d{1,3})")
_FILE_ENDING = re.compile(r"\.(?:md|html?|pdf|txt|docx?|json|xml|rst|php|aspx?)$")
_RUNS = (re.compile(r"[a-z]+"), re.compile(r"[A-Z]+"), re.compile(r"\d+"))
_MAX_NUMBER_DIGITS = 3
_TITLE_WORDS = 8
_ENTRY_WORDS = 40
_MAX_KNOWN_CHARS = 300


@dataclass(frozen=True)
class Names:
    """Every name of every passage; all lookups give positions in ``passages``, and ignore letter case."""

    passages: Sequence[Passage]

    def find(self, name: str) -> tuple[int, ...]:
        """The passages that an id names; a document id names all its versions and chunks."""
        return tuple(self._by_id.get(name.casefold(), ()))

    def numbered(self, number: int) -> tuple[int, ...]:
        """The passage that a number names, empty when there is none."""
        if self._by_rank is not None and number in self._by_rank and (number == 0 or 0 not in self._by_rank):
            return (self._by_rank[number],)
        return (number - 1,) if 1 <= number <= len(self.passages) else ()

    def find_address(self, address: str) -> tuple[int, ...]:
        """The passages whose id is this address, or the last part of it."""
        found = self._by_address.get(address)
        if found is None and "/" in address:
            last = address.rpartition("/")[2].casefold()
            found = self._by_id.get(last) or self._by_id.get(_FILE_ENDING.sub("", last))
        return tuple(found or ())

    def find_in_entry(self, entry: str) -> tuple[int, ...]:
        """The passages that an entry of a list of sources names: by address, by id, or by the words of an id."""
        addressed = [position for link in find_links(entry) for position in self.find_address(link.address)]
        if addressed:
            return tuple(dict.fromkeys(addressed))
        whole = self.find(entry.strip(" .,;:*_\"'`()[]"))
        if whole:
            return whole
        words = tuple(_words(entry))[:_ENTRY_WORDS]
        for length in range(min(_TITLE_WORDS, len(words)), 0, -1):
            for start in range(len(words) - length + 1):
                found = self._by_words.get(words[start : start + length])
                if found and (length > 1 or len(words) == 1):
                    return tuple(found)
        return ()

    def is_shaped_like_one(self, name: str) -> bool:
        """Whether an id differs from one of these in its digits only (``kb-99`` beside ``kb-12``)."""
        return shape(name.casefold()) in self._shapes

    def has_style_of_all(self, name: str) -> bool:
        """Whether every document id is written in the way of ``name``: small letters, capitals, digits, signs."""
        return self._styles == {style(name)}

    @cached_property
    def _by_id(self) -> dict[str, list[int]]:
        index: dict[str, list[int]] = {}
        for position, passage in enumerate(self.passages):
            for name in _names(passage):
                index.setdefault(name, []).append(position)
        return index

    @cached_property
    def _by_rank(self) -> dict[int, int] | None:
        ranks = {passage.rank: position for position, passage in enumerate(self.passages)}
        return ranks if len(ranks) == len(self.passages) else None

    @cached_property
    def _by_address(self) -> dict[str, list[int]]:
        index: dict[str, list[int]] = {}
        for position, passage in enumerate(self.passages):
            for address in {normal_address(passage.doc_id), normal_address(passage.chunk_id)} - {""}:
                index.setdefault(address, []).append(position)
        return index

    @cached_property
    def _by_words(self) -> dict[tuple[str, ...], list[int]]:
        index: dict[tuple[str, ...], list[int]] = {}
        for position, passage in enumerate(self.passages):
            words = tuple(_words(_FILE_ENDING.sub("", passage.doc_id.casefold())))
            if words:
                index.setdefault(words, []).append(position)
        return index

    @cached_property
    def _shapes(self) -> frozenset[str]:
        return frozenset(map(shape, self._by_id)) - {""}

    @cached_property
    def _styles(self) -> frozenset[str]:
        return frozenset(style(passage.doc_id) for passage in self.passages if passage.doc_id)


def number_of(identifier: str) -> int | None:
    """The number that an identifier is, None when it is none; ``4:0`` (message and place from 0) counts places."""
    if identifier.isdecimal() and len(identifier) <= _MAX_NUMBER_DIGITS:
        return int(identifier)
    placed = _INDEXED.fullmatch(identifier)
    return int(placed.group(1)) + 1 if placed else None


def shape(identifier: str) -> str:
    """The id with runs of digits as one 0; empty unless it holds letters and digits."""
    has_both = any(char.isalpha() for char in identifier) and any(char.isdigit() for char in identifier)
    return _DIGITS.sub("0", identifier) if has_both else ""


def style(identifier: str) -> str:
    """How an id is written, as ``a-0`` for ``kb-12`` and ``a`` for ``terms``; runs of ``a-`` count once."""
    for run, sign in zip(_RUNS, "aA0", strict=True):
        identifier = run.sub(sign, identifier)
    return re.sub(r"(a[-_./])\1+", r"\1", identifier)


def _names(passage: Passage) -> Collection[str]:
    given = (passage.doc_id, passage.chunk_id, passage.version)
    return _known_names(*given) if sum(map(len, given)) <= _MAX_KNOWN_CHARS else _made_names(*given)


def _made_names(doc: str, chunk: str, version: str) -> Collection[str]:
    doc, chunk = doc.casefold(), chunk.casefold()
    names = {doc, chunk, _FILE_ENDING.sub("", doc)}
    if doc and chunk:
        names |= {f"{doc}#{chunk}", f"{doc}:{chunk}", f"{doc}/{chunk}"}
    if doc and version:
        names.add(f"{doc}@{version.casefold()}")
    return names - {""}


_known_names = lru_cache(maxsize=8192)(_made_names)  # documents come again and again


def _words(text: str) -> Iterator[str]:
    """Words without a plural s, so that "Return policy" is ``returns-policy``."""
    for word in _WORDS.findall(text.casefold().replace("_", " ")):
        yield word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word  # noqa: PLR2004 - "gas"
