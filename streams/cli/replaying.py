"""Recorded lines to messages, and when each is due; pure, so that pace and stamps can be tested without a broker."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError

from schemas.base import UtcDatetime
from schemas.errors import ConfigError

KEEP_TIME_HEADER = "gw-keep-time"
"""Says that an old event time is meant: recorded data, not a wrong clock."""
_MOMENT: TypeAdapter[datetime] = TypeAdapter(UtcDatetime)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A line as far as it could be understood: ``fields`` is None when it is not a JSON object."""

    content: bytes
    fields: dict[str, Any] | None

    @property
    def ts(self) -> datetime | None:
        """The recorded event time; None when there is none to be read."""
        try:
            return _MOMENT.validate_python((self.fields or {}).get("ts"))
        except ValidationError:
            return None


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a replay changes: ``keeps_time`` leaves ``ts`` alone, ``id_suffix`` is added to each trace id."""

    keeps_time: bool = False
    id_suffix: str = ""


def understand(content: bytes) -> Recorded:
    """The line's JSON object; anything else is kept as bytes, since a replay also shows how bad input fares."""
    try:
        fields = json.loads(content)
    except (ValueError, RecursionError):
        return Recorded(content, None)
    return Recorded(content, fields if isinstance(fields, dict) else None)


def message(recorded: Recorded, stamp: Stamp, now: datetime) -> tuple[bytes | None, bytes]:
    """Key and value to send: key is the trace id, ``ts`` becomes ``now`` unless it is kept."""
    if recorded.fields is None:
        return None, recorded.content
    fields = dict(recorded.fields)
    if not stamp.keeps_time:
        fields["ts"] = now.isoformat()
    if stamp.id_suffix and isinstance(fields.get("trace_id"), str):
        fields["trace_id"] += stamp.id_suffix
    trace_id = fields.get("trace_id")
    key = trace_id.encode("utf-8", "replace") if isinstance(trace_id, str) else None
    is_changed = fields != recorded.fields
    return key, json.dumps(fields).encode() if is_changed else recorded.content


def headers(stamp: Stamp) -> list[tuple[str, bytes]]:
    """Message headers of the replay."""
    return [(KEEP_TIME_HEADER, b"1")] if stamp.keeps_time else []


def due_at_rate(lines: Iterable[Recorded], rate: float) -> Iterator[tuple[float, Recorded]]:
    """Seconds after the start at which each line is due at ``rate`` a second; 0 means at once."""
    for number, line in enumerate(lines):
        yield (number / rate if rate else 0.0), line


def due_as_recorded(lines: Iterable[Recorded], speed: float) -> Iterator[tuple[float, Recorded]]:
    """Due times by the recorded event times, ``speed`` times faster; lines out of order or without one go at once.

    Raises ConfigError when the first line has no event time: there is nothing to pace by.
    """
    first: datetime | None = None
    due = 0.0
    for line in lines:
        moment = line.ts
        first = first or moment
        if first is None:
            raise ConfigError("the first line has no readable `ts`, so there is no recorded pace; use --rate")
        if moment is not None:
            due = max(due, (moment - first).total_seconds() / speed)
        yield due, line
