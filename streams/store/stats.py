"""Size, age and growth of the store, from the engine's own books and the rows themselves."""

from datetime import timedelta
from typing import Any

from streams.store.connection import LONGEST_SECONDS, Connection
from streams.store.reports import StoreStats, TableStats
from streams.store.values import from_micros

TIME_COLUMNS = {
    "traces": "ts",
    "verdicts": "ts",
    "trace_heads": "ts",
    "passages": "seen",
    "tallies_5m": "bucket",
    "tallies_1h": "bucket",
    "dirty": "bucket",
    "expired": "ts",
    "policy": "published_at",
    "alerts": "updated_at",
    "alert_actions": "at",
    "deploys": "at",
    "review_labels": "at",
    "kept_answers": "ts",
    "watermarks": "event_time",
    "spans": "stored_at",
    "suspects": "found_at",
    "message_fates": "recorded_at",
    "unstored_traces": "closed_at",
    "spend": "minute",
    "budget_shares": "hour",
    "judge_cache": "written_at",
}
"""What counts as the age of a row; a table that is not here has none."""
_DAY = timedelta(days=1)

_TABLES = """
SELECT name, toUInt32OrZero(extract(engine_full, 'toIntervalDay\\\\(([0-9]+)\\\\)')) AS days,
  rows, parts, disk_bytes, compressed_bytes, uncompressed_bytes
FROM system.tables LEFT JOIN (
  SELECT table, sum(parts.rows) AS rows, count() AS parts, sum(bytes_on_disk) AS disk_bytes,
    sum(data_compressed_bytes) AS compressed_bytes, sum(data_uncompressed_bytes) AS uncompressed_bytes
  FROM system.parts WHERE active AND database = currentDatabase() GROUP BY table
) AS sizes ON sizes.table = name
WHERE database = currentDatabase() AND engine LIKE '%MergeTree'
ORDER BY disk_bytes DESC, name
"""
_SPAN = """
SELECT toUnixTimestamp64Micro(toDateTime64(min({column:Identifier}), 6, 'UTC')) AS oldest,
  toUnixTimestamp64Micro(toDateTime64(max({column:Identifier}), 6, 'UTC')) AS newest
FROM {table:Identifier}
"""
_COUNTS = """
SELECT (SELECT count() FROM traces FINAL) AS traces, (SELECT count() FROM verdicts FINAL) AS verdicts,
  sum(length(`passages.hash`)) AS passages FROM traces FINAL
"""
_TEXTS = "SELECT count() AS texts FROM passages FINAL WHERE hash IN (SELECT arrayJoin(`passages.hash`) FROM traces)"
# The smallest counts: an insert fails as soon as one disk is full.
_FREE = "SELECT count() AS disks, min(free_space) AS free FROM system.disks WHERE NOT is_remote"


def read_stats(connection: Connection) -> StoreStats:
    """Counted now; some seconds for millions of traces. Raises StoreUnavailable."""
    tables = tuple(_table(connection, row) for row in connection.query(_TABLES))
    counts = connection.query(_COUNTS, max_seconds=LONGEST_SECONDS)[0]
    texts = connection.query(_TEXTS, max_seconds=LONGEST_SECONDS)[0]["texts"]
    disk = connection.query(_FREE)[0]
    return summarised(tables, counts, texts, disk["free"] if disk["disks"] else None)


def summarised(
    tables: tuple[TableStats, ...], counts: dict[str, Any], texts: int, free_bytes: int | None
) -> StoreStats:
    """The means that follow from sizes and counts."""
    traces, passages = counts["traces"], counts["passages"]
    total = sum(table.disk_bytes for table in tables)
    days = next((_days(table) for table in tables if table.name == "traces"), 0.0)
    per_day = total / max(days, 1.0) if traces else None
    return StoreStats(
        tables=tables,
        traces=traces,
        verdicts=counts["verdicts"],
        days=days,
        bytes_per_trace=total / traces if traces else None,
        traces_per_day=traces / max(days, 1.0) if traces else None,
        bytes_per_day=per_day,
        passages=passages,
        passage_texts=texts,
        deduplicated_share=1 - texts / passages if passages else None,
        free_bytes=free_bytes,
        days_until_full=free_bytes / per_day if free_bytes is not None and per_day else None,
    )


def _days(table: TableStats) -> float:
    return 0.0 if table.oldest is None or table.newest is None else (table.newest - table.oldest) / _DAY


def _table(connection: Connection, row: dict[str, Any]) -> TableStats:
    days = row.pop("days")
    column = TIME_COLUMNS.get(row["name"])
    if column is None or not row["rows"]:
        return TableStats(**row, keeps_days=days or None)
    span = connection.query(_SPAN, {"column": column, "table": row["name"]}, max_seconds=LONGEST_SECONDS)[0]
    return TableStats(
        **row, keeps_days=days or None, oldest=from_micros(span["oldest"]), newest=from_micros(span["newest"])
    )
