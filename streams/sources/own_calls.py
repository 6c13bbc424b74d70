"""Our own calls in the topics that we watch: judging them, and then the calls about them, would never end.

Every call of ours carries the header ``x-groundwatch``; a gateway that traces everything, or an SDK, writes it down in
one of many places. Only *names* of fields are looked at, never text: who writes the header's name into a question is
judged like everybody.
"""

from collections.abc import Mapping

from schemas.errors import InvalidMessage
from streams.messages import Message
from streams.sources.json_text import load
from streams.sources.raw import Json

HEADER = "x-groundwatch"
_MARK = "groundwatch"
_HOLDERS = ("metadata", "headers", "invocation_parameters", "spanInputs", "parameters")
"""Attributes whose text is JSON that tells of the call itself; content is looked for elsewhere."""
_MOST_LEVELS = 5
_MOST_KEYS = 2_000


def is_own_message(message: Message) -> bool:
    """Whether a gateway passed the header on as one of the record's."""
    return any(_is_mark(name) for name, _ in message.headers)


def is_own_span(attributes: Mapping[str, Json]) -> bool:
    """Whether flat attributes of a span tell of the header, as ``http.request.header.x-groundwatch`` does."""
    for key, value in attributes.items():
        if _is_mark(key):
            return True
        if key.endswith(_HOLDERS) and is_own_document(_read(value)):
            return True
    return False


def is_own_document(document: Json) -> bool:
    """Whether a field of a JSON object, or of objects within it, is named like the header; lists are not entered.

    At most five levels and 2,000 names are looked at.
    """
    here, left = [document], _MOST_KEYS
    for _ in range(_MOST_LEVELS):
        maps = [found for found in here if isinstance(found, dict)]
        names = [name for found in maps for name in found][:left]
        if any(_is_mark(name) for name in names):
            return True
        left -= len(names)
        here = [value for found in maps for value in found.values()]
    return False


def is_own_value(value: bytes) -> bool:
    """``is_own_document`` for a message that is not parsed yet, at the price of a search where it does not hold us."""
    return _MARK.encode() in value.lower() and is_own_document(_loaded(value))


def _is_mark(name: str) -> bool:
    """The header's name, alone or behind a path, in any case, with dash or underscore."""
    if len(name) < len(HEADER) or name[-len(_MARK) :].lower() != _MARK:
        return False
    tail = name[-len(HEADER) - 1 :].lower().replace("_", "-")
    return tail == HEADER or (tail[1:] == HEADER and not tail[0].isalnum())


def _read(value: Json) -> Json:
    if not isinstance(value, str):
        return value
    return _loaded(value.encode("utf-8", "replace")) if _MARK in value.lower() else None


def _loaded(value: bytes) -> Json:
    try:
        return load(value)[0]
    except InvalidMessage:
        return None
