"""Stretches of time that a read is cut into, so that a large store costs no more memory than a small one."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from streams.store.connection import Connection
from streams.store.values import from_micros

_MICROSECOND = timedelta(microseconds=1)


def looking_back(
    connection: Connection,
    span_sql: str,
    since: datetime | None,
    until: datetime | None,
    look_back: Sequence[timedelta],
) -> Iterator[tuple[datetime, datetime]]:
    """Growing stretches [start, end) that end where the rows end, the last one whole; none when there are no rows.

    ``span_sql`` gives ``n``, ``first`` and ``last`` of the table; the stretches stay within [since, until).
    """
    span = connection.query(span_sql)[0]
    if not span["n"]:
        return
    first, last = from_micros(span["first"]), from_micros(span["last"]) + _MICROSECOND
    start = first if since is None else max(since, first)
    end = last if until is None else min(until, last)
    for window in look_back:
        if end - window > start:
            yield end - window, end
    if start < end:
        yield start, end
