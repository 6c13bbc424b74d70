"""How much is stored."""

from schemas.labels import Outcome
from streams.store.connection import Connection
from streams.store.records import StoreCounts
from streams.store.values import from_micros

_TRACES = """
SELECT count() AS traces, countIf(is_drawn) AS drawn, min(ts) AS first, max(ts) AS last FROM traces FINAL
"""
_VERDICTS = "SELECT outcome, count() AS verdicts FROM verdicts FINAL GROUP BY outcome"
_FIRING = """
SELECT count() AS firing FROM (
  SELECT alert_id FROM alerts GROUP BY alert_id HAVING argMax(state, rev) = 'firing')
"""
_GENERATION = "SELECT max(generation) AS generation FROM rebuilds WHERE name = 'tallies'"


def read_counts(connection: Connection) -> StoreCounts:
    """Counts over all that is stored, duplicates once."""
    traces = connection.query(_TRACES)[0]
    outcomes = {Outcome(row["outcome"]): row["verdicts"] for row in connection.query(_VERDICTS)}
    is_empty = not traces["traces"]
    return StoreCounts(
        traces=traces["traces"],
        drawn=traces["drawn"],
        verdicts=sum(outcomes.values()),
        outcomes=outcomes,
        first_ts=None if is_empty else from_micros(traces["first"]),
        last_ts=None if is_empty else from_micros(traces["last"]),
        alerts_firing=connection.query(_FIRING)[0]["firing"],
        generation=connection.query(_GENERATION)[0]["generation"],
    )
