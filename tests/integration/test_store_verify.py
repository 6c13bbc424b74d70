"""Faults that only the engine's tables can have: each is made by hand, found, named, and nothing else is."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from schemas.labels import Outcome
from streams.store import CheckName, CheckProgress, CheckResult, Store, Verification
from streams.store.migrations import REPEATABLE, shipped
from streams.store.stats import TIME_COLUMNS
from tests.builders import NOW, drawn_trace, policy_record, verdict
from tests.chdb_path import RETENTION_DAYS, fresh_database, open_empty_store, open_store, shared_path

pytestmark = pytest.mark.integration
HOUR = timedelta(hours=1)
OWN_LOG = {CheckName.DRAWS_AGREE, CheckName.POLICIES_KNOWN}
"""The builders' draws are of no policy log; other tests look at them."""


@pytest.fixture
def store() -> Iterator[Store]:
    """Three judged traces, their tallies, and one that nobody judged."""
    opened = open_empty_store()
    opened.insert_policy([policy_record()])
    opened.insert_traces([drawn_trace(f"t-{n}", ts=NOW + n * HOUR) for n in range(4)])
    opened.insert_verdicts(
        [verdict(f"t-{n}", Outcome.HALLUCINATED, ts=NOW + n * HOUR, verified_at=NOW + n * HOUR) for n in range(3)]
    )
    opened.rebuild_tallies(NOW)
    yield opened
    opened.close()


def steps(store: Store, **fields: object) -> list[CheckProgress | CheckResult]:
    """All steps of a verification a day later."""
    wanted = {"now": NOW + 24 * HOUR, "second_look_seconds": 0.0, "limit": 2, **fields}
    return list(store.verify(Verification(**wanted)))  # type: ignore[arg-type]  # overrides of a test


def found(store: Store, **fields: object) -> dict[CheckName, CheckResult]:
    """The checks that found faults, but for draws."""
    results = {step.name: step for step in steps(store, **fields) if isinstance(step, CheckResult)}
    return {name: result for name, result in results.items() if result.faults and name not in OWN_LOG}


def run(store: Store, statement: str) -> None:
    """Meddle with the tables."""
    store._connection.command(statement)


def quiet(store: Store) -> None:
    """As if the last rows had come long ago."""
    run(store, "TRUNCATE TABLE dirty")


def test_a_store_is_sound_and_says_what_waits(store: Store) -> None:
    """A trace that was just drawn may wait; the note counts it."""
    assert {} == found(store)
    note = next(s.note for s in steps(store) if isinstance(s, CheckResult) and s.name is CheckName.DRAWS_JUDGED)
    assert "4 drawn = 3 with a verdict + 1 pending (t-3)" == note


def test_progress_comes_before_each_result(store: Store) -> None:
    """Whoever waits sees which check is at work, of how many stretches."""
    seen = [(step.name, type(step)) for step in steps(store)]
    progress = [name for name, kind in seen if kind is CheckProgress]
    assert {CheckName.TALLIES_5M, CheckName.DRAWS_AGREE, CheckName.LABELS} <= set(progress)
    assert all(seen.index((name, CheckProgress)) < seen.index((name, CheckResult)) for name in progress)


def test_a_drawn_trace_that_stays_without_verdict_is_stuck(store: Store) -> None:
    """When its bucket has been quiet for half an hour; the fix names the role."""
    quiet(store)
    stuck = found(store)[CheckName.DRAWS_JUDGED]
    assert (("t-3",), 1) == (stuck.examples, stuck.faults)
    assert "verify" in stuck.fix


@pytest.mark.parametrize(
    ("table", "name"), [("tallies_5m", CheckName.TALLIES_5M), ("tallies_1h", CheckName.TALLIES_1H)]
)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("drawn + 1 AS drawn", "drawn 2, should be 1"),
        ("pending + 1 AS pending", "pending"),
        ("[] AS outcomes", "hallucinated 0, should be 1"),
        ("sum_w * 1.001 AS sum_w", "sum_w 5.005, should be 5"),
        ("'elsewhere' AS stratum", "traffic 1, should be 0"),
    ],
)
def test_a_tally_that_a_recount_does_not_give_is_found(
    store: Store, table: str, name: CheckName, change: str, words: str
) -> None:
    """Whatever measure or cell is wrong, it is named with both numbers."""
    quiet(store)
    where = "fingerprint != ''" if words.startswith(("sum", "hall")) else "fingerprint = ''"
    copied = f"SELECT * REPLACE (generation + 1 AS generation, {change}) FROM {table} FINAL WHERE {where}"  # noqa: S608  constants
    run(store, f"INSERT INTO {table} {copied} ORDER BY bucket LIMIT 1")
    result = found(store)[name]
    assert words in result.examples[0]
    assert {name, CheckName.DRAWS_JUDGED} == found(store).keys()
    store.mark_for_rebuild(NOW, NOW + HOUR)
    store.rebuild_tallies(NOW)
    quiet(store)
    assert {CheckName.DRAWS_JUDGED} == found(store).keys()


