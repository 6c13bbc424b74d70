"""A row that the store refuses for ever costs its own trace a place in the store, and no other trace anything."""

from collections.abc import Sequence
from datetime import datetime

from schemas.errors import RowRejected
from streams.broker.topics import DEADLETTER, DRAWN
from streams.store import ALL_TENANTS, StoredSpan, TraceHead
from tests.agents.flow import Flow, native
from tests.agents.span_flow import AT, GRACE, SpanFlow
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
