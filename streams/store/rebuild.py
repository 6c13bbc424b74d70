"""The tally job: recomputes the buckets that got rows, so that duplicates, late rows and redone verdicts count once.

Every bucket noted within the overlap before the last finished run is looked at again, because an insert that was
running then was not yet visible; those that hold what they held then are left alone. All times here are the engine's
own clock, except the horizon; it may be set back.
"""

import threading
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from time import monotonic

from schemas.labels import FailureLabel, Outcome
from streams.store import queries
from streams.store.connection import LONGEST_SECONDS, Connection, Table
from streams.store.records import RebuildReport
from streams.store.values import micros

MOST_VERSIONS = 20
"""Version tuples kept apart per intent and hour; the rest count as ``other``."""
CITATION_FAILURES = (
    FailureLabel.CITATION_MISSING,
    FailureLabel.CITATION_UNKNOWN,
    FailureLabel.CITATION_MISMATCH,
)
_OVERLAP_MS = 120_000
_SET_BACK_MS = 86_400_000
"""How far back a process looks that finds the engine's clock behind the last run, and does not know by how much."""
_HOUR_SECONDS = 3600
_ROWS_AT_ONCE = 200_000
"""Raw rows a statement reads at most, so that a replayed past needs no more memory than a day."""
_NAME = "tallies"
_REBUILDS = Table("rebuilds", (("name", "LowCardinality(String)"), ("generation", "UInt64")))

_START = """
SELECT toUnixTimestamp64Milli(now64(3, 'UTC')) AS now_ms,
  (SELECT max(generation) FROM rebuilds WHERE name = 'tallies') AS finished,
  (SELECT max(generation) FROM tallies_5m) AS written,
  toUInt32OrZero(extract(engine_full, 'toIntervalDay\\\\(([0-9]+)\\\\)')) AS days
FROM system.tables WHERE database = currentDatabase() AND name = 'traces'
"""
_DIRTY = """
WITH changed AS (
  SELECT bucket FROM dirty FINAL
  WHERE inserted_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND bucket >= toDateTime({horizon:UInt32}, 'UTC')
)
SELECT toUInt32(hour) AS hour, sum(is_bucket) AS buckets, sum(is_row) AS size FROM (
  SELECT toStartOfHour(bucket) AS hour, 1 AS is_bucket, 0 AS is_row FROM changed
  UNION ALL
  SELECT toStartOfHour(ts) AS hour, 0 AS is_bucket, 1 AS is_row FROM traces
  WHERE toStartOfFiveMinutes(ts) IN (SELECT bucket FROM changed)
)
GROUP BY hour ORDER BY hour
"""
# What a bucket holds, in short: when it was last noted, and its rows.
_HELD = """
WITH changed AS (
  SELECT bucket, inserted_at FROM dirty FINAL
  WHERE inserted_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') AND bucket >= toDateTime({horizon:UInt32}, 'UTC')
)
SELECT toUInt32(start) AS bucket, max(noted) AS noted, sum(size) AS size, groupBitXor(mix) AS mix FROM (
  SELECT bucket AS start, toUnixTimestamp64Milli(inserted_at) AS noted, 0 AS size, toUInt64(0) AS mix FROM changed
  UNION ALL
  SELECT toStartOfFiveMinutes(ts) AS start, 0 AS noted, count() AS size, groupBitXor(cityHash64(trace_id, revision,
    intent, tier, stratum, policy_id, is_drawn, inclusion_probability, u, is_empty_retrieval, screening_failures,
    model_version, prompt_version, corpus_version, retriever_version, app_version)) AS mix
  FROM traces FINAL WHERE toStartOfFiveMinutes(ts) IN (SELECT bucket FROM changed) GROUP BY start
  UNION ALL
  SELECT toStartOfFiveMinutes(ts) AS start, 0 AS noted, count() AS size,
    groupBitXor(cityHash64(trace_id, fingerprint, rev)) AS mix
  FROM verdicts FINAL WHERE toStartOfFiveMinutes(ts) IN (SELECT bucket FROM changed) GROUP BY start
)
GROUP BY start ORDER BY start
"""
# Hours where an intent has too many version tuples, now or when its tallies were last written.
_CROWDED = """
WITH buckets AS (
  SELECT DISTINCT toStartOfHour(bucket) + 300 * arrayJoin(range(12)) AS b FROM dirty FINAL
  WHERE inserted_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
    AND bucket >= toDateTime({first:UInt32}, 'UTC') AND bucket < toDateTime({end:UInt32}, 'UTC')
)
SELECT DISTINCT hour FROM (
  SELECT toUInt32(toStartOfHour(ts)) AS hour FROM traces FINAL
  WHERE toStartOfFiveMinutes(ts) IN (SELECT b FROM buckets)
  GROUP BY hour, intent
  HAVING uniqExact(model_version, prompt_version, corpus_version, retriever_version, app_version) > {most:UInt32}
  UNION ALL
  SELECT toUInt32(toStartOfHour(bucket)) AS hour FROM tallies_5m FINAL
  WHERE bucket IN (SELECT b FROM buckets)
    AND model_version = 'other' AND prompt_version = 'other' AND app_version = 'other' AND traffic > 0
)
ORDER BY hour
"""
_WRITTEN = "SELECT count() AS cells FROM tallies_5m WHERE generation = {generation:UInt64}"

