"""Times in mapped documents: numbers since 1970 in any unit, ISO text with or without a zone, or the record's own."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from re import compile as compile_regex
from zoneinfo import ZoneInfo, available_timezones

from pydantic import TypeAdapter, ValidationError

from schemas.errors import ConfigError
from streams.sources.raw import Json
from streams.sources.times import event_time

RECORD = "record"
"""What an expression gives to say: the time of the broker's record."""
_OFFSET = compile_regex(r"([+-])([01][0-9]|2[0-3]):([0-5][0-9])")
_TIME: TypeAdapter[datetime] = TypeAdapter(datetime)

Zone = Callable[[datetime, datetime], datetime]
"""From a time without a zone and the record's time to a time in UTC."""


def zone_of(text: str) -> Zone:
    """How times without a zone are read: ``utc``, an offset such as ``+02:00``, an IANA name, or ``record``.

    With ``record`` they are not read at all: the record's time takes their place. Raises ConfigError.
    """
    if text == RECORD:
        return lambda _, recorded_at: recorded_at
    found = _tzinfo(text)
    if found is None:
        raise ConfigError(f"{text!r} is no time zone; write utc, +02:00, Europe/Berlin, or record")
    return lambda naive, _: naive.replace(tzinfo=found).astimezone(UTC)


def _tzinfo(text: str) -> tzinfo | None:
    if text.lower() == "utc":
        return UTC
    offset = _OFFSET.fullmatch(text)
    if offset:
        sign, hours, minutes = offset.groups()
        width = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(-width if sign == "-" else width)
    return ZoneInfo(text) if text in available_timezones() else None


def moment_of(value: Json, zone: Zone, recorded_at: datetime, flags: set[str]) -> datetime | None:
    """The time in UTC; None for null, false and empty text, and, flagged ``bad_time``, for what is no time."""
    if value is None or value is False or value == "":
        return None
    if value == RECORD:
        return recorded_at
    known, _ = event_time(value)
    if not isinstance(known, str):
        flags.add("bad_time")
        return None
    try:
        found = _TIME.validate_python(known)
        return zone(found, recorded_at) if found.tzinfo is None else found.astimezone(UTC)
    except (ValidationError, OverflowError, ValueError):
        flags.add("bad_time")
        return None
