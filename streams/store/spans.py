"""Spans of assembled traces, kept for some days: what a late span is merged with."""

from collections.abc import Sequence
from datetime import datetime

from schemas.span import Span
from streams.store.connection import Connection, Table
from streams.store.records import StoredSpan
from streams.store.values import clean, seconds

_SPANS = Table(
    "spans",
    (
        ("trace_id", "String"),
        ("span_id", "String"),
        ("content_hash", "String"),
        ("stored_at", "DateTime('UTC')"),
        ("is_first", "UInt8"),
        ("record", "String"),
    ),
)
_PER_READ = 500
_READ = """
SELECT trace_id, content_hash, max(is_first) AS first, any(record) AS text FROM spans
WHERE trace_id IN (SELECT arrayJoin({ids:Array(String)}))
GROUP BY trace_id, span_id, content_hash ORDER BY trace_id, span_id, content_hash
"""


def insert_spans(connection: Connection, rows: Sequence[StoredSpan], now: datetime) -> None:
    """Store copies of spans; the same copy twice is one."""
    connection.insert(
        _SPANS,
        [
            (
                clean(row.span.trace_id),
                clean(row.span.span_id),
                row.content_hash,
                seconds(now),
                int(not row.is_late),
                row.span.model_dump_json(exclude_defaults=True),
            )
            for row in rows
        ],
    )


def read_spans(connection: Connection, trace_ids: Sequence[str]) -> dict[str, list[StoredSpan]]:
    """The stored copies of those traces that have any, by trace id."""
    wanted = sorted({clean(trace_id) for trace_id in trace_ids})
    found: dict[str, list[StoredSpan]] = {}
    for start in range(0, len(wanted), _PER_READ):
        for row in connection.query(_READ, {"ids": wanted[start : start + _PER_READ]}):
            span = Span.model_validate_json(row["text"])
            stored = StoredSpan(span=span, content_hash=row["content_hash"], is_late=not row["first"])
            found.setdefault(row["trace_id"], []).append(stored)
    return found
