"""Engine errors to ours: what the content causes is RowRejected, everything else passes by itself or by a person.

Unknown codes count as unavailable: waiting too long is seen and mended, a row thrown away is not.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from clickhouse_connect.driver.exceptions import ClickHouseError, DataError, Error

from schemas.errors import RowRejected, StoreUnavailable

_CONTENT = frozenset(
    {
        "VIOLATED_CONSTRAINT",
        "CANNOT_PARSE_TEXT",
        "CANNOT_PARSE_NUMBER",
        "CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN",
        "INCORRECT_DATA",
        "ARGUMENT_OUT_OF_BOUND",
        "DECIMAL_OVERFLOW",
        "VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE",
        "TOO_LARGE_STRING_SIZE",
        "TOO_LARGE_ARRAY_SIZE",
    }
)
_LOOK = "check that the server runs and that store.dsn names it; its log says more"
_HINTS = {
    "UNKNOWN_TABLE": "run `groundwatch migrate`",
    "UNKNOWN_DATABASE": "run `groundwatch migrate`",
    "NO_SUCH_COLUMN_IN_TABLE": "run `groundwatch migrate`",
    "UNKNOWN_IDENTIFIER": "run `groundwatch migrate`",
    "NOT_ENOUGH_SPACE": "free disk space; writing goes on by itself",
    "MEMORY_LIMIT_EXCEEDED": "narrow the time range, or raise the store's memory limit",
    "TIMEOUT_EXCEEDED": "narrow the time range",
    "READONLY": "the store's user may only read",
    "AUTHENTICATION_FAILED": "check user and password of the store's address",
}


@contextmanager
def mapped(doing: str) -> Iterator[None]:
    """Raises RowRejected or StoreUnavailable in place of engine and network errors inside the block.

    Texts name ``doing`` and the engine's error name, never values: engine messages may quote a user's text.
    """
    try:
        yield
    except ClickHouseError as error:
        raise _translated(doing, error) from error
    except OSError as error:
        raise StoreUnavailable(
            f"{doing}: {error.strerror or type(error).__name__}; check the disk, or the way to the server"
        ) from error


@contextmanager
def fitting(doing: str) -> Iterator[None]:
    """Raises RowRejected in place of what the client raises for a value that its column cannot hold."""
    try:
        yield
    except (UnicodeError, OverflowError, TypeError, ValueError) as error:
        raise RowRejected(f"{doing}: a value does not fit its column ({type(error).__name__})") from error


def _translated(doing: str, error: ClickHouseError) -> RowRejected | StoreUnavailable:
    name = (error.name if isinstance(error, Error) else None) or ""
    if name in _CONTENT or isinstance(error, DataError):
        return RowRejected(f"{doing}: the store refuses a row ({name or type(error).__name__})")
    hint = _HINTS.get(name)
    text = f"{doing}: the store cannot do it now ({name or type(error).__name__})"
    return StoreUnavailable(f"{text}; {hint or _LOOK}")
