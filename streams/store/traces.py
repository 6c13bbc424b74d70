"""Traces and verdicts: written in batches, read by key; every read of them names the reader's tenants."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from schemas.draw import DrawnTrace
from schemas.tally import bucket_start
from schemas.verdict import Verdict
from streams.store.connection import LONGEST_SECONDS, Connection
from streams.store.passages import PassageWriter, read_texts
from streams.store.records import AllTenants, StoredTrace, Tenants
from streams.store.trace_columns import TRACES, batch_of, trace_columns
from streams.store.trace_rows import drawn_trace, passage_hashes
from streams.store.values import clean, from_micros, seconds
from streams.store.verdict_rows import VERDICTS, verdict_of, verdict_row

_PER_INSERT = 1_000
_PER_READ = 200
Key = tuple[datetime, str]
"""Event time and id: what identifies a trace in the store."""

_FIND = "SELECT ts FROM traces WHERE trace_id = {id:String} ORDER BY ts DESC LIMIT 1"
_TRACES = """
SELECT * FROM traces FINAL
WHERE (toStartOfFiveMinutes(ts), trace_id) IN (
    SELECT toDateTime(key.1, 'UTC'), key.2
    FROM (SELECT arrayJoin(arrayZip({buckets:Array(UInt32)}, {ids:Array(String)})) AS key))
  AND ({all:Bool} OR tenant IN (SELECT arrayJoin({tenants:Array(String)})))
"""
_VERDICTS = """
SELECT * FROM verdicts FINAL
WHERE (toStartOfFiveMinutes(ts), trace_id) IN (
    SELECT toDateTime(key.1, 'UTC'), key.2
    FROM (SELECT arrayJoin(arrayZip({buckets:Array(UInt32)}, {ids:Array(String)})) AS key))
ORDER BY verified_at DESC, fingerprint
"""
# Both sides without FINAL: a draw never changes, and the largest revision is the same before and after a merge.
_WAITING = """
SELECT trace_id, max(ts) AS ts FROM (
    SELECT trace_id, ts, revision AS stored, 0 AS judged FROM traces WHERE is_drawn
    UNION ALL
    SELECT trace_id, ts, 0 AS stored, revision AS judged FROM verdicts
)
GROUP BY trace_id HAVING max(stored) > max(judged)
ORDER BY ts, trace_id
LIMIT {limit:UInt32}
"""


def insert_traces(connection: Connection, passages: PassageWriter, rows: Sequence[DrawnTrace]) -> None:
    """Texts first, then the traces: no stored trace ever lacks a passage. Raises RowRejected, StoreUnavailable."""
    today = datetime.now(UTC).date()
    for start in range(0, len(rows), _PER_INSERT):
        batch = batch_of(rows[start : start + _PER_INSERT])
        passages.store(zip(chain(*batch.hashes), chain(*batch.texts), strict=True), today)
        connection.insert_columns(TRACES, trace_columns(batch))


def insert_verdicts(connection: Connection, rows: Sequence[Verdict]) -> None:
    """Store verdicts, each under its trace's ``ts``. Raises RowRejected, StoreUnavailable."""
    for start in range(0, len(rows), _PER_INSERT):
        connection.insert(VERDICTS, [verdict_row(row) for row in rows[start : start + _PER_INSERT]])


def read_traces(connection: Connection, keys: Sequence[Key], tenants: Tenants) -> dict[Key, DrawnTrace]:
    """The newest revision of each trace that the reader may see, by (ts, id)."""
    found: dict[Key, DrawnTrace] = {}
    for start in range(0, len(keys), _PER_READ):
        asked = {**key_parameters(keys[start : start + _PER_READ]), **tenant_parameters(tenants)}
        rows = connection.query(_TRACES, asked)
        texts = read_texts(connection, [digest for row in rows for digest in passage_hashes(row)])
        for row in rows:
            drawn = drawn_trace(row, texts)
            found[drawn.trace.ts, drawn.trace.trace_id] = drawn
    return found


def read_trace(connection: Connection, trace_id: str, tenants: Tenants, ts: datetime | None) -> StoredTrace | None:
    """One trace with its verdicts; a ``ts`` in the right bucket makes the read ten times faster, a wrong one costs."""
    wanted = clean(trace_id)
    for guess in _moments(connection, wanted, ts):
        seen = read_traces(connection, [(guess, wanted)], tenants)
        if seen:
            drawn = max(seen.values(), key=lambda one: one.trace.ts)
            verdicts = read_verdicts(connection, [(drawn.trace.ts, wanted)])
            return StoredTrace(drawn=drawn, verdicts=verdicts)
    return None


def read_verdicts(connection: Connection, keys: Sequence[Key]) -> list[Verdict]:
    """Every detector's verdict on these traces, newest first."""
    return [verdict_of(row) for row in connection.query(_VERDICTS, key_parameters(keys))] if keys else []


def read_waiting(connection: Connection, limit: int) -> list[DrawnTrace]:
    """Drawn traces without a verdict on their newest revision, oldest first."""
    rows = connection.query(_WAITING, {"limit": limit}, max_seconds=LONGEST_SECONDS)
    keys = [(from_micros(row["ts"]), row["trace_id"]) for row in rows]
    return sorted(
        read_traces(connection, keys, AllTenants.ALL).values(), key=lambda one: (one.trace.ts, one.trace.trace_id)
    )


def _moments(connection: Connection, trace_id: str, ts: datetime | None) -> Iterator[datetime]:
    if ts is not None:
        yield ts
    for row in connection.query(_FIND, {"id": trace_id}):
        yield from_micros(row["ts"])


def key_parameters(keys: Sequence[Key]) -> dict[str, Any]:
    """The parameters ``buckets`` and ``ids`` of statements that read by key."""
    return {"buckets": [seconds(bucket_start(ts)) for ts, _ in keys], "ids": [trace_id for _, trace_id in keys]}


def tenant_parameters(tenants: Tenants) -> dict[str, Any]:
    """The parameters ``all`` and ``tenants`` of statements that read traces."""
    if isinstance(tenants, AllTenants):
        return {"all": True, "tenants": []}
    return {"all": False, "tenants": sorted(clean(name) for name in tenants)}
