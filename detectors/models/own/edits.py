"""Minimal corruptions of a true sentence as replaced spans, so that the wrong words are known.

An edit can be made in the claim, or in the evidence too; then the claim is true again, and its wording tells nothing.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from detectors.evidence.lexicon import OPPOSITES
from detectors.evidence.relations import antonyms_of, relation_of_two
from detectors.evidence.words import stem

_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w.,]*\d)")
_NAME = re.compile(r"(?<=[a-z,(\"] )[A-Z][\w'’-]{2,}(?: [A-Z][\w'’-]+){0,2}")
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|can|could|will|would|has|have|had|may|must|should|did|does|do)\b(?! not|n)"
)
_DENIAL = re.compile(r"\b(?:not|never|no longer) |n['’]t\b")
_WORD = re.compile(r"\b[a-z]{3,}\b")
_PHRASE = re.compile(
    r"\b(?:the|a|an|his|her|their|its|this|these|some|two|three|several|many) (?:[a-z-]+ ){0,2}[a-z-]{3,}\b"
)
_SETS = (
    "January February March April May June July August September October November December",
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "seconds minutes hours days weeks months years decades",
    "second minute hour day week month year decade",
    "hundred thousand million billion trillion",
    "one two three four five six seven eight nine ten twelve twenty",
    "first second third fourth fifth last",
    "dollars euros pounds yen",
    "percent pounds degrees points",
    "miles kilometers feet metres meters inches",
    "north south east west",
    "morning afternoon evening night",
    "before after during",
    "all most some few none",
    "always often sometimes rarely never",
    "he she",
    "his her",
    "man woman boy girl",
    "father mother brother sister son daughter",
)
_GROUPS: dict[str, list[str]] = {}
for _line in _SETS:
    for _word in _line.split():
        _GROUPS.setdefault(_word, []).extend(other for other in _line.split() if other != _word)
_ENDINGS = ("ed", "ing", "ly", "ion", "ions", "ers", "er", "ies", "ent", "ive", "al")
_EVEN = 0.5
_YEAR = range(1000, 2100)

Edit = tuple[int, int, str]
"""Characters ``start:end`` replaced by a text."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words of all documents by ending and by stem, so that one stands in for another in the same form."""

    by_ending: Mapping[str, Sequence[str]]
    by_stem: Mapping[str, Sequence[str]]
    names: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """One text with its sentences, and what of it can stand in another place."""

    text: str
    numbers: Sequence[str]
    names: Sequence[str]
    phrases: Sequence[str]
    by_ending: Mapping[str, Sequence[str]] = field(default_factory=dict)


def document(text: str) -> Document:
    """What can be exchanged in ``text``."""
    return Document(
        text,
        sorted({found.group() for found in _NUMBER.finditer(text)}),
        sorted({found.group() for found in _NAME.finditer(text)}),
        sorted({found.group() for found in _PHRASE.finditer(text)}),
        _by_ending(_WORD.findall(text)),
    )


def vocabulary(texts: Iterable[str]) -> Vocabulary:
    """Words seen at least three times."""
    counts: dict[str, int] = defaultdict(int)
    names: set[str] = set()
    for text in texts:
        for word in _WORD.findall(text):
            counts[word] += 1
        names.update(found.group() for found in _NAME.finditer(text))
    words = sorted(word for word, count in counts.items() if count >= 3)  # noqa: PLR2004 - said above
    stems: dict[str, list[str]] = defaultdict(list)
    for word in words:
        stems[stem(word)].append(word)
    return Vocabulary(_by_ending(words), stems, sorted(names))


