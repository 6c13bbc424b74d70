"""Texts as token ids, by a folder's ``tokenizer.json`` alone: no code of a model, and none of a tokenizer class.

Passages and answers are an attacker's words. A special token that is written out in them ("</s>", "[SEP]") would end
the text for the model, so its first sign is taken out; and half a surrogate pair, which has no UTF-8, is read as "?".
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from detectors.models.batching import Encoded
from schemas.errors import ConfigError

_KEPT = 1 << 14


@dataclass(frozen=True, slots=True)
class Marked:
    """An input with, for each token of its second text, its place among the ids and its characters in that text."""

    encoded: Encoded
    tokens: tuple[tuple[int, int, int], ...]


class TextEncoder:
    """Never cuts a text; safe to share across threads."""

    def __init__(self, path: Path, *, has_types: bool) -> None:
        from tokenizers import Tokenizer  # noqa: PLC0415 - only where a model is loaded

        try:
            self._tokenizer: Any = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises plain Exception for a file that it cannot read
            raise ConfigError(f"{path} is no tokenizer that can be read: {error}") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._has_types = has_types
        added = self._tokenizer.get_added_tokens_decoder().values()
        special = sorted((token.content for token in added if token.special and token.content), key=len, reverse=True)
        self._special = re.compile("|".join(re.escape(text) for text in special)) if special else None
        self.length_of_line: Callable[[str], int] = lru_cache(_KEPT)(self.length)
        """As ``length``, remembered: the same sentences come back with every claim."""

    def clean(self, text: str) -> str:
        """``text`` as a model may read it, sign for sign as long as it was."""
        text = text.encode("utf-8", "replace").decode("utf-8")
        return self._special.sub(lambda found: " " + found.group()[1:], text) if self._special else text

    def length(self, text: str) -> int:
        """Tokens of a text by itself, without special ones."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def one(self, text: str) -> Encoded:
        """An input of one text, in which special tokens count as such."""
        return self._encoded(self._tokenizer.encode(text))

    def pair(self, first: str, second: str) -> Encoded:
        """An input of two texts."""
        return self._encoded(self._tokenizer.encode(first, second))

    def marked(self, first: str, second: str) -> Marked:
        """An input of two texts, with the places of the second one's tokens."""
        encoding = self._tokenizer.encode(first, second)
        parts, offsets = encoding.sequence_ids, encoding.offsets
        tokens = tuple((at, *offsets[at]) for at, part in enumerate(parts) if part == 1)
        return Marked(self._encoded(encoding), tokens)

    def windows(self, text: str, room: int, overlap: int) -> list[str]:
        """``text`` in stretches of at most ``room`` tokens, of which neighbours share ``overlap``; whole if it fits."""
        offsets: Sequence[tuple[int, int]] = self._tokenizer.encode(text, add_special_tokens=False).offsets
        if len(offsets) <= room:
            return [text]
        step = max(1, room - overlap)
        starts = range(0, max(1, len(offsets) - overlap), step)
        return [text[offsets[at][0] : offsets[min(at + room, len(offsets)) - 1][1]] for at in starts]

    def _encoded(self, encoding: Any) -> Encoded:
        return Encoded(tuple(encoding.ids), tuple(encoding.type_ids) if self._has_types else ())
