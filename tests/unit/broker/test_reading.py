"""Where a partition begins, what was lost on the way, and how far it was handled."""

from types import SimpleNamespace

import pytest
from faust.types import TP

from streams.broker.buffer import Buffer
from streams.broker.progress import Progress
from streams.broker.reading import Because, Begin, lost_between, where_to_begin

P = TP("traces", 0)


@pytest.mark.parametrize(
    ("committed", "planned", "is_anew", "expected"),
    [
        pytest.param(7, None, False, Begin(7, Because.COMMITTED), id="goes on"),
        pytest.param(10, None, False, Begin(10, Because.COMMITTED), id="at the end"),
        pytest.param(None, None, False, Begin(3, Because.NEW), id="added since"),
        pytest.param(None, 10, False, Begin(10, Because.START), id="told to begin"),
        pytest.param(None, 1, False, Begin(3, Because.START), id="told before the first that is left"),
        pytest.param(None, 99, False, Begin(10, Because.START), id="told behind the end"),
        pytest.param(5, 10, False, Begin(5, Because.COMMITTED), id="a start acts once"),
        pytest.param(1, None, False, Begin(3, Because.RETENTION, 2), id="retention ran over it"),
        pytest.param(11, None, False, Begin(3, Because.MADE_ANEW), id="beyond the end"),
        pytest.param(7, None, True, Begin(3, Because.MADE_ANEW), id="another topic of that name"),
        pytest.param(None, 10, True, Begin(3, Because.MADE_ANEW), id="another one, told to begin late"),
    ],
)
def test_where_a_partition_begins(
    committed: int | None,
    planned: int | None,
    is_anew: bool,
    expected: Begin,
) -> None:
    """A partition with offsets 3 to 9."""
    assert expected == where_to_begin(committed, 3, 10, planned, is_anew=is_anew)


def test_only_what_lies_before_the_first_offset_is_lost() -> None:
    """A gap that compaction left behind it is none."""
    assert 5 == lost_between(10, None, 15)
    assert 5 == lost_between(10, 15, 15)
    assert 3 == lost_between(10, 13, 15)
    assert 0 == lost_between(10, 15, 2)
    assert 0 == lost_between(10, None, 10)


def test_commits_go_on_behind_markers_once_all_before_is_done() -> None:
    """The engine's own count stops for ever at a gap behind offset 0."""
    progress = Progress()
    progress.begin(P, 0)
    progress.take(P, 0)
    progress.take(P, 4)
    assert {} == progress.due()
    progress.handle(P, 0)
    assert {P: 1} == progress.due()
    progress.reach({P: 6}, progress.turn)
    assert {P: 1} == progress.due()
    progress.handle(P, 4)
    assert {P: 6} == progress.due()
    progress.commit({P: 6})
    assert {} == progress.due()
    assert {P: 6} == progress.expected()


def test_nothing_is_due_of_partitions_that_were_taken_away() -> None:
    """Late acknowledgements of them count for nothing."""
    progress = Progress()
    progress.begin(P, 5)
    progress.take(P, 5)
    progress.forget([P])
    progress.handle(P, 5)
    assert {} == progress.due()


def test_a_partition_is_read_to_its_end_when_nothing_readable_is_left() -> None:
    """Unknown first; the offset behind the last message; 0 when none came since the assignment."""
    progress = Progress()
    progress.begin(P, 5)
    assert progress.readable_end(P, 7) is None
    progress.reach({P: 7}, progress.turn)
    assert 0 == progress.readable_end(P, 7)
    assert progress.readable_end(P, 9) is None
    progress.take(P, 7)
    assert progress.readable_end(P, 9) is None
    progress.reach({P: 9}, progress.turn)
    assert 8 == progress.readable_end(P, 9)
    assert progress.readable_end(P, None) is None
    assert progress.readable_end(TP("other", 0), 1) is None


def test_the_widest_gap_since_the_last_look_is_kept() -> None:
    """It is told once; what was skipped is no gap."""
    progress = Progress()
    progress.begin(P, 0)
    for offset in (0, 3, 4, 90, 92):
        progress.take(P, offset)
    assert {P: (5, 90)} == progress.gaps()
    assert {} == progress.gaps()
    progress.skip_to(P, 100)
    progress.take(P, 100)
    assert {} == progress.gaps()


def test_a_buffer_lets_in_what_it_has_room_for() -> None:
    """What was handled makes room; a value larger than all of it passes alone."""
    held: list[SimpleNamespace] = []
    buffer = Buffer(100, lambda: held)

    def comes(size: int) -> bool:
        is_in = buffer.lets_in(b"x" * size)
        if is_in:
            held.append(SimpleNamespace(value=b"x" * size))
        return is_in

    assert [True, True, False] == [comes(60), comes(40), comes(1)]
    held[0].value = None  # handled, and acknowledged later
    assert [True, False] == [comes(60), comes(1)]
    held.clear()
    assert [True, False] == [comes(500), comes(1)]
    assert buffer.lets_in(None) is False
