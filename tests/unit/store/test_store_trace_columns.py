"""A batch of traces as columns."""

from schemas.trace import Hop, Source, ToolCall, passage_hash
from streams.store.trace_columns import TRACES, batch_of, trace_columns
from tests.builders import NOW, drawn_trace, passage, trace

PROMPT = "Use this. " + "A refund is possible within 30 days. " * 3
ROWS = [
    drawn_trace(trace=trace("plain")),
    drawn_trace(trace=trace("nothing", passages=None, answer=None, tool_calls=(), versions={})),
    drawn_trace(trace=trace("empty", passages=())),
    drawn_trace(
        trace=trace(
            "full",
            passages=(passage("A refund is possible within 30 days. " * 3), passage("", allowed_roles=("agent",))),
            packed_prompt=PROMPT,
            tool_calls=(ToolCall(name="find", output=None), ToolCall(name="refund", arguments="{}", output="done")),
            hops=(Hop(name="first", passages=(0,), output="5 €"),),
            source=Source(topic="traces", partition=3, offset=7, recorded_at=NOW),
        )
    ),
    drawn_trace(trace=trace("torn", question="half \ud83d", passages=(passage("torn \ud83d"), passage("née ✓")))),
]


def test_a_row_of_a_batch_is_the_row_that_it_is_alone() -> None:
    """Whatever stands beside it."""
    together = list(zip(*trace_columns(batch_of(ROWS)), strict=True))
    alone = [tuple(column[0] for column in trace_columns(batch_of([row]))) for row in ROWS]
    assert alone == together
    assert len(TRACES.columns) == len(alone[0])


def test_texts_are_cleaned_and_their_hashes_are_those_of_the_detectors() -> None:
    """Half a surrogate pair would refuse the whole batch."""
    batch = batch_of(ROWS)
    assert [["torn ?", "née ✓"]] == batch.texts[-1:]
    assert [bytes.fromhex(passage_hash(one.text)) for one in batch.passages] == [h for own in batch.hashes for h in own]


def test_a_batch_without_rows_has_empty_columns() -> None:
    """It is asked for when a batch holds nothing but dead letters."""
    assert [[]] * len(TRACES.columns) == trace_columns(batch_of([]))
