"""How far a group member is, and what it may commit: never past a message that is not done."""

from faust.types import TP
from hypothesis import given
from hypothesis import strategies as st

from streams.broker.progress import Progress

PLACE = TP("traces", 0)


def progress_with(*offsets: int, begin: int = 0) -> Progress:
    """A partition read from ``begin``, of which these were handed out."""
    progress = Progress()
    progress.begin(PLACE, begin)
    for offset in offsets:
        progress.take(PLACE, offset)
    return progress


def test_what_is_not_done_holds_the_commit() -> None:
    """Even when everything after it is done, and the fetcher is further along."""
    progress = progress_with(0, 1, 2, 3)
    for offset in (1, 2, 3):
        progress.handle(PLACE, offset)
    progress.reach({PLACE: 10}, progress.turn)
    assert {} == progress.due()
    progress.handle(PLACE, 0)
    assert {PLACE: 10} == progress.due()


def test_a_message_that_was_dropped_unread_is_not_committed() -> None:
    """The engine may drop what it was handed; the place stays before it until it is read again."""
    progress = progress_with(59, 60, 73, begin=59)
    progress.handle(PLACE, 73)
    assert {} == progress.due()


def test_markers_behind_the_last_message_are_committed() -> None:
    """Nothing tells of them but the place that the fetcher reached."""
    progress = progress_with(0, 1)
    progress.handle(PLACE, 0)
    progress.handle(PLACE, 1)
    progress.reach({PLACE: 3}, progress.turn)
    assert {PLACE: 3} == progress.due()
    assert 2 == progress.readable_end(PLACE, 3)


def test_a_place_from_before_a_partition_was_begun_counts_nothing() -> None:
    """What was fetched meanwhile may have been thrown away: committing behind it would lose it."""
    progress = Progress()
    turn = progress.turn
    progress.begin(PLACE, 1)
    progress.reach({PLACE: 2}, turn)
    assert {} == progress.due()
    assert progress.readable_end(PLACE, 2) is None


def test_messages_from_before_the_beginning_are_not_handed_out() -> None:
    """A fetch may have been under way; nobody would handle them, and they would hold the commit for ever."""
    progress = progress_with(begin=1)
    assert [False, True, False, True] == [progress.take(PLACE, offset) for offset in (0, 1, 1, 2)]
    progress.handle(PLACE, 1)
    progress.handle(PLACE, 2)
    assert {PLACE: 3} == progress.due()


def test_what_may_have_reached_nobody_is_read_again() -> None:
    """From the first that is not handled on; one that is in hand after all counts when it is done, and once."""
    progress = progress_with(0, 1, 2, 3)
    progress.handle(PLACE, 0)
    progress.handle(PLACE, 2)
    progress.rewind()
    assert {PLACE: 1} == progress.expected()
    assert {PLACE: 1} == progress.due()
    assert progress.readable_end(PLACE, 4) is None
    assert [True, True, True] == [progress.take(PLACE, offset) for offset in (1, 2, 3)]
    progress.handle(PLACE, 1)
    assert {PLACE: 3} == progress.due()


def test_a_place_from_before_it_was_moved_back_counts_nothing() -> None:
    """Everything fetched by then may be among what is read again."""
    progress = progress_with(0)
    turn = progress.turn
    progress.rewind()
    progress.reach({PLACE: 1}, turn)
    assert {} == progress.due()
    assert {PLACE: 0} == progress.expected()


def test_the_end_of_a_partition_that_does_not_answer_is_unknown() -> None:
    """The product may be writing to it all the while."""
    progress = progress_with(0)
    progress.reach({PLACE: 1}, progress.turn)
    assert 1 == progress.readable_end(PLACE, 1)
    progress.reach({}, progress.turn)
    assert progress.readable_end(PLACE, 1) is None


def test_a_new_assignment_forgets_what_was_in_hand() -> None:
    """It is read again from what was committed; late acknowledgements of the old one count nothing."""
    progress = progress_with(5, 6, begin=5)
    progress.begin(PLACE, 5)
    assert {} == progress.due()
    assert {PLACE: 5} == progress.expected()


@given(st.sets(st.integers(0, 60), min_size=1), st.data())
def test_commits_are_behind_the_longest_run_of_done_messages(offsets: set[int], data: st.DataObject) -> None:
    """Whatever is handled in whatever order, with gaps between offsets."""
    ordered = sorted(offsets)
    handled = data.draw(
        st.permutations(ordered).flatmap(lambda all_: st.integers(0, len(all_)).map(lambda n: all_[:n]))
    )
    progress = progress_with(*ordered, begin=0)
    for offset in handled:
        progress.handle(PLACE, offset)
    done = [offset for place, offset in enumerate(ordered) if set(ordered[: place + 1]) <= set(handled)]
    assert ({PLACE: done[-1] + 1} if done else {}) == progress.due()
