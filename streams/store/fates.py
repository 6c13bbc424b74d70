"""What became of source messages, and of traces that are not stored; counted by position and id, so never twice."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from streams.store import queries
from streams.store.connection import LONGEST_SECONDS, Connection, Table
from streams.store.records import MessageFate, SourceFate, UnstoredTrace
from streams.store.reports import FateCounts, TraceStates
from streams.store.values import clean, from_micros, micros, optional_micros

_WORD = "LowCardinality(String)"
_FATES = Table(
    "message_fates",
    (
        ("topic", _WORD),
        ("partition", "Int64"),
        ("offset", "Int64"),
        ("recorded_at", "DateTime64(3, 'UTC')"),
        ("handled_at", "DateTime64(6, 'UTC')"),
        ("fate", _WORD),
        ("stored", "UInt32"),
        ("duplicates", "UInt32"),
        ("expired", "UInt32"),
        ("refused", "UInt32"),
        ("spans", "UInt32"),
        ("oldest_ts", "Nullable(DateTime64(6, 'UTC'))"),
    ),
)
_UNSTORED = Table(
    "unstored_traces",
    (("topic", _WORD), ("trace_id", "String"), ("fate", _WORD), ("closed_at", "DateTime64(6, 'UTC')")),
)
_LATEST = datetime(2299, 12, 31, tzinfo=UTC)
"""The last day that the column can hold; a producer may set a record time beyond it."""
_DAY = timedelta(days=1)
Partition = tuple[str, int]


class Stretch(NamedTuple):
    """Offsets [first, end) of one partition."""

    topic: str
    partition: int
    first: int
    end: int


# Without FINAL: which partitions there are, and the first place, are the same with rows that were replaced.
_STARTS = """
SELECT topic, partition, min(offset) AS first FROM message_fates
WHERE recorded_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
GROUP BY topic, partition ORDER BY topic, partition
"""
_COUNTS = """
SELECT fate, count() AS messages, sum(m.stored) AS stored, sum(m.duplicates) AS duplicates, sum(m.expired) AS expired,
  sum(m.refused) AS refused, sum(m.spans) AS spans,
  sumIf(m.stored, oldest_ts >= fromUnixTimestamp64Micro({kept:Int64}, 'UTC')
    AND recorded_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')) AS kept
FROM message_fates AS m FINAL
WHERE topic = {topic:String} AND partition = {partition:Int64} AND offset >= {first:Int64} AND offset < {end:Int64}
GROUP BY fate ORDER BY fate
"""
_GAPS = """
SELECT before + 1 AS first, offset - 1 AS last FROM (
  SELECT offset, lagInFrame(offset, 1, {first:Int64} - 1) OVER (
    ORDER BY offset ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS before
  FROM (
    SELECT DISTINCT offset FROM message_fates
    WHERE topic = {topic:String} AND partition = {partition:Int64} AND offset >= {first:Int64} AND offset < {end:Int64}
    UNION ALL SELECT {end:Int64}
  )
)
WHERE offset - before > 1 ORDER BY first LIMIT {limit:UInt32}
"""
_SKIP = """
INSERT INTO message_fates (topic, partition, offset, recorded_at, handled_at, fate)
SELECT {topic:String}, {partition:Int64}, number, fromUnixTimestamp64Micro({at:Int64}, 'UTC'),
  fromUnixTimestamp64Micro({at:Int64}, 'UTC'), {fate:String}
FROM numbers({first:UInt64}, {count:UInt64})
WHERE number NOT IN (
  SELECT toUInt64(offset) FROM message_fates FINAL
  WHERE topic = {topic:String} AND partition = {partition:Int64} AND offset >= {first:Int64} AND offset < {end:Int64}
    AND fate != {bad:String}
)
"""
_DAYS = """
SELECT toUnixTimestamp64Micro(min(ts)) AS first, toUnixTimestamp64Micro(max(ts)) AS last, count() AS traces FROM traces
WHERE source_recorded_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
"""


class Fates:
    """Writes and reads of one client; every method may raise StoreUnavailable, writes also RowRejected."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def insert(self, rows: Sequence[MessageFate], handled_at: datetime) -> None:
        """Store what became of messages; of a position the row with the latest ``handled_at`` counts."""
        self._connection.insert(_FATES, [_row(row, handled_at) for row in rows])

    def insert_unstored(self, rows: Sequence[UnstoredTrace], closed_at: datetime) -> None:
        """Store which traces of spans closed without being stored; a trace counts once."""
        at = micros(closed_at)
        self._connection.insert(_UNSTORED, [(clean(row.topic), clean(row.trace_id), row.fate, at) for row in rows])

    def skip(self, stretch: Stretch, at: datetime) -> None:
        """Put down that a person skipped these offsets, but for those that were handled before.

        A dead letter of which only the row is there is skipped: at the ceiling rows are written and no letters.
        """
        asked = {**stretch._asdict(), "topic": clean(stretch.topic), "count": max(0, stretch.end - stretch.first)}
        more = {"at": micros(at), "fate": SourceFate.SKIPPED.value, "bad": SourceFate.DEAD_LETTER.value}
        self._connection.command(_SKIP, {**asked, **more}, max_seconds=LONGEST_SECONDS)

    def starts(self, since: datetime) -> dict[Partition, int]:
        """By topic and partition the first offset among messages recorded since a moment."""
        return {(row["topic"], row["partition"]): row["first"] for row in self._query(_STARTS, since=_ms(since))}

    def counts(self, stretch: Stretch, *, since: datetime, kept_since: datetime) -> dict[SourceFate, FateCounts]:
        """Messages of a stretch by what became of them.

        ``kept`` counts stored traces from ``kept_since`` on whose message was recorded from ``since`` on.
        """
        rows = self._query(_COUNTS, **stretch._asdict(), since=_ms(since), kept=micros(kept_since))
        return {SourceFate(row.pop("fate")): FateCounts(**row) for row in rows}

    def gaps(self, stretch: Stretch, *, limit: int) -> list[tuple[int, int]]:
        """Pieces (first, last) of a stretch of which nothing is known, in order, at most ``limit``."""
        return [(row["first"], row["last"]) for row in self._query(_GAPS, **stretch._asdict(), limit=limit)]

    def states(self, since: datetime, *, kept_since: datetime) -> dict[str, TraceStates]:
        """By source topic the traces of messages recorded since a moment, with their draws and what became of these.

        ``kept`` counts those with event time from ``kept_since`` on. Read by days of event time, so that memory is
        bounded by a day's draws; some seconds for millions.
        """
        span = self._query(_DAYS, since=_ms(since))[0]
        found: dict[str, TraceStates] = {}
        first, last = from_micros(span["first"]), from_micros(span["last"])
        while span["traces"] and first <= last:
            window = {"first": micros(first), "end": micros(first + _DAY), "kept": micros(kept_since)}
            for row in self._query(queries.load("coverage_traces"), since=_ms(since), **window):
                topic = row.pop("topic")
                found[topic] = found.get(topic, TraceStates()).plus(TraceStates(**row))
            first += _DAY
        for row in self._query(queries.load("coverage_unstored"), since=_ms(since)):
            known = found.get(row["topic"], TraceStates())
            found[row["topic"]] = known.model_copy(update={row["fate"]: row["traces"]})
        return found

    def pending_ids(self, since: datetime, *, limit: int) -> set[str]:
        """Ids of drawn traces, of messages recorded since a moment, without a verdict on their newest revision."""
        rows = self._query(queries.load("coverage_pending"), since=_ms(since), limit=limit)
        return {row["trace_id"] for row in rows}

    def _query(self, sql: str, **asked: Any) -> list[dict[str, Any]]:
        return self._connection.query(sql, asked, max_seconds=LONGEST_SECONDS)


def _row(row: MessageFate, handled_at: datetime) -> tuple[Any, ...]:
    return (
        clean(row.topic),
        row.partition,
        row.offset,
        _ms(min(row.recorded_at, _LATEST)),
        micros(handled_at),
        row.fate.value,
        row.stored,
        row.duplicates,
        row.expired,
        row.refused,
        row.spans,
        optional_micros(row.oldest_ts),
    )


def _ms(moment: datetime) -> int:
    return micros(moment) // 1000
