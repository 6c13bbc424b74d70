"""Foreign JSON, read liberally and within bounds: what one strict parser refuses must not cost a whole batch.

Text that is good JSON takes the fast parser. Only when that refuses it, the text is read again by the standard
library, which lets through lone surrogates, broken UTF-8 (as surrogates), control characters and NaN; `clean` then
mends each part, so that a caller can say which span of a batch was mended.
"""

import json
from codecs import BOM_UTF8
from typing import Any

from pydantic_core import from_json

from schemas.errors import InvalidMessage
from streams.sources.encoding import without_surrogates

MAX_DEPTH = 200
"""Lists and maps within one another; the fast parser has the same limit."""
_MAX_DIGITS = 400
"""Longer whole numbers are beyond any float, and slow to read."""


def load(value: bytes) -> tuple[Any, bool]:
    """The document, and whether it has to go through `clean` before its text is used.

    NaN, Infinity and numbers beyond a float become None. Raises InvalidMessage: ``not_json``, or ``too_deep``.
    """
    value = value.removeprefix(BOM_UTF8)
    try:
        return from_json(value, allow_inf_nan=False), False
    except ValueError:
        return _load_liberally(value.decode("utf-8", "surrogateescape")), True


def _load_liberally(text: str) -> Any:
    try:
        return json.loads(text, strict=False, parse_constant=_nothing, parse_int=_integer)
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:
        raise InvalidMessage("not_json", f"{error}; send UTF-8 JSON") from error


def _nothing(_: str) -> None:
    return None


def _integer(digits: str) -> int | None:
    return int(digits) if len(digits) <= _MAX_DIGITS else None


def clean(document: Any) -> tuple[Any, bool]:
    """The document with U+FFFD in place of lone surrogates and broken bytes, and whether there were any.

    Raises InvalidMessage (``too_deep``) below 200 levels.
    """
    mended: list[str] = []
    return _cleaned(document, 0, mended), bool(mended)


def _cleaned(value: Any, depth: int, mended: list[str]) -> Any:
    if depth > MAX_DEPTH:
        raise _too_deep()
    if isinstance(value, str):
        return _text(value, mended)
    if isinstance(value, list):
        return [_cleaned(item, depth + 1, mended) for item in value]
    if isinstance(value, dict):
        return {_text(key, mended): _cleaned(item, depth + 1, mended) for key, item in value.items()}
    return value


def _text(text: str, mended: list[str]) -> str:
    clean_text = without_surrogates(text)
    if clean_text is not text:
        mended.append("")
    return clean_text


def _too_deep() -> InvalidMessage:
    return InvalidMessage("too_deep", f"more than {MAX_DEPTH} lists and maps within one another; send flatter data")
