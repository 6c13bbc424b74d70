"""What goes wrong with spans, through a real process on the embedded broker: odd spans, late ones, no store."""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from schemas.labels import Outcome
from streams.broker.topics import DEADLETTER
from streams.store import ALL_TENANTS, Store, StoredTrace
from tests.clickhouse_double import ClickHouseDouble
from tests.integration.running import Running, produce, read_all, running
from tests.openinference import ANSWER, TEXT, call, hex_id, message, request, retriever, root, span

TOPIC = "otlp_spans"
HIGH = {"metadata": '{"intent": "returns", "risk_tier": "high"}'}
"""The shipped policy draws every answer of this tier."""
QUICK = {
    "GROUNDWATCH_ASSEMBLY__GRACE_SECONDS": "1",
    "GROUNDWATCH_ASSEMBLY__QUIET_SECONDS": "4",
}
MOST_MEMORY_KIB = 1_500_000


def send(run: Running, *messages: list[dict[str, Any]] | bytes) -> None:
    """Messages without keys."""
    values = [one if isinstance(one, bytes) else message(one) for one in messages]
    produce(run.bootstrap_servers, TOPIC, [(None, value) for value in values])


def counts(run: Running) -> tuple[int, int, int]:
    """Traces, drawn ones and verdicts."""
    found = run.get("/api/v1/counts")
    return found["traces"], found["drawn"], found["verdicts"]


def stored(data_dir: Path, read: Callable[[Store], Any]) -> Any:
    """What the store of a stopped process holds."""
    store = Store.open(f"chdb://{data_dir / 'store'}", read_only=True)
    try:
        return read(store)
    finally:
        store.close()


def by_name(store: Store, *names: str) -> dict[str, StoredTrace | None]:
    """Stored traces by readable id."""
    return {name: store.trace(hex_id(name, 16), tenants=ALL_TENANTS) for name in names}


@pytest.mark.integration
@pytest.mark.timeout(240)
def test_odd_spans_cost_no_neighbour(tmp_path: Path) -> None:
    """Large, broken, repeated, endless and judging ones in one topic beside good requests."""
    at = datetime.now(UTC) - timedelta(minutes=2)
    five = [retriever("five", at + timedelta(milliseconds=n), TEXT, f"Rule {n}.", name=f"r{n}") for n in range(5)]
    steps = [span("long", f"s{n}", at, openinference__span__kind="TOOL") for n in range(2_999)]
    judge = span("loop", "judge", at, openinference__span__kind="EVALUATOR", output__value="Wrong.")
    ours = span("ours", "root", at, groundwatch__layer="judge", output__value="unsupported")
    bad = {**root("bad", at), "spanId": "not hex"}
    with running(tmp_path / "data", None, TOPIC, **QUICK) as run:
        send(run, [root("large", at, output__value="All is well here. " * 180_000)], [root("odd", at, tag="\ud83d")])
        send(run, [bad, *request("beside", at)], *([one] for one in request("again", at) for _ in range(29)))
        send(run, *([one] for one in five), [root("five", at)], [*request("loop", at), judge], [ours])
        send(run, *(steps[first : first + 300] for first in range(0, 2_999, 300)))
        time.sleep(2)
        send(run, [root("long", at)])
        run.wait_for(lambda: counts(run)[0] >= 7, 60, "traces")
        run.wait_for(lambda: counts(run)[1] == counts(run)[2], 60, "verdicts")
        time.sleep(6)
        letters = read_all(run.bootstrap_servers, DEADLETTER, 2, 3)
        peak_kib = next(
            int(line.split()[1])
            for line in Path(f"/proc/{run.process.pid}/status").read_text().splitlines()
            if line.startswith("VmHWM")
        )
        assert (7, True) == (counts(run)[0], counts(run)[1] == counts(run)[2])
        assert 0 == run.stop()
        log = run.log_path.read_text(errors="replace")
    names = ("large", "odd", "beside", "again", "five", "loop", "long")
    found = stored(tmp_path / "data", lambda store: by_name(store, *names, "ours", "bad"))
    traces = {name: found[name].drawn.trace for name in names}
    assert (None, None) == (found["ours"], found["bad"])
    assert [message([bad, *request("beside", at)])] == [letter.value for letter in letters]
    assert 3_240_000 == len(traces["large"].answer)
    assert {ANSWER} == {traces[name].answer for name in names if name != "large"}
    assert "repaired_text" in traces["odd"].flags
    assert (3, 1) == (traces["again"].revision, len(traces["again"].passages))
    assert [TEXT, *(f"Rule {n}." for n in range(5))] == [passage.text for passage in traces["five"].passages]
    assert (3_000, "cap_spans") == (traces["long"].revision, traces["long"].close_reason)
    assert "batch_waits" not in log
    assert peak_kib < MOST_MEMORY_KIB


