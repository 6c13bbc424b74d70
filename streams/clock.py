"""The wall clock: the only place that reads it, so that everything else takes ``now`` as an argument."""

from datetime import UTC, datetime


def utc_now() -> datetime:
    """The current time, aware, UTC."""
    return datetime.now(UTC)