def test_tallies_of_hours_without_any_row_left_are_found(store: Store) -> None:
    """Nothing is there any more, and still it counts."""
    quiet(store)
    for table in ("traces", "verdicts"):
        run(store, f"TRUNCATE TABLE {table}")
    assert 7 == found(store)[CheckName.TALLIES_5M].faults


def test_rows_that_the_tally_job_has_not_seen_are_no_fault(store: Store) -> None:
    """They are counted at its next run; the note says so."""
    store.insert_traces([drawn_trace("t-9")])
    assert CheckName.TALLIES_5M not in found(store)
    notes = [step.note for step in steps(store) if isinstance(step, CheckResult) and step.name is CheckName.TALLIES_5M]
    assert ["1 buckets have rows that the tally job has not seen yet"] == notes


def test_a_range_is_verified_alone(store: Store) -> None:
    """A fault outside of it is not looked at; hours are taken whole."""
    quiet(store)
    assert CheckName.DRAWS_JUDGED not in found(store, until=NOW + 2 * HOUR)
    assert CheckName.DRAWS_JUDGED in found(store, since=NOW + 3 * HOUR + timedelta(minutes=30))
    assert CheckName.DRAWS_JUDGED not in found(store, since=NOW + 4 * HOUR)


def test_lost_texts_of_passages_are_found(store: Store) -> None:
    """Every trace that shows one is named, at most as many as asked for."""
    run(store, "TRUNCATE TABLE passages")
    lost = found(store)[CheckName.PASSAGES_STORED]
    assert (4, ("t-0", "t-1")) == (lost.faults, lost.examples)


def test_a_word_outside_the_vocabulary_is_found(store: Store) -> None:
    """Such a row would break every page that shows it."""
    run(store, "INSERT INTO verdicts SELECT * REPLACE (arrayMap(x -> 'error:odd', claims.error) AS `claims.error`, "
        "rev + 1 AS rev) FROM verdicts FINAL WHERE trace_id = 't-1'")  # fmt: skip
    assert ("t-1",) == found(store)[CheckName.LABELS].examples


def test_missing_and_changed_migrations_are_found() -> None:
    """With what to run."""
    store = open_store()
    try:
        assert CheckName.MIGRATIONS in found(store, retention_days=1)
        newest = max(file.name for file in shipped() if file.name != REPEATABLE)
        run(store, f"ALTER TABLE migrations DELETE WHERE file = '{newest}' SETTINGS mutations_sync = 1")
        missing = found(store)[CheckName.MIGRATIONS]
        assert (f"{newest} from statement 1",) == missing.examples[:1]
        assert "groundwatch migrate" in missing.fix
        run(store, "INSERT INTO migrations VALUES ('0001_traces.sql', 0, 'other')")
        assert "changed after it was applied" in found(store)[CheckName.MIGRATIONS].examples[0]
    finally:
        store.close()


def test_stats_know_bytes_parts_ages_and_the_disk(store: Store) -> None:
    """Of every table that has rows; ages where rows have one."""
    stats = store.stats()
    by_name = {table.name: table for table in stats.tables}
    assert by_name.keys() >= TIME_COLUMNS.keys()
    traces = by_name["traces"]
    assert (4, NOW, NOW + 3 * HOUR, RETENTION_DAYS) == (traces.rows, traces.oldest, traces.newest, traces.keeps_days)
    assert 0 < traces.compressed_bytes <= traces.disk_bytes
    assert stats.free_bytes is not None
    assert stats.free_bytes > 0
    assert sum(table.disk_bytes for table in stats.tables) / 4 == stats.bytes_per_trace


def test_every_table_with_rows_of_some_time_says_which_column(store: Store) -> None:
    """A table added later is either in the list or has no times."""
    rows = store._connection.query(
        "SELECT DISTINCT table FROM system.columns WHERE database = currentDatabase() AND type LIKE '%Date%' "
        "AND table NOT IN (SELECT name FROM system.tables WHERE engine NOT LIKE '%MergeTree')"
    )
    assert {row["table"] for row in rows} <= TIME_COLUMNS.keys()


def test_a_store_that_can_only_be_read_is_verified() -> None:
    """The command opens it so."""
    database = fresh_database()
    open_store(database=database).close()
    store = Store.open(f"chdb://{shared_path()}", database=database, read_only=True)
    try:
        assert {} == found(store)
        assert 0 == store.stats().traces
    finally:
        store.close()
    assert Path(shared_path()).exists()
