"""Bytes of ``gw.*`` topics and back: JSON with a schema tag, so that a newer writer is recognised, never guessed."""

from typing import TypeVar

from pydantic import ValidationError

from schemas.base import Record
from schemas.errors import InvalidMessage

VERSION = 1
"""Raised only for a change that an older reader would misread; new fields with a default need none."""
HEADER = "gw-schema"
"""Kafka header that carries ``<ModelName>/<version>``."""

_REASONS = {"json_invalid": "not_json", "missing": "missing_field", "too_long": "too_large"}

R = TypeVar("R", bound=Record)


def schema_header(model: type[Record]) -> tuple[str, bytes]:
    """The header that names the model and version of an encoded message."""
    return HEADER, f"{model.__name__}/{VERSION}".encode()


def encode(record: Record) -> bytes:
    """UTF-8 JSON; lone surrogates were removed at decode, so this cannot fail on text."""
    return record.model_dump_json(exclude_none=True).encode()


def decode(model: type[R], value: bytes | None, schema: bytes | None = None) -> R:
    """The record in ``value``; ``schema`` is the header's value, None where a message carries none.

    Raises InvalidMessage (``unknown_schema``, ``tombstone`` or a reason of ``invalid_message``) naming the field.
    """
    _, expected = schema_header(model)
    if schema is not None and schema != expected:
        found = schema[:80].decode("utf-8", "replace")
        detail = f"header {HEADER}: {found!r} is not {expected.decode()!r}; run the same version on both sides"
        raise InvalidMessage("unknown_schema", detail)
    if value is None:
        raise InvalidMessage("tombstone", "the value is null; send a JSON object")
    try:
        return model.model_validate_json(value)
    except ValidationError as error:
        raise invalid_message(error) from error


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
