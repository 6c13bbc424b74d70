"""The native trace format: one JSON object a message, described in docs/native-format.md.

The strict parser comes first and is all that a good message costs; only what it refuses is looked at again.
"""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from unicodedata import category

from pydantic import ValidationError

from schemas.codec import invalid_message
from schemas.errors import InvalidMessage
from schemas.trace import MAX_NAME_CHARS, Source, Trace
from streams.messages import Message
from streams.sources.encoding import has_bom, looks_like, to_text
from streams.sources.repair import repair

DECODER = "native_json"
CLOCK_TOLERANCE = timedelta(minutes=5)
MAX_FLAGS = 32
MAX_FLAG_CHARS = 64
_FIRST_RECORD_TIME = datetime(2000, 1, 1, tzinfo=UTC)
"""A record time before this one is none: producers that set no time send 0 or −1."""
_MOST_CONTAINERS = 200_000
"""Objects and arrays in a message that is worth a second look; more would cost seconds and a gigabyte."""
_FIXES = {
    "ts": "send the time with an offset, as in 2026-03-10T12:00:00Z",
    "trace_id": "send a text of 1 to 256 characters, unique per answer",
    "tier": "send low, medium or high",
    "passages": "send a list of objects, each with a text; docs/native-format.md",
}
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_UNSHOWN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"
"""Control characters that several scripts need to be read."""


def decode_native(message: Message) -> Trace:
    """The trace in ``message``, with its position and a checked event time; flags name what was put right.

    A time more than five minutes ahead of the broker's record time is a wrong clock: the record time is used and the
    trace is flagged. Raises InvalidMessage (tombstone, not_json, not_utf8, too_deep, too_large, wrong_type,
    missing_field), naming the field. 16 MB of anything take well under a second.
    """
    trace, flags = _parse(message.value)
    source = Source(
        topic=message.topic, partition=message.partition, offset=message.offset, recorded_at=message.recorded_at
    )
    ts, clock = _checked_time(trace.ts, message.recorded_at)
    names, dropped = _checked_names(trace)
    own, cut = _own_flags(trace.flags)
    return trace.model_copy(
        update={
            **names,
            "source": source,
            "ts": ts,
            "decoder": DECODER,
            "close_reason": "whole",
            "late_spans": 0,
            "revision": 1,
            "flags": tuple(dict.fromkeys((*own, *flags, *clock, *dropped, *cut))),
        }
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


def _checked_time(ts: datetime, recorded_at: datetime) -> tuple[datetime, tuple[str, ...]]:
    if recorded_at >= _FIRST_RECORD_TIME and ts > recorded_at + CLOCK_TOLERANCE:
        return recorded_at, ("clock_ahead",)
    return ts, ()


def _checked_names(trace: Trace) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Names that no page could show: the intent becomes ``unmapped``, versions, locale and region are left out."""
    update: dict[str, Any] = {}
    if not trace.intent.strip() or not is_name(trace.intent):
        update["intent"] = "unmapped"
    update |= {field: "" for field in ("locale", "region") if not is_name(getattr(trace, field))}
    versions = {field: "" for field, version in trace.versions if not is_name(version)}
    if versions:
        update["versions"] = trace.versions.model_copy(update=versions)
    return update, ("name_dropped",) if update else ()


def is_name(text: str) -> bool:
    """True for at most 256 characters without control and direction characters."""
    if len(text) > MAX_NAME_CHARS:
        return False
    return text.isprintable() or all(char in _JOINERS or category(char) not in _UNSHOWN for char in text)


def _own_flags(flags: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    kept = tuple(flag for flag in flags[:MAX_FLAGS] if len(flag) <= MAX_FLAG_CHARS and is_name(flag))
    return kept, ("flags_dropped",) if len(kept) < len(flags) else ()
