"""Values of OTLP/JSON: what is not of the kind that its name promises becomes None, never an error."""

from base64 import b64encode
from collections.abc import Callable
from math import isfinite
from typing import Any

from streams.sources.envelopes.otlp_values import MAX_ITEMS, MAX_VALUE_DEPTH, bytes_from_base64
from streams.sources.raw import Json

_INT64 = range(-(2**63), 2**63)
_MAX_DIGITS = 40


def attributes_of(pairs: Any, flags: set[str]) -> dict[str, Json]:
    """A list of ``{"key", "value"}`` as a map; the last of equal keys wins, as it does in protobuf."""
    return _map(pairs, flags, MAX_VALUE_DEPTH)


def value_of(value: Any, flags: set[str], depth_left: int = MAX_VALUE_DEPTH) -> Json:
    """An AnyValue as plain JSON: bytes as base64 text; NaN, infinity and what is out of range as None.

    Flags ``bad_number`` for a whole number beyond 64 bits, ``cut_values`` where a limit cut something off.
    """
    if not isinstance(value, dict):
        return None
    for kind, content in value.items():
        if content is not None and (read := _READERS.get(kind)):
            return read(content, flags, depth_left)
    return None


def _text(content: Any, _flags: set[str], _depth: int) -> str | None:
    return content if isinstance(content, str) else None


def _bool(content: Any, _flags: set[str], _depth: int) -> bool | None:
    return content if isinstance(content, bool) else None


def _integer(content: Any, flags: set[str], _depth: int) -> int | None:
    return integer(content, flags)


def _double(content: Any, _flags: set[str], _depth: int) -> float | None:
    return double(content)


def _bytes(content: Any, _flags: set[str], _depth: int) -> str | None:
    raw = bytes_from_base64(content) if isinstance(content, str) else None
    return None if raw is None else b64encode(raw).decode("ascii")


def _array(content: Any, flags: set[str], depth_left: int) -> list[Json] | None:
    if not isinstance(content, dict) or _is_too_deep(depth_left, flags):
        return None
    return [value_of(item, flags, depth_left - 1) for item in _items(content.get("values"), flags)]


def _kvlist(content: Any, flags: set[str], depth_left: int) -> dict[str, Json] | None:
    if not isinstance(content, dict) or _is_too_deep(depth_left, flags):
        return None
    return _map(content.get("values"), flags, depth_left - 1)


def _is_too_deep(depth_left: int, flags: set[str]) -> bool:
    if depth_left == 0:
        flags.add("cut_values")
    return depth_left == 0


def _map(pairs: Any, flags: set[str], depth_left: int) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for pair in _items(pairs, flags):
        if isinstance(pair, dict):
            key = pair.get("key", "")
            if isinstance(key, str):
                found[key] = value_of(pair.get("value"), flags, depth_left)
    return found


def _items(value: Any, flags: set[str]) -> list[Any]:
    if not isinstance(value, list):
        return []
    if len(value) <= MAX_ITEMS:
        return value
    flags.add("cut_values")
    return value[:MAX_ITEMS]


def integer(value: Any, flags: set[str]) -> int | None:
    """A 64-bit whole number that came as a number or as text; None for anything else, flagged when it is too big."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and len(value) <= _MAX_DIGITS:
        try:
            value = int(value)
        except ValueError:
            return None
    if not isinstance(value, int):
        return None
    if value not in _INT64:
        flags.add("bad_number")
        return None
    return value


def double(value: Any) -> float | None:
    """A finite number; None for the others, which protobuf's JSON writes as text: NaN, Infinity, -Infinity."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


_KINDS = {
    "string": _text,
    "bool": _bool,
    "int": _integer,
    "double": _double,
    "bytes": _bytes,
    "array": _array,
    "kvlist": _kvlist,
}
_READERS: dict[str, Callable[[Any, set[str], int], Json]] = {
    **{f"{kind}Value": read for kind, read in _KINDS.items()},
    **{f"{kind}_value": read for kind, read in _KINDS.items()},
}