@pytest.mark.integration
@pytest.mark.timeout(240)
def test_a_late_span_replaces_the_verdict_and_is_counted_once(tmp_path: Path) -> None:
    """Retriever and root first, the model call after the verdict: one trace, one verdict, one answer in the tallies."""
    at = datetime.now(UTC) - timedelta(minutes=2)
    with running(tmp_path / "data", None, TOPIC, **QUICK) as run:
        send(run, [retriever("late", at), root("late", at, output__value="", **HIGH)])
        run.wait_for(lambda: (1, 1, 1) == counts(run), 60, "the first verdict")
        first = run.get("/api/v1/counts")["outcomes"]
        send(run, [call("late", at)])
        run.wait_for(lambda: first != run.get("/api/v1/counts")["outcomes"], 60, "the second verdict")
        time.sleep(8)  # the alert timer rebuilds the bucket
        assert (1, 1, 1) == counts(run)
        assert 0 == run.stop()
    one = stored(tmp_path / "data", lambda store: by_name(store, "late")["late"])
    assert {Outcome.UNRESOLVED_NO_ANSWER.value: 1} == first
    assert (ANSWER, 3, 1) == (one.drawn.trace.answer, one.drawn.trace.revision, one.drawn.trace.late_spans)
    assert [(3, Outcome.GROUNDED)] == [(verdict.revision, verdict.outcome) for verdict in one.verdicts]
    around = (at - timedelta(hours=1), at + timedelta(hours=1))
    tallies = stored(tmp_path / "data", lambda store: store.tallies(*around))
    assert (1, 1, 1, 0) == (
        sum(row.traffic for row in tallies if not row.fingerprint),
        sum(row.drawn for row in tallies if not row.fingerprint),
        sum(row.judged for row in tallies if row.fingerprint),
        sum(row.hallucinated for row in tallies),
    )


@pytest.mark.integration
@pytest.mark.timeout(240)
def test_a_store_that_is_away_while_traces_are_open_loses_nothing(tmp_path: Path) -> None:
    """Refused and dropped requests: messages are held, tried again, and nothing is stored twice."""
    at = datetime.now(UTC) - timedelta(minutes=2)
    names = [f"r{number}" for number in range(60)]
    with ClickHouseDouble(str(tmp_path / "store")) as server:
        settings = {**QUICK, "GROUNDWATCH_STORE__DSN": server.dsn}
        with running(tmp_path / "data", None, TOPIC, **settings) as run:
            send(run, request("first", at))
            run.wait_for(lambda: counts(run)[0] == 1, 60, "all roles at work")
            send(run, *(request(name, at)[:2] for name in names))
            server.faults.extend(["refuse", "drop_before", "drop_after"] * 20)
            send(run, *(request(name, at)[2:] for name in names))
            run.wait_for(lambda: not server.faults, 90, "faults used up")
            store = Store.open(server.dsn)
            try:
                run.wait_for(
                    lambda: seen(store, names) == {(ANSWER, 3)}, 90, "whole traces", lambda: seen(store, names)
                )
                run.wait_for(lambda: is_whole(run, len(names) + 1), 90, "traces and verdicts")
                assert 0 == run.stop()
                assert ({(ANSWER, 3)}, len(names) + 1) == (seen(store, names), store.counts().traces)
                assert all(len(one.verdicts) <= 1 for one in by_name(store, *names).values() if one)
            finally:
                store.close()
        log = run.log_path.read_text(errors="replace")
    assert "agent_failed" not in log


def seen(store: Store, names: Sequence[str]) -> set[tuple[str | None, int]]:
    """Answers and revisions of those that are stored."""
    found = by_name(store, *names).values()
    return {(one.drawn.trace.answer, one.drawn.trace.revision) for one in found if one}


def is_whole(run: Running, traces: int) -> bool:
    """Every trace is stored, and every drawn one judged; False while the store does not answer."""
    try:
        found, drawn, verdicts = counts(run)
    except httpx.HTTPError:
        return False
    return found == traces and drawn == verdicts > 0
