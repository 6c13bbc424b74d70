"""When an open trace closes, and what is held until then."""

from datetime import datetime, timedelta

from schemas.span import Span
from streams.assembly import ClosingRules, OpenTraces
from tests.builders import NOW
from tests.spans import TRACE_ID, call, request, retriever, root

RULES = ClosingRules(grace=timedelta(seconds=5), quiet=timedelta(seconds=60), age=timedelta(minutes=10), spans=50)
PARTITION = ("gw.spans", 0)


def after(seconds: float) -> datetime:
    """A moment of the partition."""
    return NOW + timedelta(seconds=seconds)


def opened(*spans: tuple[Span, float], rules: ClosingRules = RULES) -> OpenTraces:
    """Open traces with these spans, each read at a moment, offsets from 0."""
    traces = OpenTraces(rules)
    for offset, (one, seconds) in enumerate(spans):
        traces.add(PARTITION, offset, after(seconds), one, 100)
    return traces


def reasons(traces: OpenTraces, seconds: float) -> list[str]:
    """Why traces close when the partition is idle at that moment."""
    return [closed.reason.value for closed in traces.due([PARTITION], after(seconds))]


def test_a_trace_closes_a_grace_after_the_end_of_its_root() -> None:
    """Late children of the same batch still make it."""
    traces = opened((root(), 0), (retriever(), 1))
    assert [] == reasons(traces, 4.9)
    assert ["root_end"] == reasons(traces, 5)


def test_a_trace_without_a_root_closes_when_it_is_quiet() -> None:
    """A minute after the last span."""
    traces = opened((retriever(), 0), (call(), 30))
    assert [] == reasons(traces, 89)
    assert ["quiet"] == reasons(traces, 90)


def test_a_root_without_an_end_does_not_close_its_trace() -> None:
    """A pending copy says that the agent still runs."""
    assert [] == reasons(opened((root(end=None), 0)), 30)


def test_an_update_does_not_end_the_root() -> None:
    """It has no parent because it does not say one."""
    assert [] == reasons(opened((root(is_update=True), 0)), 30)


def test_caps_on_age_spans_and_bytes_close_whatever_comes() -> None:
    """A trace that never ends costs bounded memory."""
    busy = opened(*((call(f"c{number}"), 15.0 * number) for number in range(41)))
    assert ["cap_age"] == reasons(busy, 600)
    many = opened(*((call(f"c{number}"), 0.0) for number in range(50)))
    assert ["cap_spans"] == reasons(many, 0)
    large = opened((call(), 0), rules=ClosingRules(bytes=100))
    assert ["cap_bytes"] == reasons(large, 0)


def test_time_is_the_partitions_own_while_there_is_a_backlog() -> None:
    """A day-old backlog closes by its record times, not by the present."""
    traces = opened((root(), 0), (root(trace_id="other"), 6))
    assert [TRACE_ID] == [closed.trace_id for closed in traces.due()]


def test_everything_from_the_first_open_trace_on_is_held_until_it_is_safe() -> None:
    """A closed trace is held, too, until it was stored."""
    traces = opened((root(), 0), (root(trace_id="other"), 3), (retriever(), 3))
    assert {PARTITION: 0} == traces.held()
    closed = traces.due([PARTITION], after(5))
    assert {PARTITION: 0} == traces.held()
    traces.forget(closed)
    assert {PARTITION: 1} == traces.held()
    traces.forget(traces.due([PARTITION], after(60)))
    assert {} == traces.held()


def test_a_copy_that_came_before_costs_nothing() -> None:
    """Exporters send the same span up to dozens of times."""
    traces = opened(*((one, 0.0) for one in request() * 30))
    (closed,) = traces.due([PARTITION], after(5))
    assert 3 == len(closed.spans)


def test_a_partition_that_is_taken_away_is_forgotten() -> None:
    """Whoever has it now reads its messages again."""
    traces = opened((root(), 0))
    traces.drop([PARTITION])
    assert (0, {}) == (len(traces), traces.held())


def test_the_oldest_start_of_open_traces_bounds_the_watermark() -> None:
    """No bucket before it misses a trace of this partition."""
    traces = opened((retriever(), 0), (root(), 1))
    assert {PARTITION: root().start} == traces.began()
    assert {} == opened().began()


def test_beyond_the_bytes_of_all_open_traces_the_oldest_close() -> None:
    """Memory is bounded however many traces are open."""
    rules = ClosingRules(total_bytes=250)
    traces = opened(
        (retriever(trace_id="a"), 0), (retriever(trace_id="b"), 0), (retriever(trace_id="c"), 0), rules=rules
    )
    closed = traces.due()
    assert [("a", "cap_bytes")] == [(one.trace_id, one.reason.value) for one in closed]
    traces.forget(closed)
    assert [] == traces.due()
