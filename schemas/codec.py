"""Bytes of ``gw.*`` topics and back: JSON with a schema tag, so that a newer writer is recognised, never guessed.

What a newer writer wrote and this reader cannot read is held until the reader is upgraded, never thrown away
(docs/upgrades.md).
"""

import re
from typing import NamedTuple, TypeVar

from pydantic import ValidationError

from schemas.base import Record
from schemas.errors import InvalidMessage, SchemaTooNew


class Version(NamedTuple):
    """``minor`` grows with a field that older readers may pass over, ``major`` with whatever they would misread."""

    major: int
    minor: int


VERSION = Version(1, 0)
"""Of all records on ``gw.*``. A new word in a vocabulary is a major change, too: older readers refuse it."""
OLDEST_MAJOR = 1
"""The oldest that is still read: what an older worker left on a topic must be readable after an upgrade."""
HEADER = "gw-schema"
"""Kafka header that carries ``<ModelName>/<major>.<minor>``."""

_TAG = re.compile(rb"([A-Za-z]{1,80})/(\d{1,9})(?:\.(\d{1,9}))?")
_REASONS = {"json_invalid": "not_json", "missing": "missing_field", "too_long": "too_large"}

R = TypeVar("R", bound=Record)


def schema_header(model: type[Record]) -> tuple[str, bytes]:
    """The header that names the model and version of an encoded message."""
    return HEADER, _tag(model, VERSION).encode()


def encode(record: Record) -> bytes:
    """UTF-8 JSON; lone surrogates were removed at decode, so this cannot fail on text."""
    return record.model_dump_json(exclude_none=True).encode()


def decode(model: type[R], value: bytes | None, schema: bytes | None = None) -> R:
    """The record in ``value``; ``schema`` is the header's value, None where a message carries none.

    Raises InvalidMessage (``unknown_schema``, ``tombstone`` or a reason of ``invalid_message``) naming the field, or
    SchemaTooNew for what a newer writer wrote and this version cannot read.
    """
    try:
        return _decoded(model, value, VERSION if schema is None else written_version(model, schema))
    except InvalidMessage as error:
        error.decoder = _tag(model, VERSION)
        raise


def _decoded(model: type[R], value: bytes | None, written: Version) -> R:
    if written.major > VERSION.major:
        raise _too_new(model, written)
    if value is None:
        raise InvalidMessage("tombstone", "the value is null; send a JSON object")
    try:
        return model.model_validate_json(value)
    except ValidationError as error:
        raise (_too_new(model, written) if written > VERSION else invalid_message(error)) from error


def written_version(model: type[Record], schema: bytes) -> Version:
    """The version that a header names. Raises InvalidMessage for another model, and for what is no such header."""
    found = _TAG.fullmatch(schema)
    if found is None or found[1] != model.__name__.encode():
        text = schema[:80].decode("utf-8", "replace")
        raise InvalidMessage(
            "unknown_schema", f"header {HEADER}: {text!r} is not a {model.__name__}/…; see who sends it"
        )
    version = Version(int(found[2]), int(found[3] or 0))
    if version.major < OLDEST_MAJOR:
        detail = f"header {HEADER}: {_tag(model, version)} is older than {OLDEST_MAJOR}.0, the oldest that is read"
        raise InvalidMessage("unknown_schema", f"{detail}; read it with the version of groundwatch before this one")
    return version


def _tag(model: type[Record], version: Version) -> str:
    return f"{model.__name__}/{version.major}.{version.minor}"


def _too_new(model: type[Record], written: Version) -> SchemaTooNew:
    return SchemaTooNew(
        f"header {HEADER}: {_tag(model, written)} comes from a newer groundwatch, this one reads up to "
        f"{_tag(model, VERSION)}; upgrade this worker, its messages wait"
    )


def invalid_message(error: ValidationError) -> InvalidMessage:
    """The first fault of a validation error as an InvalidMessage; never repeats the input's text.

    ``not_json``, ``too_deep`` (more than some 200 levels), ``missing_field``, ``too_large`` (a list) or ``wrong_type``.
    """
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"]) or "(message)"
    reason = _REASONS.get(first["type"], "wrong_type")
    if reason == "not_json" and "recursion limit" in first["msg"]:
        reason = "too_deep"
    return InvalidMessage(reason, f"{field}: {first['msg']}")
