"""Functions that mapping expressions may call beside JMESPath's own: what a path alone cannot do, and never raising.

Each takes anything and gives null where it makes no sense of it, so that one odd item costs no other.
"""

import re
from collections.abc import Callable
from hashlib import blake2b
from typing import Any, TypeVar

from jmespath import functions

from streams.sources.conventions import values
from streams.sources.conventions.values import as_text
from streams.sources.envelopes.otlp_values import bytes_from_base64
from streams.sources.raw import Json

F = TypeVar("F", bound=Callable[..., Any])
_HEX_ID = re.compile("[0-9a-f]{1,64}")
_ID_BYTES = (8, 16)
_MAX_ID_CHARS = 256
_RUN = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})T([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{6})Z(.+)", re.DOTALL)
_ANYTHING: dict[str, list[str]] = {"types": []}


def _function(*arguments: str) -> Callable[[F], F]:
    """Marks a function with its number of arguments, of whatever type."""
    mark: Any = functions.signature
    marked: Callable[[F], F] = mark(*[_ANYTHING for _ in arguments])
    return marked


class Functions(functions.Functions):
    """JMESPath's own functions and ours; the docstrings are in docs/mapping.md."""

    @_function("value")
    def _func_parsed(self, value: Json) -> Json:
        """What a text holds: JSON, or a list or map as Python prints it; everything else as it is."""
        return values.parsed(value, set())

    @_function("list", "fields")
    def _func_each_with(self, items: Json, extra: Json) -> Json:
        """The maps of a list, each with fields added that it does not state itself."""
        if not isinstance(items, list) or not isinstance(extra, dict):
            return None
        return [{**extra, **_stated(item)} if isinstance(item, dict) else item for item in items]

    @_function("maps")
    def _func_merged(self, maps: Json) -> Json:
        """One map of several, later ones winning; what is no map is passed over."""
        if not isinstance(maps, list):
            return None
        return {key: value for part in maps if isinstance(part, dict) for key, value in _stated(part).items()}

    @_function("separator", "texts")
    def _func_joined(self, separator: Json, texts: Json) -> Json:
        """The texts and numbers of a list with a separator between them, without those that are null or empty."""
        if not isinstance(texts, list) or not isinstance(separator, str):
            return None
        return separator.join(text for item in texts if (text := values.name(item, set()))) or None

    @_function("text")
    def _func_lower(self, text: Json) -> Json:
        """A text in lower case; empty for everything else."""
        return text.lower() if isinstance(text, str) else ""

    @_function("value", "part")
    def _func_has(self, value: Json, part: Json) -> Json:
        """Whether a text or a list holds a part; unlike ``contains`` it takes null."""
        if isinstance(value, str):
            return isinstance(part, str) and part in value
        return isinstance(value, list) and part in value

    @_function("value", "end")
    def _func_ends(self, value: Json, end: Json) -> Json:
        """Whether a text ends so; unlike ``ends_with`` it takes null."""
        return isinstance(value, str) and isinstance(end, str) and value.endswith(end)

    @_function("value", "start")
    def _func_starts(self, value: Json, start: Json) -> Json:
        """Whether a text starts so; unlike ``starts_with`` it takes null."""
        return isinstance(value, str) and isinstance(start, str) and value.startswith(start)

    @_function("value")
    def _func_hex_id(self, value: Json) -> Json:
        """An id as lower-case hex digits: without ``0x`` and ``tr-``, and out of base64 of 8 or 16 bytes."""
        if not isinstance(value, str) or len(value) > _MAX_ID_CHARS:
            return value
        text = value.removeprefix("tr-").removeprefix("0x")
        if _HEX_ID.fullmatch(text.lower()):
            return text.lower()
        raw = bytes_from_base64(text)
        return raw.hex() if raw is not None and len(raw) in _ID_BYTES else value

    @_function("value")
    def _func_content_hash(self, value: Json) -> Json:
        """32 hex digits that are the same for the same content: an id for what has none."""
        if value is None:
            return None
        return blake2b(as_text(value).encode("utf-8", "replace"), digest_size=16).hexdigest()

    @_function("dotted_order")
    def _func_dotted_trace(self, order: Json) -> Json:
        """The first id of LangSmith's ``dotted_order``: that of the trace."""
        return _run(order, 0, "id")

    @_function("dotted_order")
    def _func_dotted_parent(self, order: Json) -> Json:
        """The last but one id of LangSmith's ``dotted_order``; null for a root."""
        return _run(order, -2, "id") if isinstance(order, str) and "." in order else None

    @_function("dotted_order")
    def _func_dotted_start(self, order: Json) -> Json:
        """The start of a run as its ``dotted_order`` has it."""
        return _run(order, -1, "time")


def _stated(item: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if value is not None}


def _run(order: Json, place: int, part: str) -> str | None:
    if not isinstance(order, str):
        return None
    found = _RUN.fullmatch(order.split(".")[place])
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, run_id = found.groups()
    return run_id if part == "id" else f"{year}-{month}-{day}T{hour}:{minute}:{second}.{fraction}Z"


FUNCTIONS = Functions()
NAMES: frozenset[str] = frozenset(FUNCTIONS.FUNCTION_TABLE)
