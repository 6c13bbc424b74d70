"""Evidence and claim as word pieces, with what an exact comparison of their words says as token types.

The types made the network learn: a small transformer does not find out from a few thousand pairs that a word of the
claim stands in the evidence, so it is told.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from detectors.evidence.words import tokenise

LONGEST = 128
LONGEST_CLAIM = 56
EVIDENCE, EVIDENCE_SHARED, CLAIM_ABSENT, CLAIM_PRESENT, CLAIM_IN_PLACE, CLAIM_OTHER = range(6)
"""Token types: evidence; an evidence word that the claim has; a claim word that the evidence lacks, has, has beside the
same neighbour; and what is no word of the claim (signs)."""
TYPES = 6
SPECIAL = 3
_KEPT = 1 << 14


@dataclass(frozen=True, slots=True)
class Text:
    """Word pieces of one text: ids, characters ``start:end`` of each, and the word of each (−1 for signs)."""

    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    word: tuple[int, ...]
    keys: tuple[str, ...]
    """Keys of its words, in order."""
    is_stop: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """One input: ids and token types, equally long; the claim's word pieces are ``claim_start:claim_end``.

    ``spans`` are the claim's pieces in characters of the claim.
    """

    ids: tuple[int, ...]
    types: tuple[int, ...]
    claim_start: int
    claim_end: int
    spans: tuple[tuple[int, int], ...]


class Encoder:
    """Safe to share across threads; keeps the word pieces of the texts seen last."""

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer  # noqa: PLC0415 - only where a model is loaded

        self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._first, self._separator = self._tokenizer.encode("").ids  # around anything, here around nothing
        self.text = lru_cache(maxsize=_KEPT)(self._text)

    def _text(self, text: str) -> Text:
        # A lone surrogate is no text to the tokenizer; one sign for one keeps the offsets.
        encoded = self._tokenizer.encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False)
        words = [(word, start) for word, start in tokenise(text)]
        at, place = 0, []
        for start, end in encoded.offsets:
            while at < len(words) and words[at][1] + len(words[at][0].text) <= start:
                at += 1
            place.append(at if at < len(words) and words[at][1] < end else -1)
        return Text(
            tuple(encoded.ids),
            tuple(encoded.offsets),
            tuple(place),
            tuple(word.key for word, _ in words),
            tuple(word.is_stop for word, _ in words),
        )

    def pair(self, evidence: Sequence[str], claim: str) -> Pair:
        """Evidence, then claim. What does not fit is cut: the claim at 56 word pieces, the evidence at what is left."""
        said = self.text(claim)
        length = min(len(said.ids), LONGEST_CLAIM)
        room = LONGEST - SPECIAL - length
        held = [self.text(text) for text in evidence]
        own = {key for key, is_stop in zip(said.keys, said.is_stop, strict=True) if not is_stop}
        ids, types = [self._first], [EVIDENCE]
        for text in held:
            taken = text.ids[:room]
            ids += taken
            types += [_shared(text, word, own) for word in text.word[: len(taken)]]
            room -= len(taken)
        start = len(ids) + 1
        ids += [self._separator, *said.ids[:length], self._separator]
        states = _states(said, held)
        types += [EVIDENCE, *(CLAIM_OTHER if word < 0 else states[word] for word in said.word[:length]), CLAIM_OTHER]
        return Pair(tuple(ids), tuple(types), start, start + length, said.spans[:length])


def _shared(text: Text, word: int, own: set[str]) -> int:
    return EVIDENCE_SHARED if word >= 0 and text.keys[word] in own else EVIDENCE


def _states(said: Text, held: Sequence[Text]) -> list[int]:
    present = {key for text in held for key in text.keys}
    together = {two for text in held for two in pairwise(text.keys)}
    keys = said.keys
    states = []
    for at, key in enumerate(keys):
        beside = (two for two in (keys[max(at - 1, 0) : at + 1], keys[at : at + 2]))
        if key not in present:
            states.append(CLAIM_ABSENT)
        elif any(two in together for two in beside):
            states.append(CLAIM_IN_PLACE)
        else:
            states.append(CLAIM_PRESENT)
    return states
