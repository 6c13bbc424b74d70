"""The native trace format: one JSON object a message, described in docs/native-format.md.

The strict parser comes first and is all that a good message costs; only what it refuses is looked at again.
"""

import json
import re
from typing import Any

from pydantic import ValidationError

from schemas.codec import invalid_message
from schemas.errors import InvalidMessage
from schemas.trace import Source, Trace
from streams.messages import Message
from streams.sources.checked import checked, is_name
from streams.sources.encoding import has_bom, looks_like, to_text
from streams.sources.repair import repair

DECODER = "native_json"
MAX_FLAGS = 32
MAX_FLAG_CHARS = 64
_MOST_CONTAINERS = 200_000
"""Objects and arrays in a message that is worth a second look; more would cost seconds and a gigabyte."""
_FIXES = {
    "ts": "send the time with an offset, as in 2026-03-10T12:00:00Z",
    "trace_id": "send a text of 1 to 256 characters, unique per answer",
    "tier": "send low, medium or high",
    "passages": "send a list of objects, each with a text; docs/native-format.md",
}
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


def decode_native(message: Message) -> Trace:
    """The trace in ``message``, with its position and a checked event time; flags name what was put right.

    A time more than five minutes ahead of the broker's record time is a wrong clock: the record time is used and the
    trace is flagged. Raises InvalidMessage (tombstone, not_json, not_utf8, too_deep, too_large, wrong_type,
    missing_field), naming the field. 16 MB of anything take well under a second.
    """
    return _finished(*_parse(message.value), message)


def _finished(trace: Trace, flags: tuple[str, ...], message: Message) -> Trace:
    own, cut = _own_flags(trace.flags)
    update = {
        "source": source_of(message),
        "decoder": DECODER,
        "close_reason": "whole",
        "late_spans": 0,
        "revision": 1,
        "flags": tuple(dict.fromkeys((*own, *flags, *cut))),
    }
    return checked(trace.model_copy(update=update), message.recorded_at)


def source_of(message: Message) -> Source:
    """The position of a message."""
    return Source(
        topic=message.topic, partition=message.partition, offset=message.offset, recorded_at=message.recorded_at
    )


def _parse(value: bytes | None) -> tuple[Trace, tuple[str, ...]]:
    if value is None:
        raise InvalidMessage("tombstone", "the value is null; send one JSON object a trace")
    try:
        return Trace.model_validate_json(value, strict=True), ()
    except ValidationError as error:
        invalid = _with_fix(invalid_message(error))
    return _second_look(value, invalid)


def _second_look(value: bytes, invalid: InvalidMessage) -> tuple[Trace, tuple[str, ...]]:
    """Raises ``invalid``, or a better one, when nothing or not enough can be put right."""
    text = to_text(value)
    if invalid.reason == "not_json" and not _may_be_json(value, text):
        raise InvalidMessage(invalid.reason, f"{invalid.detail}{looks_like(value)}")
    if invalid.reason in {"too_deep", "too_large"} or value.count(b"{") + value.count(b"[") > _MOST_CONTAINERS:
        raise invalid
    found = _loads(text, invalid)
    if not isinstance(found, dict):
        raise invalid
    fields, flags = repair(found)
    if has_bom(value):
        flags = ("bom_removed", *flags)
    try:
        return Trace.model_validate_json(json.dumps(fields, ensure_ascii=False), strict=True), flags
    except ValidationError as error:
        raise _with_fix(invalid_message(error)) from error


def _with_fix(invalid: InvalidMessage) -> InvalidMessage:
    fix = _FIXES.get(invalid.detail.partition(":")[0])
    return InvalidMessage(invalid.reason, f"{invalid.detail}; {fix}") if fix else invalid


def _may_be_json(value: bytes, text: str) -> bool:
    """What the strict parser calls no JSON may be some after all: behind a mark, or with lone surrogates."""
    return has_bom(value) or not _is_encodable(text) or _SURROGATE_ESCAPE.search(value) is not None


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _loads(text: str, invalid: InvalidMessage) -> Any:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise InvalidMessage("too_deep", "(message): nested too deep; send at most 200 levels") from error
    except ValueError as error:
        raise invalid from error


def _own_flags(flags: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    kept = tuple(flag for flag in flags[:MAX_FLAGS] if len(flag) <= MAX_FLAG_CHARS and is_name(flag))
    return kept, ("flags_dropped",) if len(kept) < len(flags) else ()
