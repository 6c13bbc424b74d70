"""What the engine does to us: owners of a path, time zones, kills, lost answers, refused rows, threads."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from schemas.errors import ConfigError, RowRejected, StoreUnavailable
from streams.store import ALL_TENANTS, Store, embedded
from tests.builders import NOW, drawn_trace, passage, trace, verdict
from tests.chdb_path import fresh_database, open_empty_store, open_store, shared_path
from tests.clickhouse_double import ClickHouseDouble

pytestmark = pytest.mark.integration
ROOT = Path(__file__).parents[2]
WRITER = """
import sys
from datetime import timedelta
from streams.store import Store
from tests.builders import NOW, drawn_trace
store = Store.open(sys.argv[1])
store.migrate(retention_days=3650)
for number in range(int(sys.argv[2])):
    ts = NOW - timedelta(days=number % 20)
    store.insert_traces([drawn_trace(f"t-{number}-{row}", ts=ts) for row in range(20)])
    print(number, flush=True)
"""


def python(code: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """A Python process that can import the project and its tests."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def store() -> Iterator[Store]:
    """An empty store on the embedded engine."""
    opened = open_empty_store()
    yield opened
    opened.close()


@pytest.fixture
def double() -> Iterator[ClickHouseDouble]:
    """A server over HTTP."""
    with ClickHouseDouble(shared_path()) as running:
        yield running


def test_a_second_process_on_the_path_is_refused_and_told_who_owns_it(store: Store) -> None:
    """The text names the path and the owner's process id."""
    assert store.ping()
    other = python(WRITER, f"chdb://{shared_path()}", "1")
    _, errors = other.communicate()
    assert 1 == other.returncode
    assert f"{shared_path()} is in use by another process (PID: {os.getpid()})" in errors


def test_a_second_path_in_one_process_is_refused(store: Store, tmp_path: Path) -> None:
    """The engine can open one path a process; the text names the one in use."""
    assert store.ping()
    with pytest.raises(ConfigError, match="can open only one"):
        Store.open(f"chdb://{tmp_path}/other")


def test_nothing_acknowledged_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    """After kill -9 in the middle of inserts the store opens and holds every acknowledged batch whole."""
    dsn = f"chdb://{tmp_path}/store"
    writer = python(WRITER, dsn, "100000")
    assert writer.stdout is not None
    acknowledged = [int(line) for line, _ in zip(writer.stdout, range(15), strict=False)][-1]
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    count = "from streams.store import Store; import sys; store = Store.open(sys.argv[1]); print(store.counts().traces)"
    reader = python(count, dsn)
    answer, errors = reader.communicate()
    assert 0 == reader.returncode, errors
    assert (acknowledged + 1) * 20 <= int(answer)
    # A kill may leave a batch file; the next owner empties the folder.
    assert [] == list(Path(f"{tmp_path}/store.tmp").iterdir())


def test_only_inserts_use_the_folder_for_batch_files(store: Store) -> None:
    """Other users of temporary files are not moved there."""
    before = tempfile.gettempdir()
    store.insert_traces([drawn_trace()])
    assert before == tempfile.gettempdir()
    with embedded.scratch(shared_path()), embedded.scratch(shared_path()):
        assert f"{shared_path()}.tmp" == tempfile.gettempdir()
    assert before == tempfile.gettempdir()


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kathmandu"])
def test_no_time_zone_of_the_process_shifts_a_time(tmp_path: Path, zone: str) -> None:
    """Traces, heads, watermarks and tallies keep their moments wherever the process runs."""
    code = """
import sys
from datetime import timedelta
from streams.store import ALL_TENANTS, Store, TraceHead, Watermark
from tests.builders import NOW, drawn_trace, verdict
store = Store.open(sys.argv[1])
store.migrate(retention_days=3650)
store.insert_traces([drawn_trace()])
store.insert_verdicts([verdict()])
head = TraceHead(trace_id="t", ts=NOW, content_hash="", stratum="rest", inclusion_probability=1, policy_id="p")
mark = Watermark(topic="x", partition=0, event_time=NOW, at=NOW)
store.insert_heads([head])
store.insert_watermarks([mark])
store.rebuild_tallies(NOW)
assert store.trace("t-1", tenants=ALL_TENANTS, ts=NOW).drawn == drawn_trace()
assert store.heads(["t"]) == {"t": head} and store.watermarks() == [mark]
assert [NOW, NOW] == [tally.bucket for tally in store.tallies(NOW, NOW + timedelta(minutes=5))]
assert [NOW] == store.changed_buckets(0)[0] and store.counts().first_ts == NOW
store.close()
"""
    process = python(code, f"chdb://{tmp_path}/store", TZ=zone)
    _, errors = process.communicate()
    assert 0 == process.returncode, errors


@pytest.mark.parametrize(
    "row",
    [
        drawn_trace(ts=NOW - timedelta(days=20_000)),
        drawn_trace(trace=trace().model_copy(update={"revision": 2**40})),  # past the check of the schema
        drawn_trace(trace=trace(passages=(passage().model_copy(update={"rank": 2**70}),))),
    ],
    ids=["a year out of range", "a revision too large", "a rank too large"],
)
def test_a_row_that_no_retry_can_save_is_rejected_whole(store: Store, row: object) -> None:
    """The batch is refused as RowRejected, nothing of it is stored, and the next batch is accepted."""
    with pytest.raises(RowRejected):
        store.insert_traces([drawn_trace("good"), row])  # type: ignore[list-item]
    assert 0 == store.counts().traces
    store.insert_traces([drawn_trace("good")])
    assert 1 == store.counts().traces


