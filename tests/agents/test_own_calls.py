"""A gateway that traces everything puts our own calls into the topic that we watch: counted, never judged."""

from collections.abc import Sequence
from dataclasses import replace

from streams.broker.topics import DEADLETTER, DRAWN
from streams.store import MessageFate, SourceFate
from tests.agents.flow import native
from tests.agents.span_flow import AT, QUIET, SpanFlow
from tests.openinference import ANSWER, call, request


async def test_our_own_calls_in_the_topic_are_counted_and_not_judged() -> None:
    """As a gateway's span, in our own format and by a header of the record; the product's answer goes on."""
    run = SpanFlow()
    fates: list[MessageFate] = []

    async def record(rows: Sequence[MessageFate]) -> None:
        fates.extend(rows)

    run.ingest = replace(run.ingest, record=record)
    header = {"http.request.header.x-groundwatch": "judge"}
    await run.send(
        [call("ours", AT, "The claim is SUPPORTED.", **header)],
        native("ours-too", answer="The claim is SUPPORTED.", metadata={"headers": {"x-groundwatch": "samples"}}),
        request("product", AT),
    )
    bare = run.flow.message(native("ours-as-well"), headers=(("x-groundwatch", b"claims"),))
    await run.ingest.handle([bare])
    await run.after(QUIET)

    assert (ANSWER, None) == (run.trace("product").answer, run.stored("ours"))
    assert (1, 1, []) == (
        run.flow.store.counts().traces,
        len(run.flow.publisher.messages(DRAWN)),
        run.flow.publisher.messages(DEADLETTER),
    )
    assert [SourceFate.SPANS, SourceFate.EVALUATOR, SourceFate.SPANS, SourceFate.EVALUATOR] == [
        one.fate for one in fates
    ]
    assert {"root_end": 1, "no part of an answer": 1} == dict(run.assemble.emitted)
