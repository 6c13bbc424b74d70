"""What becomes of source messages, one row each."""

from datetime import timedelta
from typing import cast

from schemas.span import Span
from streams.agents.arrivals import Arrival, Read, content_hash
from streams.agents.deadletter import DeadLetter
from streams.agents.fates import FateCounts, fates_of
from streams.messages import Message
from streams.store import ExpiredCount, MessageFate, SourceFate, TraceHead
from tests.builders import NOW, trace

TOPIC = "traces"


def message(offset: int, value: bytes = b"x") -> Message:
    """A message of partition 0."""
    return Message(TOPIC, 0, offset, None, value, (), NOW)


def arrival(offset: int, trace_id: str = "t-1", value: bytes = b"x", head: TraceHead | None = None) -> Arrival:
    """A trace in a message."""
    return Arrival(message(offset, value), trace(trace_id), content_hash(value), head)


def head(offset: int) -> TraceHead:
    """What is stored of a trace that a message brought."""
    return TraceHead(
        trace_id="t-1",
        ts=NOW,
        content_hash=content_hash(b"x"),
        stratum="rest",
        inclusion_probability=1.0,
        policy_id="p",
        source_topic=TOPIC,
        source_partition=0,
        source_offset=offset,
    )


def fates(
    *found: Arrival,
    settled: tuple[Arrival, ...] = (),
    letters: tuple[DeadLetter, ...] = (),
    expired: tuple[ExpiredCount, ...] = (),
) -> list[MessageFate]:
    """Of messages with one whole trace each."""
    messages = list({one.message.position: one.message for one in found}.values())
    return fates_of(messages, Read(list(found), [], []), settled, expired, letters)


def kinds(rows: list[MessageFate]) -> list[tuple[SourceFate, int, int, int, int]]:
    """Fate, stored, duplicates, expired, refused of each row."""
    return [(row.fate, row.stored, row.duplicates, row.expired, row.refused) for row in rows]


def test_new_trace_is_stored_and_its_event_time_kept() -> None:
    """The usual case."""
    one = arrival(5)
    rows = fates(one, settled=(one,))
    assert [(SourceFate.STORED, 1, 0, 0, 0)] == kinds(rows)
    assert (TOPIC, 0, 5, one.trace.ts) == (rows[0].topic, rows[0].partition, rows[0].offset, rows[0].oldest_ts)


def test_same_message_again_is_still_stored_and_another_with_the_same_trace_a_duplicate() -> None:
    """The message that brought the trace first keeps its fate however often it comes."""
    again, copy = arrival(5, head=head(5)), arrival(9, head=head(5))
    assert [(SourceFate.STORED, 1, 0, 0, 0)] == kinds(fates(again, settled=(again,)))
    assert [(SourceFate.DUPLICATE, 0, 1, 0, 0)] == kinds(fates(copy, settled=(copy,)))


def test_second_copy_in_one_batch_is_a_duplicate() -> None:
    """The first one is stored."""
    first, second = arrival(5), arrival(6)
    assert [SourceFate.STORED, SourceFate.DUPLICATE] == [row.fate for row in fates(first, second, settled=(first,))]


def test_message_that_comes_again_behind_a_copy_is_still_the_stored_one() -> None:
    """After a kill partitions may be read in another order; the fates must not depend on it."""
    copy, first = arrival(3, head=head(5)), arrival(5)
    assert [SourceFate.DUPLICATE, SourceFate.STORED] == [row.fate for row in fates(copy, first, settled=(copy,))]


def test_head_of_an_older_version_names_no_message() -> None:
    """Then a message that comes again is taken to be the one that brought it."""
    old = arrival(5, head=head(5).model_copy(update={"source_offset": -1}))
    assert [SourceFate.STORED] == [row.fate for row in fates(old, settled=(old,))]


def test_other_content_under_a_known_id_is_refused() -> None:
    """It is in the dead letter, and the first one stays."""
    first, other = arrival(5), arrival(6, value=b"y")
    letter = DeadLetter(other.message, "duplicate_id", "", "ingest")
    assert [(SourceFate.STORED, 1, 0, 0, 0), (SourceFate.DEAD_LETTER, 0, 0, 0, 1)] == kinds(
        fates(first, other, settled=(first,), letters=(letter,))
    )


def test_row_that_the_store_refuses_is_not_stored() -> None:
    """It was admitted, and the store said no."""
    one = arrival(5)
    letter = DeadLetter(one.message, "row_rejected", "", "ingest")
    assert [(SourceFate.DEAD_LETTER, 0, 0, 0, 1)] == kinds(fates(one, settled=(one,), letters=(letter,)))


def test_old_trace_is_expired() -> None:
    """By its own time, or by the time it was first stored with."""
    one, moved = arrival(5), arrival(6, "t-2")
    settled = arrival(6, "t-2")
    settled = Arrival(settled.message, settled.trace.model_copy(update={"ts": NOW - timedelta(days=99)}), "h")
    expired = (
        ExpiredCount(trace_id="t-1", ts=one.trace.ts),
        ExpiredCount(trace_id="t-2", ts=NOW - timedelta(days=99)),
    )
    rows = fates(one, moved, settled=(settled,), expired=expired)
    assert [(SourceFate.EXPIRED, 0, 0, 1, 0)] * 2 == kinds(rows)


def test_message_without_a_trace_is_what_it_held() -> None:
    """Spans, a judge's own calls, or nothing; what cannot be read is a dead letter and no trace was refused."""
    messages = [message(offset) for offset in range(4)]
    unread = DeadLetter(messages[3], "not_json", "", "ingest")
    read = Read([], [(messages[0], ())], [unread], evaluator_positions=frozenset({messages[1].position}))
    read.spans[0] = (messages[0], cast("tuple[Span, ...]", (None,)))  # only their number counts
    rows = fates_of(messages, read, [], [], [unread])
    assert [SourceFate.SPANS, SourceFate.EVALUATOR, SourceFate.IGNORED, SourceFate.DEAD_LETTER] == [
        row.fate for row in rows
    ]
    assert [0, 0, 0, 0] == [row.refused for row in rows]


def test_message_of_several_traces_counts_each() -> None:
    """One new, one known from another message, one that cannot be read: the message is in the dead letter."""
    new, known = arrival(5, "t-1"), arrival(5, "t-2", head=head(3))
    letter = DeadLetter(new.message, "wrong_type", "", "ingest")
    read = Read([new, known], [], [letter])
    rows = fates_of([new.message], read, [new, known], [], [letter])
    assert [(SourceFate.DEAD_LETTER, 1, 1, 0, 0)] == kinds(rows)


def test_counts_since_the_start_give_the_share_of_dead_letters() -> None:
    """By topic, of its last messages."""
    counts = FateCounts()
    one, bad = arrival(5), arrival(6, value=b"y")
    letter = DeadLetter(bad.message, "row_rejected", "", "ingest")
    counts.add(fates(one, bad, settled=(one,), letters=(letter,)))
    assert {TOPIC: 0.5} == counts.dead_shares()
    assert 1 == counts.messages[TOPIC, SourceFate.DEAD_LETTER]
    assert (1, 1) == (counts.traces[TOPIC, SourceFate.STORED], counts.traces[TOPIC, SourceFate.DEAD_LETTER])
