"""Times as strangers write them: one reading or none; whose clock is wrong is decided in ``native``.

A number is taken as seconds, milliseconds, microseconds or nanoseconds since 1970 where only one of them gives a date
from 2000 to 2100. A missing time zone is refused for the event time, which decides the bucket and the release that an
alert blames; a document's date without one is taken as UTC, where hours hardly matter.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import TypeAdapter, ValidationError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FROM = 946_684_800
"""2000-01-01 in seconds."""
_UNTIL = 4_102_444_800
"""2100-01-01 in seconds."""
_PER_SECOND = (1, 1_000, 1_000_000, 1_000_000_000)
_DIGITS = re.compile(r"[0-9]{9,19}")
_LEAP_SECOND = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}):60(?:\.[0-9]+)?(?=[Zz+-])")
_ANY_TIME: TypeAdapter[datetime] = TypeAdapter(datetime)


def event_time(value: Any) -> tuple[Any, str]:
    """The event time as the schema takes it and a flag; ``value`` itself and no flag where nothing can be put right."""
    moment = _from_number(value)
    if moment is not None:
        return moment.isoformat(), "epoch_time"
    if isinstance(value, str):
        text, leaps = _LEAP_SECOND.subn(r"\1:59.999999", value)
        return text, "leap_second" if leaps else ""
    return value, ""


def passage_time(value: Any) -> tuple[str | None, str]:
    """A document's time and a flag; None where it says nothing or cannot be read, since the trace is worth more."""
    if isinstance(value, str) and not value.strip():
        return None, "blank_as_missing"
    value, flag = event_time(value)
    try:
        if isinstance(value, bool):
            return None, "time_dropped"
        moment = _ANY_TIME.validate_python(value)
        if moment.tzinfo is None:
            return moment.replace(tzinfo=UTC).isoformat(), "utc_assumed"
        return moment.astimezone(UTC).isoformat(), flag
    except (ValidationError, OverflowError):
        return None, "time_dropped"


def _from_number(value: Any) -> datetime | None:
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    for per_second in _PER_SECOND:
        if _FROM * per_second <= value < _UNTIL * per_second:
            return _EPOCH + timedelta(microseconds=int(value * 1_000_000) // per_second)
    return None
