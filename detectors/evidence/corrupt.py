"""Weak supervision: true claims with one small error put in, so that figures, names and negation are learned."""

import re
from collections.abc import Iterator, Sequence
from random import Random

from detectors.evidence.examples import CONTRADICTED, SUPPORTED, AnswerExample, ClaimExample
from detectors.evidence.lexicon import OPPOSITES
from detectors.evidence.words import words_of

_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w.,]*\d)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}")
_TWO_NAMES = re.compile(
    r"\b([A-Z][a-z]{2,}(?: [A-Z][a-z]+)?)((?:'s)? (?:[a-z]+ ){1,5})([A-Z][a-z]{2,}(?: [A-Z][a-z]+)?)\b"
)
_LISTED = re.compile(r"\b(?:and|or|nor|as|is|was|are|were|met|meets|married|marries)\b")
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|can|will|has|have|may|must|should)\b(?! not)")
_DENIAL = re.compile(r"\b(?:not|never) |\bno (?=[a-z])")
_LOWER_WORD = re.compile(r"\b[a-z]{2,}\b")
_CLAUSE_END = re.compile(r"[,;:(]\s|\s(?=(?:which|who|while|because|although|after|before|when|where|but|and)\s)")
_SUBJECT = re.compile(r"^(?:The|This|That|A|An) (?:[a-z]+ ){1,2}(?=(?:is|was|has|can|will|may|must|had)\b)")
_SHORTEST, _LONGEST = 6, 40
_EVEN = 0.5
"""Half of the false figures and names stand elsewhere in the passages, half are new."""
WEIGHT = 0.4
CORRUPTED = "corrupted"


def corrupted_pairs(examples: Sequence[AnswerExample], rng: Random, per_kind: int) -> list[AnswerExample]:
    """Up to ``per_kind`` corruptions of each kind, each beside its true original, from answers that are wholly good.

    Half of the originals are claims, half are sentences of the passages; sources and folds are those of the originals.
    """
    origins = list(_origins(examples, rng))
    made: list[AnswerExample] = []
    for kind in (_change_number, _change_name, _flip_negation, _swap_opposite, _swap_names):
        rng.shuffle(origins)
        count = 0
        for example, text in origins:
            if count == per_kind:
                break
            changed = kind(text, example, examples, rng)
            if changed is not None and changed != text:
                made.append(_alone(example, text, SUPPORTED))
                made.append(_alone(example, changed, CONTRADICTED))
                count += 1
    return made


def _origins(examples: Sequence[AnswerExample], rng: Random) -> Iterator[tuple[AnswerExample, str]]:
    for example in examples:
        if not example.is_bad:
            for claim in example.claims:
                if _SHORTEST <= len(claim.words) <= _LONGEST:
                    yield example, plain(claim.text, rng)
        passage, text = rng.choice(list(zip(example.passages, example.texts, strict=True)))
        pieces = [p for p in passage.pieces if _SHORTEST <= len(p.words) <= _LONGEST and not p.is_key_value]
        if pieces:
            piece = rng.choice(pieces)
            yield example, plain(text[piece.start : piece.end], rng)


def plain(text: str, rng: Random) -> str:
    """Half the time ``text`` as a short answer says it: up to the first clause end, the subject as a pronoun."""
    if rng.random() < _EVEN:
        return text
    clause = next((m for m in _CLAUSE_END.finditer(text) if len(words_of(text[: m.start()])) >= _SHORTEST), None)
    short = f"{text[: clause.start()].rstrip()}." if clause else text
    reworded = _SUBJECT.sub("It ", short, count=1) if rng.random() < _EVEN else short
    return reworded if len(words_of(reworded)) >= _SHORTEST - 1 else short


def _alone(example: AnswerExample, text: str, label: int) -> AnswerExample:
    return AnswerExample(
        record_id=example.record_id,
        source=example.source,
        group=CORRUPTED,
        is_bad=label != SUPPORTED,
        may_contradict=True,
        question=frozenset(),
        passages=example.passages,
        texts=example.texts,
        claims=(ClaimExample(tuple(words_of(text)), text, label),),
        weight=WEIGHT,
    )


def _change_number(text: str, example: AnswerExample, _: Sequence[AnswerExample], rng: Random) -> str | None:
    matches = list(_NUMBER.finditer(text))
    if not matches:
        return None
    match = rng.choice(matches)
    digits = match.group()
    if rng.random() < _EVEN:
        others = [n for t in example.texts for n in _numbers(t) if n != digits and abs(len(n) - len(digits)) <= 1]
        new: str | None = rng.choice(others) if others else None
    else:
        place = rng.randrange(len(digits))
        new = digits[:place] + rng.choice("123456789") + digits[place + 1 :] if digits[place].isdigit() else None
    return None if new is None else text[: match.start()] + new + text[match.end() :]


def _numbers(text: str) -> list[str]:
    return [match.group() for match in _NUMBER.finditer(text)]


def _change_name(text: str, example: AnswerExample, strangers: Sequence[AnswerExample], rng: Random) -> str | None:
    matches = list(_NAME.finditer(text))
    texts = example.texts if rng.random() < _EVEN else rng.choice(strangers).texts
    others: list[str] = [name for t in texts for name in _NAME.findall(t) if name not in text]
    if not matches or not others:
        return None
    match = rng.choice(matches)
    return text[: match.start()] + rng.choice(others) + text[match.end() :]


def _flip_negation(text: str, _: AnswerExample, __: Sequence[AnswerExample], rng: Random) -> str | None:
    denial = _DENIAL.search(text)
    if denial:
        return text[: denial.start()] + text[denial.end() :]
    matches = list(_AUXILIARY.finditer(text))
    if not matches:
        return None
    match = rng.choice(matches)
    return f"{text[: match.end()]} not{text[match.end() :]}"


def _swap_opposite(text: str, _: AnswerExample, __: Sequence[AnswerExample], rng: Random) -> str | None:
    matches = [match for match in _LOWER_WORD.finditer(text) if match.group() in OPPOSITES]
    if not matches:
        return None
    match = rng.choice(matches)
    other = rng.choice(sorted(OPPOSITES[match.group()]))
    return text[: match.start()] + other + text[match.end() :]


def _swap_names(text: str, _: AnswerExample, __: Sequence[AnswerExample], rng: Random) -> str | None:
    """Two names with a verb or a preposition between them change places; those of a list may."""
    matches = [
        match
        for match in _TWO_NAMES.finditer(text)
        if not _LISTED.search(match.group(2)) and match.group(1) != match.group(3)
    ]
    matches = [match for match in matches if not words_of(match.group(1))[0].is_stop]
    if not matches:
        return None
    match = rng.choice(matches)
    first, between, second = match.groups()
    return f"{text[: match.start()]}{second}{between}{first}{text[match.end() :]}"