def _by_ending(words: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for word in words:
        ending = _ending(word)
        if ending:
            found[ending].add(word)
    return {ending: sorted(held) for ending, held in found.items()}


def _ending(word: str) -> str:
    return next((end for end in sorted(_ENDINGS, key=len, reverse=True) if word.endswith(end)), "")


def corrupted(text: str, source: Document, known: Vocabulary, rng: Random) -> list[Edit]:
    """One corruption of a kind drawn at random among those that fit; empty where none fits."""
    kinds = list(_KINDS)
    for kind in rng.sample(kinds, len(kinds)):
        edits = kind(text, source, known, rng)
        if edits and applied(text, edits).lower() != text.lower():
            return sorted(edits)
    return []


def applied(text: str, edits: Sequence[Edit]) -> str:
    """``text`` with its edits made."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def changed_spans(edits: Sequence[Edit]) -> list[tuple[int, int]]:
    """Where the new words stand after ``applied``; of a deletion, the character on either side of it."""
    spans, shift = [], 0
    for start, end, new in sorted(edits):
        spans.append(
            (start + shift, start + shift + len(new)) if new else (max(start + shift - 2, 0), start + shift + 1)
        )
        shift += len(new) - (end - start)
    return spans


def _pick(rng: Random, options: Sequence[str]) -> str | None:
    return rng.choice(options) if options else None


def _number(text: str, source: Document, _: Vocabulary, rng: Random) -> list[Edit]:
    matches = list(_NUMBER.finditer(text))
    if not matches:
        return []
    match = rng.choice(matches)
    digits = match.group()
    held = set(_NUMBER.findall(text))
    others = [other for other in source.numbers if other not in held and abs(len(other) - len(digits)) <= 1]
    if others and rng.random() < _EVEN:
        return [(match.start(), match.end(), rng.choice(others))]
    if digits.isdigit() and int(digits) in _YEAR:
        new = str(int(digits) + rng.choice((-10, -3, -2, -1, 1, 2, 3, 10)))
    else:
        at = rng.choice([place for place, sign in enumerate(digits) if sign.isdigit()])
        new = digits[:at] + rng.choice([d for d in "123456789" if d != digits[at]]) + digits[at + 1 :]
    return [(match.start(), match.end(), new)]


def _group(text: str, _: Document, __: Vocabulary, rng: Random) -> list[Edit]:
    matches = [found for found in re.finditer(r"\b\w+\b", text) if found.group() in _GROUPS]
    if not matches:
        return []
    match = rng.choice(matches)
    return [(match.start(), match.end(), rng.choice(_GROUPS[match.group()]))]


def _name(text: str, source: Document, known: Vocabulary, rng: Random) -> list[Edit]:
    matches = list(_NAME.finditer(text))
    others: Sequence[str] = [name for name in source.names if name not in text]
    if not others or rng.random() < _EVEN / 2:
        others = [name for name in rng.sample(known.names, min(8, len(known.names))) if name not in text]
    if not matches or not others:
        return []
    match = rng.choice(matches)
    return [(match.start(), match.end(), rng.choice(others))]


def _negation(text: str, _: Document, __: Vocabulary, rng: Random) -> list[Edit]:
    denial = _DENIAL.search(text)
    if denial is not None:
        return [(denial.start(), denial.end(), "")]
    matches = list(_AUXILIARY.finditer(text))
    if not matches:
        return []
    match = rng.choice(matches)
    return [(match.end(), match.end(), " not")]


def _opposite(text: str, _: Document, known: Vocabulary, rng: Random) -> list[Edit]:
    options: list[Edit] = []
    for match in _WORD.finditer(text):
        word = match.group()
        options += [(match.start(), match.end(), other) for other in sorted(OPPOSITES.get(word, ()))]
        for other in sorted(antonyms_of(stem(word))):
            same_form = [form for form in known.by_stem.get(other, ()) if _ending(form) == _ending(word)]
            options += [(match.start(), match.end(), form) for form in same_form[:2]]
    return [rng.choice(options)] if options else []


def _roles(text: str, _: Document, __: Vocabulary, rng: Random) -> list[Edit]:
    matches = list(_NAME.finditer(f"a {text}")) if text[:1].isupper() and rng.random() < _EVEN else []
    found = [(one.start() - 2, one.end() - 2, one.group()) for one in matches if one.start() >= 2]  # noqa: PLR2004
    found = found or [(one.start(), one.end(), one.group()) for one in _NAME.finditer(text)]
    if len({name for _, _, name in found}) < 2:  # noqa: PLR2004 - two are exchanged
        phrases = [(one.start(), one.end(), one.group()) for one in _PHRASE.finditer(text)]
        found = phrases if len({name for _, _, name in phrases}) > 1 else []
    if not found:
        return []
    first, second = rng.sample(found, 2)
    if first[2] == second[2]:
        return []
    return [(first[0], first[1], second[2]), (second[0], second[1], first[2])]


def _phrase(text: str, source: Document, _: Vocabulary, rng: Random) -> list[Edit]:
    matches = list(_PHRASE.finditer(text))
    others = [phrase for phrase in source.phrases if phrase not in text]
    if not matches or not others:
        return []
    match = rng.choice(matches)
    return [(match.start(), match.end(), rng.choice(others))]


def _predicate(text: str, source: Document, known: Vocabulary, rng: Random) -> list[Edit]:
    """A verb, adverb or derived word by another in the same form that WordNet does not call the same or wider."""
    matches = [match for match in _WORD.finditer(text) if _ending(match.group())]
    rng.shuffle(matches)
    for match in matches[:4]:
        word = match.group()
        table = source.by_ending if rng.random() < _EVEN else known.by_ending
        others = table.get(_ending(word), ())
        for other in rng.sample(list(others), min(4, len(others))):
            if other not in text and relation_of_two(stem(word), stem(other)) not in {"same", "wider"}:
                return [(match.start(), match.end(), other)]
    return []


_Kind = Callable[[str, Document, Vocabulary, Random], list[Edit]]
_KINDS: tuple[_Kind, ...] = (_number, _group, _name, _negation, _opposite, _roles, _phrase, _predicate, _predicate)
