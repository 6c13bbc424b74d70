"""Values of Jaeger's JSON forms: tags, times and durations; what cannot be read is None and flagged."""

import re
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from pydantic import TypeAdapter, ValidationError

from streams.sources.envelopes.otlp_json_values import double, integer
from streams.sources.envelopes.otlp_values import MAX_ITEMS, bytes_from_base64, time_from_nanoseconds
from streams.sources.raw import Json

_TIME: TypeAdapter[datetime] = TypeAdapter(datetime)
_DURATION = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,9}))?s")
_TYPES = ("STRING", "BOOL", "INT64", "FLOAT64", "BINARY")


def tags_of(tags: Any, flags: set[str]) -> dict[str, Json]:
    """Tags as a map. The Kafka form leaves out the type of text, and a value that is the default of its type."""
    found: dict[str, Json] = {}
    tags = tags if isinstance(tags, list) else []
    if len(tags) > MAX_ITEMS:
        flags.add("cut_values")
    for tag in islice(tags, MAX_ITEMS):
        if isinstance(tag, dict) and isinstance(tag.get("key"), str):
            found[tag["key"]] = _value(tag, flags)
    return found


def time_of(value: Any, flags: set[str]) -> datetime | None:
    """A time as RFC 3339 text, or as microseconds since 1970."""
    if value is None:
        return None
    if isinstance(value, str):
        try:
            moment = _TIME.validate_python(value)
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        except (ValidationError, OverflowError):
            flags.add("bad_time")
            return None
    microseconds = integer(value, flags)
    return None if microseconds is None else time_from_nanoseconds(microseconds * 1000, flags)


def duration_of(start: datetime | None, duration: Any, flags: set[str]) -> datetime | None:
    """The end of what began at ``start``: a duration is text in seconds, or a number of microseconds; none is zero."""
    if start is None:
        return None
    microseconds = _microseconds(duration)
    try:
        if microseconds is not None and microseconds >= 0:
            return start + timedelta(microseconds=microseconds)
    except OverflowError:
        pass
    flags.add("bad_time")
    return None


def _microseconds(duration: Any) -> int | None:
    if isinstance(duration, str) and (match := _DURATION.fullmatch(duration)):
        seconds, fraction = match.groups(default="")
        return int(seconds) * 1_000_000 + int(fraction.ljust(9, "0")) // 1000
    return 0 if duration is None else integer(duration, set())


def _value(tag: dict[str, Any], flags: set[str]) -> Json:
    if "value" in tag:
        kind, content = str(tag.get("type", "")).upper(), tag["value"]
    else:
        kind = tag.get("vType", "STRING")
        kind = _TYPES[kind] if isinstance(kind, int) and 0 <= kind < len(_TYPES) else str(kind)
        content = tag.get(_FIELDS.get(kind, ""), _DEFAULTS.get(kind))
    read = _READERS.get(kind)
    return None if read is None else read(content, flags)


def _string(content: Any, _flags: set[str]) -> str | None:
    return content if isinstance(content, str) else None


def _bool(content: Any, _flags: set[str]) -> bool | None:
    return {"true": True, "false": False}.get(content) if isinstance(content, str) else bool(content)


def _double(content: Any, _flags: set[str]) -> float | None:
    return double(content)


def _binary(content: Any, _flags: set[str]) -> str | None:
    raw = bytes_from_base64(content) if isinstance(content, str) else None
    return None if raw is None else b64encode(raw).decode("ascii")


_READERS: dict[str, Callable[[Any, set[str]], Json]] = dict(
    zip(_TYPES, (_string, _bool, integer, _double, _binary), strict=True)
)
_FIELDS = dict(zip(_TYPES, ("vStr", "vBool", "vInt64", "vFloat64", "vBinary"), strict=True))
_DEFAULTS = dict(zip(_TYPES, ("", False, 0, 0.0, ""), strict=True))
