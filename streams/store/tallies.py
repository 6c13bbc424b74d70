"""Tallies as the tests, pages and estimates read them: sums over cells, already free of duplicates."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from schemas.labels import Outcome, RiskTier
from schemas.tally import BUCKET, HISTOGRAM_BINS, Tally
from schemas.trace import Versions
from streams.store import queries
from streams.store.connection import LONGEST_SECONDS, Connection
from streams.store.values import from_seconds, seconds

_HOUR = timedelta(hours=1)
_PLAIN = sorted(Tally.model_fields.keys() - {"bucket", "tier", "versions", "policy_id", "histogram", "outcomes"})
_FINISHED = "SELECT max(generation) AS generation FROM rebuilds WHERE name = 'tallies'"
_CHANGED = """
SELECT DISTINCT toUInt32(bucket) AS start FROM tallies_5m
WHERE generation > {since:UInt64} AND generation <= {finished:UInt64} ORDER BY start
"""


def changed_buckets(connection: Connection, since_generation: int) -> tuple[list[datetime], int]:
    """Starts of buckets whose numbers changed after ``since_generation``, and the newest finished generation."""
    finished = connection.query(_FINISHED)[0]["generation"]
    if finished <= since_generation:
        return [], since_generation
    rows = connection.query(_CHANGED, {"since": since_generation, "finished": finished})
    return [from_seconds(row["start"]) for row in rows], finished


def read_tallies(
    connection: Connection, since: datetime, until: datetime, *, step: timedelta, by_version: bool
) -> list[Tally]:
    """Cells of [since, until) summed over ``step``, in order; raises ValueError unless it is a multiple of a bucket."""
    if step < BUCKET or step % BUCKET:
        message = f"step {step}: use a multiple of {BUCKET}"
        raise ValueError(message)
    name = "tallies_5m" if step % _HOUR else "tallies_1h"
    asked = {
        "since": max(0, seconds(since)),
        "until": max(0, seconds(until)),
        "step": step // timedelta(seconds=1),
        "by_version": by_version,
    }
    return [_tally(row) for row in connection.query(queries.load(name), asked, max_seconds=LONGEST_SECONDS)]


def _tally(row: Mapping[str, Any]) -> Tally:
    return Tally(
        bucket=from_seconds(row["start"]),
        tier=RiskTier(row["tier"]),
        versions=_versions(row["model"], row["prompt"], row["corpus"], row["retriever"], row["app"]),
        policy_id=row["policy"],
        histogram=_padded(row["histogram"], HISTOGRAM_BINS),
        outcomes=_padded(row["outcomes"], len(Outcome)),
        **{name: row[name] for name in _PLAIN},
    )


@lru_cache(maxsize=1024)
def _versions(model: str, prompt: str, corpus: str, retriever: str, app: str) -> Versions:
    return Versions(model=model, prompt=prompt, corpus=corpus, retriever=retriever, app=app)


def _padded(values: list[int], length: int) -> tuple[int, ...]:
    """Rows written before an outcome was added are shorter; rows of all traffic have none."""
    return (*values, *[0] * (length - len(values))) if values else ()
