"""Python values to what the engine stores and back: text without lone surrogates, times as whole microseconds.

Times cross the boundary as integers in both directions, so no time zone of process, client or server can shift one.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def clean(text: str) -> str:
    """``text`` with each lone surrogate replaced by ``?``, the bytes that ``passage_hash`` hashes for it."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def cleaned(texts: Sequence[str]) -> list[str]:
    """Every text cleaned."""
    return list(texts) if all(map(str.isascii, texts)) else list(map(clean, texts))


def micros(moment: datetime) -> int:
    """Microseconds since 1970 of an aware datetime; exact for every year."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(value: int) -> datetime:
    """The UTC datetime of ``micros``."""
    return _EPOCH + timedelta(microseconds=value)


def optional_micros(moment: datetime | None) -> int | None:
    """``micros``, keeping None."""
    return None if moment is None else micros(moment)


def optional_time(value: int | None) -> datetime | None:
    """``from_micros``, keeping None."""
    return None if value is None else from_micros(value)


def seconds(moment: datetime) -> int:
    """Whole seconds since 1970, for bucket starts."""
    return micros(moment) // 1_000_000


def from_seconds(value: int) -> datetime:
    """The UTC datetime of ``seconds``."""
    return _EPOCH + timedelta(seconds=value)