_MARK = """
INSERT INTO dirty SELECT DISTINCT bucket, now64(3, 'UTC') FROM (
  SELECT toStartOfFiveMinutes(ts) AS bucket FROM traces
  UNION ALL SELECT toStartOfFiveMinutes(ts) FROM verdicts
  UNION ALL SELECT bucket FROM tallies_5m
)
WHERE bucket >= toDateTime({first:UInt32}, 'UTC') AND bucket < toDateTime({end:UInt32}, 'UTC')
"""
_MARKED = """
SELECT count() AS buckets FROM dirty FINAL
WHERE bucket >= toDateTime({first:UInt32}, 'UTC') AND bucket < toDateTime({end:UInt32}, 'UTC')
"""


def mark_for_rebuild(connection: Connection, since: datetime, until: datetime) -> int:
    """Have the job count every bucket of [since, until) again, and say how many; hours are taken whole."""
    first, last = micros(since) // 1_000_000, -(-micros(until) // 1_000_000)
    whole = {"first": max(0, first // _HOUR_SECONDS * _HOUR_SECONDS), "end": -(-last // _HOUR_SECONDS) * _HOUR_SECONDS}
    connection.command(_MARK, whole, max_seconds=LONGEST_SECONDS)
    return int(connection.query(_MARKED, whole)[0]["buckets"])


Held = tuple[int, int, int]


class Rebuilder:
    """The job's state between runs is in the store, so a restart or another host goes on where the last one ended."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._ran_at_ms: int | None = None
        self._finished: int | None = None
        self._held: dict[int, Held] = {}
        """What the buckets held that the last run saw, which made generation ``_finished``."""

    def rebuild(self, now: datetime) -> RebuildReport:
        """One run; ``now`` (event time) bounds how old a bucket may be, since raw rows of older ones may be dropped."""
        with self._lock:
            started = monotonic()
            start = self._connection.query(_START)[0]
            generation = max(start["now_ms"], start["finished"] + 1, start["written"] + 1)
            # Raw rows live `days`; a ninth of it is kept as margin.
            horizon = now - timedelta(days=start["days"]) * 8 / 9
            since = noted_since(start["now_ms"], start["finished"], self._ran_at_ms)
            asked = {"since": since, "horizon": max(0, micros(horizon) // 1_000_000)}
            held = self._read_held(asked)
            before = self._held if self._finished == start["finished"] else {}  # else somebody else ran since
            news = {bucket for bucket, what in held.items() if before.get(bucket) != what}
            hours = {bucket // _HOUR_SECONDS * _HOUR_SECONDS for bucket in news}
            every = self._connection.query(_DIRTY, asked, max_seconds=LONGEST_SECONDS) if news else []
            dirty = [row for row in every if row["hour"] in hours]
            for first, end in spans([(row["hour"], row["size"]) for row in dirty], _ROWS_AT_ONCE):
                self._rebuild({"since": since, "first": first, "end": end, "generation": generation})
            # Last: a run that was cut off leaves no mark, and all of it is done again.
            self._connection.insert(_REBUILDS, [(_NAME, generation)])
            self._held, self._finished, self._ran_at_ms = held, generation, start["now_ms"]
            cells = self._connection.query(_WRITTEN, {"generation": generation})[0]["cells"]
        return RebuildReport(
            generation=generation,
            buckets=len(news),
            cells=cells,
            took_seconds=monotonic() - started,
        )

    def _read_held(self, asked: Mapping[str, int]) -> dict[int, Held]:
        rows = self._connection.query(_HELD, asked, max_seconds=LONGEST_SECONDS)
        return {row["bucket"]: (row["noted"], row["size"], row["mix"]) for row in rows}

    def _rebuild(self, span: Mapping[str, int]) -> None:
        found = self._connection.query(_CROWDED, {**span, "most": MOST_VERSIONS}, max_seconds=LONGEST_SECONDS)
        words = {
            "crowded": [row["hour"] for row in found],
            "most": MOST_VERSIONS,
            "citations": [label.value for label in CITATION_FAILURES],
            "outcomes": [outcome.value for outcome in Outcome],
        }
        self._connection.command(queries.load("rebuild_5m"), {**span, **words}, max_seconds=LONGEST_SECONDS)
        self._connection.command(queries.load("rebuild_1h"), span, max_seconds=LONGEST_SECONDS)


def noted_since(now_ms: int, finished_ms: int, ran_at_ms: int | None) -> int:
    """From when on notes count, all by the engine's clock in milliseconds.

    ``finished_ms`` is the newest generation: the time of the last run, or more when the clock was set back since. Then
    ``ran_at_ms``, what this process saw at its last run, tells where to go on; None (a new process) means a whole day.
    """
    if now_ms >= finished_ms:
        return max(0, finished_ms - _OVERLAP_MS)
    known = now_ms - _SET_BACK_MS if ran_at_ms is None else min(ran_at_ms, now_ms)
    return max(0, known - _OVERLAP_MS)


def spans(hours: Sequence[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """Time ranges [first, end) that cover the used hours (start, rows) in order, each of at most ``most`` rows.

    An hour is never split; one with more rows has a range of its own.
    """
    found: list[tuple[int, int]] = []
    filled = 0
    for start, size in hours:
        if not found or filled + size > most:
            found.append((start, start))
            filled = 0
        found[-1] = (found[-1][0], start + _HOUR_SECONDS)
        filled += size
    return found
