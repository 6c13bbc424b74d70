"""What became of source messages, as every store keeps it: memory, embedded engine and a server over HTTP alike."""

from datetime import timedelta
from typing import Any

import pytest

from schemas.labels import Outcome
from schemas.trace import Source
from streams.store import FateCounts, MessageFate, SourceFate, Store, Stretch, TraceHead, TraceStates, UnstoredTrace
from tests.builders import NOW, draw, drawn_trace, trace, verdict
from tests.fakes_store import MemoryStore

Subject = MemoryStore | Store
LATER = NOW + timedelta(seconds=10)
HOUR = timedelta(hours=1)


def fate(offset: int, kind: SourceFate = SourceFate.STORED, **fields: Any) -> MessageFate:
    """What became of a message of partition 0."""
    given = {"topic": "traces", "partition": 0, "recorded_at": NOW, "stored": int(kind is SourceFate.STORED), **fields}
    if given["stored"]:
        given.setdefault("oldest_ts", NOW)
    return MessageFate(offset=offset, fate=kind, **given)


def all_of(store: Subject, first: int = 0, end: int = 100) -> dict[SourceFate, FateCounts]:
    """Counts of the partition."""
    return store.fates.counts(Stretch("traces", 0, first, end), since=NOW - HOUR, kept_since=NOW - HOUR)


def test_message_that_comes_again_counts_once(store: Subject) -> None:
    """By its position, whatever the batches."""
    store.fates.insert([fate(0), fate(1)], NOW)
    store.fates.insert([fate(1), fate(2, SourceFate.IGNORED)], LATER)
    assert {
        SourceFate.STORED: FateCounts(messages=2, stored=2, kept=2),
        SourceFate.IGNORED: FateCounts(messages=1),
    } == all_of(store)


def test_topic_made_anew_replaces_what_was_known(store: Subject) -> None:
    """The later row of a position counts."""
    store.fates.insert([fate(0)], NOW)
    store.fates.insert([fate(0, SourceFate.DEAD_LETTER, refused=1)], LATER)
    assert {SourceFate.DEAD_LETTER: FateCounts(messages=1, refused=1)} == all_of(store)


def test_stretch_bounds_what_is_counted(store: Subject) -> None:
    """From the first offset on, before the end, on that partition."""
    store.fates.insert([fate(offset) for offset in range(10)] + [fate(3, partition=1)], NOW)
    assert {SourceFate.STORED: FateCounts(messages=4, stored=4, kept=4)} == all_of(store, 3, 7)


def test_traces_near_the_end_of_retention_are_told_apart(store: Subject) -> None:
    """The store may have dropped them already."""
    store.fates.insert([fate(0), fate(1, oldest_ts=NOW - 2 * HOUR)], NOW)
    assert (2, 1) == (all_of(store)[SourceFate.STORED].stored, all_of(store)[SourceFate.STORED].kept)


def test_gaps_are_the_offsets_of_which_nothing_is_known(store: Subject) -> None:
    """At the beginning, in the middle and at the end."""
    store.fates.insert([fate(offset) for offset in (2, 3, 7)], NOW)
    assert [(0, 1), (4, 6), (8, 9)] == store.fates.gaps(Stretch("traces", 0, 0, 10), limit=9)
    assert [(0, 1)] == store.fates.gaps(Stretch("traces", 0, 0, 10), limit=1)
    assert [] == store.fates.gaps(Stretch("traces", 0, 2, 4), limit=9)
    assert [(0, 4)] == store.fates.gaps(Stretch("other", 0, 0, 5), limit=9)


def test_what_a_person_skips_has_a_row_and_what_was_handled_keeps_its_own(store: Subject) -> None:
    """Skipping the same again changes nothing; a message that is read after all replaces its row.

    Rows of dead letters are replaced: at the ceiling, rows are written and the letters are not.
    """
    store.fates.insert([fate(2), fate(4, SourceFate.DEAD_LETTER)], NOW)
    for _ in range(2):
        store.fates.skip(Stretch("traces", 0, 1, 5), LATER)
    store.fates.skip(Stretch("traces", 0, 7, 7), LATER)
    assert [(0, 0), (5, 99)] == store.fates.gaps(Stretch("traces", 0, 0, 100), limit=9)
    assert (3, 1) == (all_of(store)[SourceFate.SKIPPED].messages, all_of(store)[SourceFate.STORED].messages)
    assert {("traces", 0): 1} == store.fates.starts(LATER - HOUR)
    store.fates.insert([fate(3)], LATER + HOUR)
    assert (2, 2) == (all_of(store)[SourceFate.SKIPPED].messages, all_of(store)[SourceFate.STORED].messages)


