"""A row that the store refuses for ever costs its own trace a place in the store, and no other trace anything."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import cast

import pytest
from structlog.testing import capture_logs

from schemas.errors import RowRejected, StoreUnavailable
from schemas.trace import Trace
from streams.agents.fates import Ledger
from streams.agents.quarantine import LeftOut
from streams.agents.watermarks import place_of
from streams.broker.topics import DEADLETTER, DRAWN
from streams.store import ALL_TENANTS, ExpiredCount, MessageFate, SourceFate, Store, StoredSpan, TraceHead, Watermark
from tests.agents.flow import Flow, native
from tests.agents.span_flow import AT, GRACE, SpanFlow
from tests.builders import NOW
from tests.fakes_store import MemoryStore
from tests.openinference import hex_id, request


class Refusing(MemoryStore):
    """Refuses whatever belongs to ``refused``, a whole insert at a time, as a column that cannot hold a value does."""

    def __init__(self, refused: str) -> None:
        super().__init__()
        self.refused = refused

    def insert_heads(self, rows: Sequence[TraceHead]) -> None:
        """All of them, or none."""
        self._check([row.trace_id for row in rows])
        super().insert_heads(rows)

    def insert_spans(self, rows: Sequence[StoredSpan], now: datetime) -> None:
        """All of them, or none."""
        self._check([row.span.trace_id for row in rows])
        super().insert_spans(rows, now)

    def insert_expired(self, rows: Sequence[ExpiredCount]) -> None:
        """All of them, or none."""
        self._check([row.trace_id for row in rows])
        super().insert_expired(rows)

    def insert_watermarks(self, rows: Sequence[Watermark]) -> None:
        """All of them, or none."""
        self._check([row.topic for row in rows])
        super().insert_watermarks(rows)

    def _check(self, trace_ids: Sequence[str]) -> None:
        if self.refused in trace_ids:
            raise RowRejected("the fake store refuses a row")


async def test_a_refused_head_is_a_dead_letter_and_its_neighbours_are_stored() -> None:
    """Without a head a trace that came again would be drawn anew, so it is not stored at all."""
    flow = Flow(store=Refusing("bad"))
    messages = [flow.message(native(trace_id)) for trace_id in ("one", "bad", "two")]
    await flow.ingest.handle(messages)
    found = {name: flow.store.trace(name, tenants=ALL_TENANTS) is not None for name in ("one", "bad", "two")}
    assert {"one": True, "bad": False, "two": True} == found
    assert [messages[1].value] == [letter.value for letter in flow.publisher.messages(DEADLETTER)]
    assert [b"one", b"two"] == [letter.key for letter in flow.publisher.messages(DRAWN)]


async def test_a_refused_span_makes_its_trace_a_dead_letter_and_costs_no_other() -> None:
    """It is not admitted without that span: the next late one would find fewer spans stored than its head counts."""
    run = SpanFlow(Flow(store=Refusing(hex_id("bad", 16))))
    await run.send(request("one", AT), request("bad", AT), request("two", AT))
    await run.after(GRACE)
    assert run.stored("bad") is None
    assert run.stored("one") is not None
    assert run.stored("two") is not None
    (letter,) = run.flow.publisher.messages(DEADLETTER)
    assert hex_id("bad", 16).encode() == letter.key
    assert {} == run.assemble.held()


async def test_a_trace_that_our_own_code_cannot_put_together_is_a_dead_letter_and_holds_up_no_other() -> None:
    """A bug would otherwise end every process that comes to this trace; its letter can be replayed after an update."""
    run = SpanFlow()

    def finish(trace: Trace, _recorded_at: datetime) -> Trace:
        if trace.trace_id == hex_id("bad", 16):
            raise ZeroDivisionError
        return trace

    run.assemble.finish = finish
    await run.send(request("one", AT), request("bad", AT), request("two", AT))
    with capture_logs() as logs:
        await run.after(GRACE)
    assert (None, True, True) == (run.stored("bad"), *(run.stored(name) is not None for name in ("one", "two")))
    (letter,) = run.flow.publisher.messages(DEADLETTER)
    assert (b"internal", b"assemble") == (letter.header("gw-reason"), letter.header("gw-stage"))
    assert "trace_not_assembled" in {line["event"] for line in logs}
    assert {} == run.assemble.held()


def marks(*topics: str) -> list[Watermark]:
    """A mark of each topic."""
    return [Watermark(topic=topic, partition=0, event_time=NOW, at=NOW) for topic in topics]


def test_a_refused_watermark_is_named_once_and_the_other_partitions_move_on() -> None:
    """It is no message: its partition holds its buckets open, which is safe, and nobody else waits for it."""
    store, counts = Refusing("bad"), Counter[str]()
    left_out = LeftOut("watermarks", place_of, "buckets stay open", counts)
    with capture_logs() as logs:
        for _ in range(3):
            left_out.write(store.insert_watermarks, marks("one", "bad", "two"))
    assert ["one", "two"] == [mark.topic for mark in store.watermarks()]
    assert {"watermarks": 3} == counts
    assert [("row_left_out", "bad 0")] == [(line["event"], line["place"]) for line in logs]
    store.refused = ""
    left_out.write(store.insert_watermarks, marks("bad"))
    assert {"one", "two", "bad"} == {mark.topic for mark in store.watermarks()}


def test_a_store_that_is_away_is_no_refusal() -> None:
    """The caller waits and tries all rows again."""

    def away(_rows: Sequence[Watermark]) -> None:
        raise StoreUnavailable("the fake store is away")

    counts = Counter[str]()
    with pytest.raises(StoreUnavailable):
        LeftOut("watermarks", place_of, "", counts).write(away, marks("one"))
    assert not counts


async def test_a_refused_row_of_the_ledger_costs_no_other() -> None:
    """Its message is safe elsewhere; coverage names it as missing, which is true of what is known about it."""
    store = MemoryStore()
    insert = store.fates.insert

    def picky(rows: Sequence[MessageFate], handled_at: datetime) -> None:
        if any(row.offset == 1 for row in rows):
            raise RowRejected("the fake store refuses a row")
        insert(rows, handled_at)

    store.fates.insert = picky  # type: ignore[method-assign]
    ledger = Ledger(cast("Store", store), lambda: NOW)
    fates = [
        MessageFate(topic="traces", partition=0, offset=offset, recorded_at=NOW, fate=SourceFate.STORED)
        for offset in range(3)
    ]
    with capture_logs() as logs:
        await ledger.record(fates)
    assert ["traces 0:1"] == [line["place"] for line in logs]
    assert {"message_fates": 1} == ledger.refused
    assert {0, 2} == {row.offset for _, row in store.fates._fates.values()}


async def test_a_refused_count_of_an_expired_trace_costs_no_other() -> None:
    """The batch goes on, and the other old traces are counted."""
    flow = Flow(store=Refusing("bad"))
    old = (NOW - timedelta(days=365)).isoformat()
    messages = [
        flow.message(native(trace_id, ts=old), recorded_at=NOW - timedelta(days=365)) for trace_id in ("bad", "two")
    ]
    await flow.ingest.handle([*messages, flow.message(native("new"))])
    assert [1] == list(flow.store.expired().values())
    assert flow.store.trace("new", tenants=ALL_TENANTS) is not None
