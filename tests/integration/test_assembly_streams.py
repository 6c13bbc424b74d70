"""Spans on the broker to stored traces through real processes: embedded, and on Apache Kafka with workers killed."""

import asyncio
import os
import random
import signal
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from schemas.codec import schema_header
from schemas.span import Span
from streams.broker.connection import Connection
from streams.broker.topics import SPANS, TopicSpec, create_topics
from streams.store import ALL_TENANTS, Store
from tests.clickhouse_double import ClickHouseDouble
from tests.integration.running import Running, apache_kafka, producer, running
from tests.spans import ANSWER, call, retriever, root

QUICK = {
    "GROUNDWATCH_ASSEMBLY__GRACE_SECONDS": "1",
    "GROUNDWATCH_ASSEMBLY__QUIET_SECONDS": "6",
    "GROUNDWATCH_VERIFY__BATCH_SIZE": "200",
}
BATCH = 60
"""Messages sent at a time; traces of a batch are shuffled together, so that many are open at once."""


def spans_of(trace_id: str, at: datetime) -> list[Span]:
    """One request a minute ago, under this id; every tenth has lost its root, every seventh has a span twice."""
    fields = {"trace_id": trace_id, "source": None}
    spans = [one.model_copy(update=fields) for one in (retriever(), call(), root())]
    moved = at - timedelta(minutes=1) - (root().start or at)
    spans = [
        one.model_copy(update={"start": (one.start or at) + moved, "end": (one.end or at) + moved}) for one in spans
    ]
    number = int(trace_id.rpartition("-")[2])
    if number % 10 == 0:
        spans.pop()
    return [*spans, spans[0]] if number % 7 == 0 else spans


async def send(address: str, batches: Sequence[Sequence[Span]], pause_seconds: float) -> None:
    """The spans keyed by trace id, with our schema header, batch by batch."""
    async with producer(address) as made:
        for batch in batches:
            futures = [
                await made.send(
                    SPANS,
                    key=one.trace_id.encode(),
                    value=one.model_dump_json(exclude_none=True).encode(),
                    headers=[schema_header(Span)],
                )
                for one in batch
            ]
            await asyncio.gather(*futures)
            await asyncio.sleep(pause_seconds)


def shuffled(ids: Sequence[str], seed: int) -> list[list[Span]]:
    """The spans of all traces in a random order within windows of some forty traces."""
    rng = random.Random(seed)
    now = datetime.now(UTC)
    spans: list[Span] = []
    for first in range(0, len(ids), 40):
        window = [one for trace_id in ids[first : first + 40] for one in spans_of(trace_id, now)]
        rng.shuffle(window)
        spans += window
    return [spans[first : first + BATCH] for first in range(0, len(spans), BATCH)]


def check(store: Store, ids: Sequence[str]) -> None:
    """Every trace is there once and whole, and every drawn one judged once, as it now is."""
    counts = store.counts()
    assert (len(ids), counts.drawn) == (counts.traces, counts.verdicts)
    for trace_id in ids:
        found = store.trace(trace_id, tenants=ALL_TENANTS)
        assert found is not None, trace_id
        trace = found.drawn.trace
        has_root = not trace_id.endswith("0")
        assert (ANSWER, 3 if has_root else 2) == (trace.answer, trace.revision), trace_id
        assert has_root is ("no_root" not in trace.flags), trace_id
        assert 1 == len(trace.passages or ()), trace_id
        assert all(trace.revision == verdict.revision for verdict in found.verdicts), trace_id


@pytest.mark.integration
def test_spans_become_traces_on_the_embedded_broker(tmp_path: Path) -> None:
    """In any order, some without a root, some twice; a stop in between loses nothing that was read."""
    ids = [f"e-{number}" for number in range(120)]
    with running(tmp_path / "data", None, **QUICK) as run:
        asyncio.run(send(run.bootstrap_servers, shuffled(ids, 1), 0.0))
        wait_for_all(run, len(ids))
        assert 0 == run.stop()
    store = Store.open(f"chdb://{tmp_path / 'data' / 'store'}", read_only=True)
    try:
        check(store, ids)
    finally:
        store.close()


@pytest.mark.integration
@pytest.mark.kafka
@pytest.mark.timeout(600)
def test_two_workers_are_killed_while_traces_are_open(tmp_path: Path) -> None:
    """On Apache Kafka, one store: no trace lost, torn or counted twice, whoever reads its spans."""
    home = Path(os.environ["GROUNDWATCH_KAFKA_HOME"]).resolve()
    ids = [f"k-{number}" for number in range(400)]
    with apache_kafka(home, tmp_path / "kafka") as address, ClickHouseDouble(str(tmp_path / "store")) as server:
        asyncio.run(create_topics(Connection(address), [TopicSpec("traces", 2)]))
        settings = {**QUICK, "GROUNDWATCH_STORE__DSN": server.dsn}
        batches = shuffled(ids, 2)
        third = len(batches) // 3
        with running(tmp_path / "a", address, **settings) as a, running(tmp_path / "b", address, **settings) as b:
            asyncio.run(send(address, batches[:third], 0.3))
            a.wait_for(lambda: a.get("/api/v1/counts")["traces"] > 5, 240, "first traces")
            b.stop(signal.SIGKILL)
            asyncio.run(send(address, batches[third : 2 * third], 0.3))
            with running(tmp_path / "b", address, **settings) as again:
                asyncio.run(send(address, batches[2 * third :], 0.3))
                assert 0 == a.stop()
                wait_for_all(again, len(ids))
                assert 0 == again.stop()
        store = Store.open(server.dsn)
        try:
            check(store, ids)
        finally:
            store.close()


def wait_for_all(run: Running, count: int) -> None:
    """Until every trace is stored and every drawn one judged."""

    def is_done() -> bool:
        counts = run.get("/api/v1/counts")
        return bool(counts["traces"] >= count and counts["verdicts"] >= counts["drawn"] > 0)

    run.wait_for(is_done, 240, "verdicts")
