"""All recognisers over one text: one look by RE2 says which of them are worth running at all."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import re2

from streams.redaction.emails import EMAILS, find_emails
from streams.redaction.hits import Hit, Recogniser
from streams.redaction.kinds import Kind, NationalId
from streams.redaction.national_ids import ids_of
from streams.redaction.payment import CARDS, IBANS
from streams.redaction.people import IPS, NAMES
from streams.redaction.phones import phones_of

_BLANKS = "\t\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2212\ufe63\uff0d"
_ZEROS = "\u0660\u06f0\u07c0\u0966\u09e6\u0a66\u0ae6\u0b66\u0be6\u0c66\u0ce6\u0d66\u0e50\u0ed0\uff10"
_FOLDED = {
    **dict.fromkeys(map(ord, _BLANKS), " "),
    **dict.fromkeys(map(ord, _DASHES), "-"),
    **{ord(zero) + digit: str(digit) for zero in _ZEROS for digit in range(10)},
    ord("\uff20"): "@",
    ord("\uff0b"): "+",
    ord("\uff08"): "(",
    ord("\uff09"): ")",
    ord("\uff0e"): ".",
}
_FOLDABLE = re.compile(f"[{''.join(map(chr, _FOLDED))}]")
_HAS_FOLDABLE = re2.compile(_FOLDABLE.pattern)  # ten times as fast over a long text
_NUMBER = re.compile(r"[0-9](?:[.\-/()]{0,2}[0-9]){6,40}+|[0-9]{2,5}(?: [0-9]{2,5}){2,5}+")
_SEPARATORS = str.maketrans("", "", " .-/()")
_ORDER = {kind: place for place, kind in enumerate(Kind)}


def folded(text: str) -> str:
    """The text with plain blanks and dashes and ASCII digits, character for character."""
    if text.isascii():
        return text.replace("\t", " ")
    if _HAS_FOLDABLE.search(text.encode("utf-8", "replace")):
        for sign in set(_FOLDABLE.findall(text)):  # a few replacements are faster than one translation
            text = text.replace(sign, _FOLDED[ord(sign)])
    return text


@dataclass(frozen=True, slots=True)
class Read:
    """A text with its certain finds, and the recognisers that could find more in it."""

    text: str
    plain: str = ""
    hits: tuple[Hit, ...] = ()
    recognisers: tuple[Recogniser, ...] = ()


@dataclass(frozen=True, slots=True)
class Finder:
    """Made by ``of``; safe to share between threads."""

    _recognisers: tuple[tuple[Recogniser, ...], ...]
    """Those that share a guard, in the order of the guards."""
    _guard: Any

    @classmethod
    def of(cls, kinds: Iterable[Kind], regions: Sequence[str], ids: Sequence[NationalId]) -> "Finder":
        """A finder of these kinds; national phone numbers of these regions, national ids by name."""
        by_kind: Mapping[Kind, Sequence[Recogniser]] = {
            Kind.EMAIL: [EMAILS],
            Kind.IBAN: [IBANS],
            Kind.CARD: [CARDS],
            Kind.ID: ids_of(ids),
            Kind.PHONE: [phones_of(regions)],
            Kind.IP: [IPS],
            Kind.NAME: [NAMES],
        }
        guards: dict[str, list[Recogniser]] = {}
        for recogniser in (recogniser for kind in dict.fromkeys(kinds) for recogniser in by_kind[kind]):
            guards.setdefault(recogniser.guard, []).append(recogniser)
        guard = re2.Set.SearchSet()
        for pattern in guards:
            guard.Add(pattern)
        guard.Compile()
        return cls(tuple(map(tuple, guards.values())), guard)

    def has_nothing_in(self, texts: Iterable[str]) -> bool:
        """Whether no text holds anything that is worth a closer look; one look for all of them, and True for most."""
        return not self._recognisers or not self._guard.Match(folded("\n".join(texts)).encode("utf-8", "replace"))

    def read_roughly(self, text: str) -> Read:
        """As ``read``, at a tenth of the cost: every run of seven digits or more counts as a phone number."""
        plain = folded(text)
        hits = [
            Hit(Kind.PHONE, *found.span(), found.group().translate(_SEPARATORS)) for found in _NUMBER.finditer(plain)
        ]
        return Read(text, plain, (*find_emails(plain), *hits) if self._recognisers else ())

    def read(self, text: str) -> Read:
        """The text with its certain finds, which may overlap; linear in the length of any text."""
        plain = folded(text)
        wanted = self._guard.Match(plain.encode("utf-8", "replace")) if self._recognisers else None
        if not wanted:
            return Read(text)
        worth = tuple(recogniser for at in wanted for recogniser in self._recognisers[at])
        return Read(text, plain, tuple(hit for recogniser in worth for hit in recogniser.find(plain)), worth)


def echoes(read: Read, known: Mapping[Kind, frozenset[str]]) -> Iterator[Hit]:
    """Finds that are certain only because their values are known from elsewhere."""
    for recogniser in read.recognisers:
        values = known.get(recogniser.kind)
        if values and recogniser.echo is not None:
            yield from recogniser.echo(read.plain, values)


def settled(hits: Iterable[Hit]) -> list[Hit]:
    """Finds in order and without overlaps: the kind listed first wins, then what begins first, then the longest."""
    taken: set[int] = set()
    kept = []
    for hit in sorted(hits, key=lambda one: (_ORDER[one.kind], one.start, -one.end)):
        places = range(hit.start, hit.end)
        if taken.isdisjoint(places):
            taken.update(places)
            kept.append(hit)
    return sorted(kept, key=lambda hit: hit.start)
