"""Dead letters through the pipeline again: with what they would have become, once, and only after the cause is gone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import pytest

from schemas.codec import HEADER
from schemas.draw import DrawnTrace
from schemas.errors import BrokerUnavailable, InvalidMessage, RowRejected
from schemas.span import Span
from schemas.trace import Source
from streams.agents.deadletter import DeadLetter, bury
from streams.agents.ingest import Ingest
from streams.broker.publisher import Publisher
from streams.broker.topics import DEADLETTER, DRAWN, SPANS, VERDICTS
from streams.deadletters.envelope import Whole, read_letter, read_mark
from streams.deadletters.replaying import Outcome, Replayer, preview
from streams.messages import Message
from streams.sources.raw import Decoded
from streams.store import ALL_TENANTS
from tests.agents.flow import Flow, decode, native
from tests.agents.test_assemble_step import close, messages
from tests.builders import NOW
from tests.fakes_store import MemoryStore
from tests.spans import TRACE_ID, request


class Refusing(MemoryStore):
    """Refuses traces and verdicts while ``refuses``, as an engine does whose table lacks a word."""

    refuses = True

    def insert_traces(self, rows: Sequence[DrawnTrace]) -> None:
        """Refuse, or keep."""
        if self.refuses and rows:
            raise RowRejected("insert into traces: the store refuses a row (VIOLATED_CONSTRAINT)")
        super().insert_traces(rows)


def wholes(flow: Flow) -> list[Whole]:
    """Every letter that lies on the topic."""
    found = [read_letter(record) for record in flow.publisher.messages(DEADLETTER)]
    return [whole for whole in found if whole is not None]


def marked(flow: Flow) -> set[str]:
    """The letters that are marked as replayed."""
    marks = [read_mark(record) for record in flow.publisher.messages(DEADLETTER)]
    return {mark.letter for mark in marks if mark is not None}


def from_otel(**fields: str) -> list[Span]:
    """The spans of a request as they came over a source topic."""
    source = Source(topic="otel", partition=1, offset=9, recorded_at=NOW)
    return [span.model_copy(update={"source": source, **fields}) for span in request()]


async def replayed(flow: Flow, step: Ingest | None = None) -> list[str]:
    """What became of every letter."""
    return [outcome.result for outcome in await Replayer(step or flow.ingest).replay(wholes(flow))]


async def refusing(_message: Message) -> Decoded:
    """A decoder with the wrong mapping."""
    return Decoded(problems=(InvalidMessage("missing_field", "answer: no such field"),))


async def test_a_letter_becomes_the_trace_that_it_would_have_been() -> None:
    """With its position and time on the source topic, and the draw of its id; its letter is marked."""
    flow, other = Flow(), Flow()
    message = flow.message(native("t-1"), partition=3, key=b"k", headers=(("h", b"\xff"),))
    await replace(flow.ingest, decode=refusing).handle([message])
    await other.ingest.handle([message])
    assert (["taken_in"], {"0:0"}) == (await replayed(flow), marked(flow))
    found, direct = (one.store.trace("t-1", tenants=ALL_TENANTS) for one in (flow, other))
    assert direct is not None
    assert found is not None
    assert (direct.drawn.trace, direct.drawn.draw) == (found.drawn.trace, found.drawn.draw)
    assert ("traces", 3) == (found.drawn.trace.source.topic, found.drawn.trace.source.partition)  # type: ignore[union-attr]
    assert 1 == len(flow.publisher.sent[DRAWN])


async def test_replaying_twice_counts_once() -> None:
    """A replay that broke off is simply repeated."""
    flow = Flow()
    await replace(flow.ingest, decode=refusing).handle([flow.message(native(f"t-{n}")) for n in range(3)])
    for _ in range(2):
        assert ["taken_in"] * 3 == await replayed(flow)
        await flow.verify_and_sink()
    counts = flow.store.counts()
    assert (3, 3, 3) == (counts.traces, counts.drawn, counts.verdicts)


async def test_what_is_refused_again_stays_open_and_makes_no_second_letter() -> None:
    """The outcome says why; a good one beside it is taken in."""
    flow = Flow()
    await flow.ingest.handle([flow.message(b"junk")])
    await replace(flow.ingest, decode=refusing).handle([flow.message(native("t-1"))])
    outcomes = await Replayer(flow.ingest).replay(wholes(flow))
    assert [("refused", "not_json"), ("taken_in", "")] == [(one.result, one.reason) for one in outcomes]
    assert ({"0:1"}, 2) == (marked(flow), len(wholes(flow)))


async def test_an_id_that_is_taken_stays_taken() -> None:
    """The first trace is not overwritten by a letter."""
    flow = Flow()
    await flow.ingest.handle([flow.message(native("t-1")), flow.message(native("t-1", answer="Something else."))])
    (outcome,) = await Replayer(flow.ingest).replay(wholes(flow))
    assert ("refused", "duplicate_id") == (outcome.result, outcome.reason)


async def test_a_broker_that_is_away_marks_nothing() -> None:
    """The command fails, and the same command succeeds later."""
    flow = Flow()
    await replace(flow.ingest, decode=refusing).handle([flow.message(native("t-1"))])
    flow.publisher.failures = 1
    with pytest.raises(BrokerUnavailable):
        await replayed(flow)
    assert set() == marked(flow)
    assert ["taken_in"] == await replayed(flow)


async def test_a_row_that_the_store_refused_is_stored_with_its_first_draw() -> None:
    """The head was stored before the row was refused."""
    store = Refusing()
    flow = Flow(store=store)
    await flow.ingest.handle([flow.message(native("t-1"))])
    (letter,) = wholes(flow)
    assert ("row_rejected", "ingest", "native_json") == (
        letter.letter.reason,
        letter.letter.stage,
        letter.letter.decoder,
    )
    store.refuses = False
    assert (["taken_in"], 1) == (await replayed(flow), flow.store.counts().traces)


async def test_an_assembled_trace_that_was_refused_is_stored_as_it_was_assembled() -> None:
    """Its letter holds the trace, since no one message does."""
    store = Refusing()
    flow = Flow(store=store)
    step = flow.assemble
    await step.handle(messages(*from_otel()))
    await close(step, 5)
    (letter,) = wholes(flow)
    assert ("row_rejected", "assemble", "Trace/1.0") == (
        letter.letter.reason,
        letter.letter.stage,
        letter.letter.schema_name,
    )
    store.refuses = False
    assert ["taken_in"] == await replayed(flow)
    found = flow.store.trace(TRACE_ID, tenants=ALL_TENANTS)
    assert found is not None
    assert ("root_end", 3, 1) == (
        found.drawn.trace.close_reason,
        found.drawn.trace.revision,
        len(flow.publisher.sent[DRAWN]),
    )


async def test_spans_that_no_trace_can_hold_are_assembled_again_from_their_copies() -> None:
    """After an upgrade that can hold them; without stored copies nothing can be done, and it says so."""
    flow = Flow()
    step = flow.assemble
    await step.handle(messages(*from_otel(tenant="t" * 300)))
    await close(step, 5)
    (letter,) = wholes(flow)
    assert ("assemble", "Span/1.0", True) == (
        letter.letter.stage,
        letter.letter.schema_name,
        letter.letter.detail.startswith("tenant"),
    )
    assert (["sent_again"], 3) == (await replayed(flow), len(flow.publisher.sent[SPANS]))
    flow.store._spans.clear()
    (outcome,) = await Replayer(flow.ingest).replay(wholes(flow))
    assert ("refused", "spans_gone") == (outcome.result, outcome.reason)


async def test_a_record_of_ours_goes_back_to_its_topic_unchanged() -> None:
    """Fields that this version does not know are still in it for a newer one."""
    flow = Flow()
    await flow.ingest.handle([flow.message(native("t-1"))])
    (drawn,) = flow.publisher.messages(DRAWN)
    newer = replace(drawn, value=(drawn.value or b"")[:-1] + b',"added_later":1}')
    await given_up(flow, newer, "verify")
    assert (["sent_again"], newer.value) == (await replayed(flow), flow.publisher.sent[DRAWN][-1].value)
    assert drawn.headers == flow.publisher.sent[DRAWN][-1].headers


@pytest.mark.parametrize("topic", [SPANS, DRAWN, VERDICTS])
async def test_junk_on_our_topics_is_not_sent_back(topic: str) -> None:
    """It would be a letter again a moment later."""
    flow = Flow()
    await given_up(flow, Message(topic, 0, 7, b"k", b"junk", (), NOW), "verify")
    assert (["refused"], []) == (await replayed(flow), flow.publisher.sent[topic])


async def test_a_producer_cannot_pass_a_message_for_a_record_of_ours() -> None:
    """It would get past redaction and rules."""
    flow = Flow()
    forged = ((HEADER, b"Trace/1.0"),)
    await flow.ingest.handle([flow.message(b"junk", headers=forged)])
    (outcome,) = await Replayer(flow.ingest).replay(wholes(flow))
    assert ("refused", "not_json") == (outcome.result, outcome.reason)


async def test_a_dry_run_says_what_the_configuration_makes_of_letters_now() -> None:
    """Without storing or sending anything."""
    flow = Flow()
    await flow.ingest.handle([flow.message(b"junk"), flow.message(b"x" * 16_000_001)])
    await replace(flow.ingest, decode=refusing).handle([flow.message(native("t-1"))])
    await given_up(flow, Message(DRAWN, 0, 7, b"k", b"junk", (), NOW), "verify")
    before = {topic: len(sent) for topic, sent in flow.publisher.sent.items()}
    outcomes: list[Outcome] = await preview(wholes(flow), decode, 16_000_000)
    assert {"readable": 1, "refused": 2, "impossible": 1} == {
        result: sum(one.result == result for one in outcomes) for result in ("readable", "refused", "impossible")
    }
    assert (before, 0) == (
        {topic: len(sent) for topic, sent in flow.publisher.sent.items()},
        flow.store.counts().traces,
    )


async def given_up(flow: Flow, message: Message, stage: str) -> None:
    """Put a letter on the topic."""
    await bury([DeadLetter(message, "not_json", "(message): no", stage)], cast("Publisher", flow.publisher), 16_000_000)
