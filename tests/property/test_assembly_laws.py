"""Whatever way the spans of a trace come, it is the same trace."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from schemas.span import ChatMessage, Span, SpanKind
from schemas.trace import Passage, ToolCall
from streams.assembly import AssemblyRules, ClosingRules, OpenTraces, assemble
from tests.builders import NOW
from tests.spans import TRACE_ID

RULES = AssemblyRules()
_words = st.sampled_from(["", "covers 500 euros", "a camera", "Context: [1] a [2] b Question: c", "ja"])
_ids = st.sampled_from([f"s{number}" for number in range(6)])
_documents = st.none() | st.lists(
    st.builds(Passage, doc_id=st.sampled_from(["", "d1", "d2"]), text=_words), max_size=3
).map(tuple)
_moments = st.none() | st.integers(0, 1000).map(lambda ms: NOW + timedelta(milliseconds=ms))
_spans = st.builds(
    Span,
    trace_id=st.just(TRACE_ID),
    span_id=_ids,
    parent_id=st.just("") | _ids,
    kind=st.sampled_from(SpanKind),
    start=_moments,
    end=_moments,
    said_at=_moments,
    input=st.none() | _words,
    output=st.none() | _words,
    query=st.none() | _words,
    documents=_documents,
    messages=st.lists(st.builds(ChatMessage, role=st.sampled_from(["user", "tool"]), content=_words), max_size=2).map(
        tuple
    ),
    completions=st.lists(_words, max_size=2).map(tuple),
    tool=st.none() | st.builds(ToolCall, name=st.just("t"), output=st.none() | _words),
    flags=st.lists(st.sampled_from(["truncated", "no_content", "redacted", "repaired_text"]), max_size=2).map(tuple),
    user_id=st.sampled_from(["", "u1", "u2"]),
    is_update=st.booleans(),
)
_traces = st.lists(_spans, min_size=1, max_size=10)


@given(_traces, st.data())
def test_order_and_duplicates_of_spans_do_not_matter(spans: list[Span], data: st.DataObject) -> None:
    """Any order, any number of copies: the same trace."""
    again = data.draw(st.lists(st.sampled_from(spans), max_size=8))
    shuffled = data.draw(st.permutations([*spans, *again]))
    assert assemble(spans, RULES, NOW) == assemble(shuffled, RULES, NOW)


@given(_traces)
def test_every_index_of_a_hop_exists(spans: list[Span]) -> None:
    """Hops point into the trace's own passages and tools."""
    trace = assemble(spans, RULES, NOW)
    if trace is None:
        return
    for hop in trace.hops:
        assert all(index < len(trace.passages or ()) for index in hop.passages)
        assert all(index < len(trace.tool_calls) for index in hop.tools)


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), _ids, st.integers(0, 20)), min_size=1, max_size=40),
    st.integers(1, 5),
)
def test_nothing_is_let_go_before_its_trace_is_safe(arrivals: list[tuple[str, str, int]], batch: int) -> None:
    """At every moment each message at or after the first of an open trace is held, and in the end none is."""
    partition = ("gw.spans", 0)
    traces = OpenTraces(ClosingRules(grace=timedelta(seconds=5), quiet=timedelta(seconds=10)))
    safe: set[tuple[str, str]] = set()
    clock = NOW
    for offset, (trace_id, span_id, gap) in enumerate(arrivals):
        clock += timedelta(seconds=gap)
        traces.add(partition, offset, clock, Span(trace_id=trace_id, span_id=span_id), 10)
        if offset % batch == 0:
            closed = traces.due()
            safe |= {(one.trace_id, span.span_id) for one in closed for span in one.spans}
            traces.forget(closed)
        bound = traces.held().get(partition, offset + 1)
        assert all((trace, span) in safe for trace, span, _ in arrivals[:bound])
    traces.forget(traces.due([partition], clock + timedelta(hours=1)))
    assert {} == traces.held()
