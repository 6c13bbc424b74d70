"""Values as strangers write them: JSON in text, Python's repr in text, numbers in text; whatever it is, nothing raises.

Text is parsed only where it looks like a list or a map, since an answer that says ``42`` or ``true`` is text.
"""

import ast
import json
import math
import re
import warnings
from typing import Any

from pydantic_core import from_json

from schemas.errors import InvalidMessage
from schemas.trace import MAX_ITEMS
from streams.sources.encoding import without_surrogates
from streams.sources.json_text import clean, load
from streams.sources.raw import Json

MAX_LITERAL_CHARS = 200_000
"""Longest Python repr that is read: the parser is slow and hungry for memory."""
MAX_DEPTH = 16
"""Lists and maps within one another that are looked into."""
REDACTED = "__REDACTED__"
_HEAD_CHARS = 64
_OPENS_JSON = re.compile(r"""\s*(?:\{\s*(?:"|$)|\[\s*(?:["{[]|$))""")
_OPENS_REPR = re.compile(r"""\s*(?:\{\s*'|\[\s*[{(]\s*'|\[\s*\w+\(\w+=)""")
_REPR_MARKS = ("'", "None", "True", "False")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def parsed(value: Json, flags: set[str], *, is_json: bool = False) -> Json:
    """What a text holds when it is a list or a map in JSON or Python's spelling; everything else as it came.

    With ``is_json`` the whole value is JSON by its convention, so that quotes, numbers and null are read too. JSON that
    breaks off gives what is there, flagged ``truncated``. Linear in the length.
    """
    if not isinstance(value, str):
        return value
    first = value[:_HEAD_CHARS].lstrip()[:1]
    if first not in ("{", "[") and not (is_json and first):
        return value
    try:
        return from_json(value)
    except ValueError as error:
        return _second_look(value, first, flags, has_ended_early=str(error).startswith("EOF"))


def _second_look(value: str, first: str, flags: set[str], *, has_ended_early: bool) -> Json:
    if has_ended_early and (_OPENS_JSON.match(value) or first == '"'):
        return _beginning(value, flags)
    if first not in ("{", "["):
        return value
    return _mended(value, flags) if _SURROGATE_ESCAPE.search(value) else _literal(value, flags)


def _beginning(value: str, flags: set[str]) -> Json:
    try:
        found = from_json(value, allow_partial="trailing-strings")
    except ValueError:
        return value
    flags.add("truncated")
    return found


def _mended(value: str, flags: set[str]) -> Json:
    try:
        document, _ = load(value.encode("utf-8", "surrogatepass"))
        document, was_mended = clean(document)
    except InvalidMessage:
        return value
    if was_mended:
        flags.add("repaired_text")
    return document


def _literal(value: str, flags: set[str]) -> Json:
    """A list or map as Python prints it; the text itself when it is none, flagged when it looks like a cut one."""
    if len(value) <= MAX_LITERAL_CHARS and any(mark in value for mark in _REPR_MARKS):
        found = literal(value.strip())
        if found is not None:
            return found
    if _OPENS_REPR.match(value) and value.rstrip()[-1:] not in ("}", "]", ")"):
        flags.add("truncated")
    return value


def literal(text: str) -> Json:
    """A Python literal as plain JSON; None when it is none."""
    try:
        with warnings.catch_warnings():  # an unknown escape in the text is no concern of the operator
            warnings.simplefilter("ignore")
            return plain(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def plain(value: Any, depth: int = 0) -> Json:
    """A Python literal as JSON has it: tuples and sets as lists, keys as text; None below 16 levels."""
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {without_surrogates(str(key)): plain(item, depth + 1) for key, item in value.items()}
    if value is None or isinstance(value, (int, float)):
        return value
    return without_surrogates(str(value))


def as_text(value: Json) -> str:
    """Any value as text: text as it is, the rest as compact JSON."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    except (ValueError, RecursionError):
        return ""


def name(value: Json, flags: set[str]) -> str:
    """An id or a name, which may be a number; empty where there is none. Flags ``wrong_shape`` for lists and maps."""
    if isinstance(value, str):
        return value.strip()
    if value is None:
        return ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return as_text(value)
    flags.add("wrong_shape")
    return ""


def number(value: Json) -> float | None:
    """A finite number, or text that is one; None for everything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def texts(value: Json, flags: set[str]) -> tuple[str, ...]:
    """Names in a list, in JSON, or in one text parted by commas; what is no name is left out and flagged."""
    found = parsed(value, flags)
    if isinstance(found, str):
        found = found.split(",")
    if found is None or not isinstance(found, list):
        if found is not None:
            flags.add("wrong_shape")
        return ()
    return tuple(text for item in found[:MAX_ITEMS] if (text := name(item, flags)))


def is_redacted(text: str | None) -> bool:
    """Whether a producer put its placeholder in place of the text."""
    return text is not None and len(text) <= 2 * len(REDACTED) and text.strip() == REDACTED
