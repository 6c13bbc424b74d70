r"""Patterns of the policy, compiled one way wherever they are checked or used; users write them, so RE2 runs them.

RE2 has no backtracking: no pattern can be slow on any text. It lacks look-around and back references, and its ``\b``,
``\d`` and ``\w`` know ASCII only.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

from schemas.errors import ConfigError

MAX_PATTERN_CHARS = 1000
_MAX_PROGRAM_BYTES = 8 << 20
_FIX = "it has no look-around and no back references, repeats at most 1,000 times, and text like ( needs a backslash"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern; upper and lower case are alike to it."""

    source: str
    _program: Any

    def is_in(self, text: str) -> bool:
        """Whether the pattern matches anywhere in ``text``, in time linear in its length; any text is accepted."""
        found = self._program.search(text.encode("utf-8", "replace"))  # lone surrogates cannot be encoded
        return found is not None

    def captured(self, text: str) -> str | None:
        """What the first group that took part matched, the whole match without groups; None where nothing matches."""
        found = self._program.search(text.encode("utf-8", "replace"))
        if found is None:
            return None
        part = next((group for group in found.groups() if group is not None), None) if found.groups() else found.group()
        return None if part is None else str(part.decode("utf-8", "replace"))


@lru_cache(maxsize=1024)
def compile_pattern(source: str) -> Pattern:
    """A pattern of at most 1,000 characters. Raises ConfigError with reason and fix, without naming where it stands."""
    if len(source) > MAX_PATTERN_CHARS:
        message = f"a pattern of {len(source)} characters; shorten it to {MAX_PATTERN_CHARS} or split the rule"
        raise ConfigError(message)
    try:
        return _compiled(source)
    except (re2.error, UnicodeEncodeError) as error:
        message = f"not a pattern that RE2 can run ({_reason(error)}); {_FIX}"
        raise ConfigError(message) from error


@lru_cache(maxsize=1024)
def compile_any(sources: tuple[str, ...]) -> Pattern | None:
    """One pattern that matches where any of several does; None where they are too much for one.

    Asked first, it spares asking each: most texts match none.
    """
    if any(r"\Q" in source for source in sources):  # an open quotation would swallow its neighbours
        return None
    try:
        return _compiled("|".join(f"(?:{source})" for source in sources))
    except (re2.error, UnicodeEncodeError):
        return None


def _compiled(source: str) -> Pattern:
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = _MAX_PROGRAM_BYTES
    return Pattern(source, re2.compile(source, options))


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeEncodeError):
        return "it holds half a character"
    first = error.args[0]  # RE2's wrapper gives bytes
    return first.decode("utf-8", "replace") if isinstance(first, bytes) else str(first)
