"""A pattern that RE2 matches in linear time, over any text that Python can hold."""

from collections.abc import Iterable, Iterator
from typing import Protocol

import re2

_MAX_PROGRAM_BYTES = 64 << 20


class Match(Protocol):
    """What is used of a match; offsets in code points."""

    def start(self) -> int:
        """Where it begins."""
        ...

    def end(self) -> int:
        """Where it ends."""
        ...

    def group(self) -> str:
        """What was matched."""
        ...


class Phrases:
    """Any of the patterns, the longest match first; halves of surrogate pairs are read as question marks."""

    def __init__(self, patterns: Iterable[str], before: str = "") -> None:
        """Compile the patterns, each behind ``before``."""
        options = re2.Options()
        options.log_errors = False
        options.longest_match = True  # or the wording of one language would cut short that of another
        options.max_mem = _MAX_PROGRAM_BYTES
        self._pattern = re2.compile(before + "(?:" + "|".join(f"(?:{pattern})" for pattern in patterns) + ")", options)

    def search(self, text: str) -> Match | None:
        """The first match anywhere."""
        if self._pattern.search(text.encode("utf-8", "replace")) is None:  # nearly always; encoded once
            return None
        found: Match | None = self._pattern.search(_readable(text))
        return found

    def match(self, text: str) -> Match | None:
        """The match at the beginning."""
        found: Match | None = self._pattern.match(_readable(text))
        return found

    def finditer(self, text: str) -> Iterator[Match]:
        """All matches, from left to right."""
        return iter(self._pattern.finditer(_readable(text)))

    def without(self, text: str) -> str:
        """The text with a blank in place of each match."""
        replaced: str = self._pattern.sub(" ", _readable(text))
        return replaced


def _readable(text: str) -> str:
    """Text that can be encoded, of the same length."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
