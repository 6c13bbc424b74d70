"""How long an endpoint that is too busy asks to be left alone."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite

_MILLISECONDS = 1000


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float:
    """What ``Retry-After`` (RFC 9110, section 10.2.3: seconds or a date) or ``retry-after-ms`` says; 0 for nothing.

    A header that cannot be read, or speaks of the past, says nothing. Names must be in lower case, or the mapping
    indifferent to it.

    >>> retry_after_seconds({"retry-after": "Tue, 10 Mar 2026 12:00:30 GMT"}, datetime(2026, 3, 10, 12, tzinfo=UTC))
    30.0
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds:
        return milliseconds / _MILLISECONDS
    said = headers.get("retry-after", "")
    return _number(said) or _until(said, now)


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return number if isfinite(number) and number > 0 else 0.0


def _until(text: str, now: datetime) -> float:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return 0.0
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - now).total_seconds())