def test_starts_are_the_first_offsets_since_a_moment(store: Subject) -> None:
    """By topic and partition."""
    rows = [fate(4), fate(2, recorded_at=NOW - HOUR), fate(9, partition=1), fate(1, topic="more")]
    store.fates.insert(rows, NOW)
    assert {("traces", 0): 4, ("traces", 1): 9, ("more", 0): 1} == store.fates.starts(NOW)
    assert 2 == store.fates.starts(NOW - HOUR)["traces", 0]


def test_record_time_beyond_all_calendars_is_kept_as_late(store: Subject) -> None:
    """A producer may set it to anything."""
    store.fates.insert([fate(0, recorded_at=NOW.replace(year=9999))], NOW)
    assert {("traces", 0): 0} == store.fates.starts(NOW)


def _trace(number: int, *, is_drawn: bool, topic: str = "traces", revision: int = 1) -> Any:
    source = Source(topic=topic, partition=0, offset=number, recorded_at=NOW)
    made = draw(drawn=is_drawn, u=0.2 if is_drawn else 0.9, inclusion_probability=0.5, min_probability=0.5)
    one = trace(f"t-{number}", ts=NOW + timedelta(hours=20 * number), source=source, revision=revision)
    return drawn_trace(draw=made).model_copy(update={"trace": one})


def _verdict(number: int, outcome: Outcome, revision: int = 1) -> Any:
    ts = NOW + timedelta(hours=20 * number)
    return verdict(f"t-{number}", ts=ts, verified_at=ts, outcome=outcome, revision=revision)


def test_draws_are_counted_by_what_became_of_them(store: Subject) -> None:
    """All = drawn + the rest; drawn = judged + errors + unresolved + pending; over several days of event time."""
    store.insert_traces([_trace(number, is_drawn=number < 5) for number in range(7)])
    store.insert_traces([_trace(4, is_drawn=True, revision=2)])
    store.insert_verdicts(
        [
            _verdict(0, Outcome.GROUNDED),
            _verdict(1, Outcome.ERROR_TIMEOUT),
            _verdict(2, Outcome.UNRESOLVED_NO_ANSWER),
            _verdict(4, Outcome.GROUNDED),  # on the first revision, and there is a second one
        ]
    )
    states = store.fates.states(NOW, kept_since=NOW + HOUR)
    expected = TraceStates(stored=7, kept=6, drawn=5, judged=1, errors=1, unresolved=1, pending=2)
    assert {"traces": expected} == states
    assert {"t-3", "t-4"} == store.fates.pending_ids(NOW, limit=9)
    assert {} == store.fates.states(NOW + HOUR, kept_since=NOW)


def test_traces_that_closed_without_an_answer_count_once_unless_they_are_stored_later(store: Subject) -> None:
    """Late spans may make an answer of them."""
    gone = [UnstoredTrace(trace_id=f"t-{number}", topic="traces", fate="no_answer") for number in (0, 1, 1)]
    dead = UnstoredTrace(trace_id="x", topic="traces", fate="dead_letter")
    store.fates.insert_unstored([*gone, dead], NOW)
    assert {"traces": TraceStates(no_answer=2, dead_letter=1)} == store.fates.states(NOW, kept_since=NOW)
    row = _trace(0, is_drawn=False)
    store.insert_traces([row])
    store.insert_heads([_head("t-0")])
    assert {"traces": TraceStates(stored=1, kept=1, no_answer=1, dead_letter=1)} == store.fates.states(
        NOW, kept_since=NOW
    )


def _head(trace_id: str, **fields: Any) -> TraceHead:
    given = {"ts": NOW, "content_hash": "h", "stratum": "rest", "inclusion_probability": 0.5, "policy_id": "p"}
    return TraceHead(trace_id=trace_id, **{**given, **fields})


@pytest.mark.parametrize("position", [("traces", 3, 17), ("", -1, -1)])
def test_head_keeps_the_message_that_it_came_from(store: Subject, position: tuple[str, int, int]) -> None:
    """Or none, as those of older versions."""
    topic, partition, offset = position
    head = _head("t-1", source_topic=topic, source_partition=partition, source_offset=offset)
    store.insert_heads([head])
    assert {"t-1": head} == store.heads(["t-1"])
