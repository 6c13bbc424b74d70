"""How far ingest is and what it has fixed: trace heads, watermarks, traces that came too late to be stored."""

from collections.abc import Sequence
from datetime import date, timedelta

from streams.store.connection import Connection, Table
from streams.store.records import ExpiredCount, TraceHead, Watermark
from streams.store.values import clean, from_micros, micros

_TIME = "DateTime64(6, 'UTC')"
_WORD = "LowCardinality(String)"
_HEADS = Table(
    "trace_heads",
    (
        ("trace_id", "String"),
        ("ts", _TIME),
        ("content_hash", "String"),
        ("stratum", _WORD),
        ("inclusion_probability", "Float64"),
        ("policy_id", _WORD),
        ("revision", "UInt32"),
        ("source_topic", _WORD),
        ("source_partition", "Int64"),
        ("source_offset", "Int64"),
    ),
)
_EXPIRED = Table("expired", (("ts", _TIME), ("trace_id", "String"), ("intent", _WORD), ("tier", _WORD)))
_WATERMARKS = Table(
    "watermarks",
    (
        ("topic", "String"),
        ("partition", "Int64"),
        ("event_time", _TIME),
        ("is_idle", "Bool"),
        ("next_offset", "Int64"),
        ("written_at", _TIME),
    ),
)
_PER_READ = 2_000
_EPOCH_DAY = date(1970, 1, 1)

_READ_HEADS = """
SELECT trace_id, ts, content_hash, stratum, inclusion_probability, policy_id, revision,
  source_topic, source_partition, source_offset
FROM trace_heads FINAL
WHERE trace_id IN (SELECT arrayJoin({ids:Array(String)}))
"""
_READ_WATERMARKS = """
SELECT topic, partition, event_time, is_idle, next_offset, written_at AS at
FROM watermarks FINAL ORDER BY topic, partition
"""
_READ_EXPIRED = """
SELECT toInt32(toDate32(ts)) AS day, count() AS traces FROM expired FINAL GROUP BY day ORDER BY day
"""


def insert_heads(connection: Connection, rows: Sequence[TraceHead]) -> None:
    """Store heads; the largest revision of a trace counts."""
    connection.insert(
        _HEADS,
        [
            (
                clean(row.trace_id),
                micros(row.ts),
                clean(row.content_hash),
                clean(row.stratum),
                row.inclusion_probability,
                clean(row.policy_id),
                row.revision,
                clean(row.source_topic),
                row.source_partition,
                row.source_offset,
            )
            for row in rows
        ],
    )


def read_heads(connection: Connection, trace_ids: Sequence[str]) -> dict[str, TraceHead]:
    """The heads of those traces that have one."""
    wanted = sorted({clean(trace_id) for trace_id in trace_ids})
    heads: dict[str, TraceHead] = {}
    for start in range(0, len(wanted), _PER_READ):
        rows = connection.query(_READ_HEADS, {"ids": wanted[start : start + _PER_READ]})
        heads.update((row["trace_id"], TraceHead(**{**row, "ts": from_micros(row["ts"])})) for row in rows)
    return heads


def insert_watermarks(connection: Connection, rows: Sequence[Watermark]) -> None:
    """Store watermarks; of each partition the one with the latest ``at`` counts."""
    connection.insert(
        _WATERMARKS,
        [
            (clean(row.topic), row.partition, micros(row.event_time), row.is_idle, row.next_offset, micros(row.at))
            for row in rows
        ],
    )


def read_watermarks(connection: Connection) -> list[Watermark]:
    """The newest watermark of every partition."""
    times = ("event_time", "at")
    rows = connection.query(_READ_WATERMARKS)
    return [Watermark(**{**row, **{name: from_micros(row[name]) for name in times}}) for row in rows]


def insert_expired(connection: Connection, rows: Sequence[ExpiredCount]) -> None:
    """Count traces older than retention; the same trace counts once."""
    connection.insert(
        _EXPIRED, [(micros(row.ts), clean(row.trace_id), clean(row.intent), row.tier.value) for row in rows]
    )


def read_expired(connection: Connection) -> dict[date, int]:
    """Distinct expired traces by day of their event time (UTC)."""
    rows = connection.query(_READ_EXPIRED)
    return {_EPOCH_DAY + timedelta(days=row["day"]): row["traces"] for row in rows}