def test_a_store_that_was_never_migrated_is_unavailable_and_says_what_to_do() -> None:
    """Agents wait for the migration instead of throwing rows away."""
    opened = Store.open(f"chdb://{shared_path()}", database=fresh_database())
    with pytest.raises(StoreUnavailable, match="groundwatch migrate"):
        opened.insert_traces([drawn_trace()])
    opened.close()


def test_a_reader_cannot_write_and_needs_a_database(store: Store) -> None:
    """``read_only`` refuses writes, and never creates a database."""
    store.insert_traces([drawn_trace()])
    reader = Store.open(f"chdb://{shared_path()}", database=store._connection._client.database, read_only=True)
    assert 1 == reader.counts().traces
    assert reader.trace("t-1", tenants=ALL_TENANTS) is not None
    with pytest.raises(StoreUnavailable, match="READONLY"):
        reader.insert_traces([drawn_trace("b")])
    reader.close()
    with pytest.raises(ConfigError, match="does not exist"):
        Store.open(f"chdb://{shared_path()}", database="nowhere", read_only=True)


def test_a_reader_over_http_cannot_write(double: ClickHouseDouble) -> None:
    """The same rule on a server."""
    writer = open_empty_store(double.dsn)
    writer.insert_traces([drawn_trace()])
    reader = Store.open(double.dsn, database=writer._connection._client.database, read_only=True)
    assert reader.trace("t-1", tenants=ALL_TENANTS, ts=NOW) is not None
    with pytest.raises(StoreUnavailable, match="READONLY"):
        reader.insert_verdicts([verdict()])
    reader.close()
    writer.close()


@pytest.mark.parametrize("text", ["x'; DROP TABLE traces; --", "{y:String}", "%(x)s", "\\", "`", "x\x00y"])
def test_no_text_is_ever_part_of_a_statement(store: Store, text: str) -> None:
    """Whatever a reader asks for is compared, never run."""
    store.insert_traces([drawn_trace(text, trace=trace(text, tenant=text, intent=text))])
    store.insert_verdicts([verdict(text, intent=text)])
    assert store.trace(text, tenants=frozenset({text})) is not None
    assert [] == store.flagged(tenants=frozenset({text}), intent=text)
    assert {} == store.heads([text])
    assert store.alert(text) is None
    assert 1 == store.counts().traces


def test_threads_may_share_one_store(store: Store) -> None:
    """Writers, readers and the tally job on one instance do not disturb each other."""

    def work(number: int) -> int:
        store.insert_traces([drawn_trace(f"t-{number}-{row}") for row in range(5)])
        store.rebuild_tallies(NOW)
        return len(store.tallies(NOW, NOW + timedelta(hours=1)))

    with ThreadPoolExecutor(4) as pool:
        assert {1} == set(pool.map(work, range(8)))
    assert 40 == store.tallies(NOW, NOW + timedelta(hours=1))[0].traffic


def test_a_lost_answer_makes_no_second_row(double: ClickHouseDouble) -> None:
    """The client sends an insert again when its answer is lost; counts and tallies stay right."""
    opened = open_empty_store(double.dsn)
    double.faults.extend(["drop_after"])
    opened.insert_traces([drawn_trace("a")])
    double.faults.extend(["drop_before"])
    opened.insert_verdicts([verdict("a")])
    opened.rebuild_tallies(NOW)
    counts = opened.counts()
    assert (1, 1) == (counts.traces, counts.verdicts)
    assert 1 == sum(row.traffic for row in opened.tallies(NOW, NOW + timedelta(hours=1)))
    opened.close()


def test_a_server_that_refuses_is_unavailable(double: ClickHouseDouble) -> None:
    """503 raises StoreUnavailable, and the same call succeeds later."""
    opened = open_empty_store(double.dsn)
    opened.insert_traces([drawn_trace("warm")])
    double.faults.extend(["refuse"] * 10)
    with pytest.raises(StoreUnavailable):
        opened.insert_traces([drawn_trace("a", trace=trace("a", passages=()))])
    double.faults.clear()
    opened.insert_traces([drawn_trace("a")])
    assert 2 == opened.counts().traces
    opened.close()


def test_a_wrong_password_is_a_matter_of_configuration() -> None:
    """Waiting does not mend it; the text does not repeat it."""
    with ClickHouseDouble(shared_path(), password="right") as locked:  # noqa: S106 — of this test's own server
        open_empty_store(locked.dsn).close()
        with pytest.raises(ConfigError, match="user or password") as caught:
            Store.open(locked.dsn.replace("right", "wrong-one"))
    assert "wrong-one" not in str(caught.value)


def test_no_server_is_unavailable() -> None:
    """A refused connection is waited for."""
    with pytest.raises(StoreUnavailable):
        Store.open("http://127.0.0.1:9")


def test_many_weeks_in_one_batch_are_accepted(store: Store) -> None:
    """A replay of years is no reason to refuse a batch."""
    store.insert_traces([drawn_trace(f"t-{week}", ts=NOW - timedelta(weeks=week)) for week in range(130)])
    assert 130 == store.counts().traces


def test_rows_past_retention_are_dropped_and_a_new_retention_is_applied() -> None:
    """Migrating with other days changes what is kept."""
    opened = open_store()
    old = drawn_trace("old", ts=NOW - timedelta(days=1500))
    opened.insert_traces([drawn_trace("a"), old])
    assert 2 == opened.counts().traces
    assert {"repeatable.sql"} == set(opened.migrate(retention_days=1200, hourly_days=3650).applied)
    assert {} == opened.migrate(retention_days=1200, hourly_days=3650).applied
    opened.insert_traces([old])
    opened._connection.command("OPTIMIZE TABLE traces FINAL")
    assert 1 == opened.counts().traces
    opened.close()
