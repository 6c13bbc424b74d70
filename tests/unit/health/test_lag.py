"""True lag: what a group has not committed, what a process has not handled, and how old that is."""

from streams.health.lag import GroupLag, Place


def test_lag_is_what_was_not_committed() -> None:
    """Of a group without offsets, everything that is there."""
    assert (6, 10, 0) == (Place(0, 10, 4).lag, Place(0, 10).lag, Place(0, 10, 10).lag)


def test_deleted_messages_are_no_lag() -> None:
    """Retention has taken them; a place beyond the end is of an older topic of that name."""
    assert 3 == Place(7, 10, 2).lag
    assert 0 == Place(0, 10, 500).lag


def test_unread_is_what_was_not_handled_here() -> None:
    """Handled and not yet acknowledged is lag, but nobody has to work on it."""
    held = Place(0, 10, 2).of_ours(9)
    assert (8, 1) == (held.lag, held.unread)
    assert 0 == Place(0, 10, 2).unread, "a partition of another"


def test_what_others_committed_was_handled() -> None:
    """A partition that comes back: what we handled before is old news."""
    assert 0 == Place(0, 200, 200).of_ours(100).unread


def test_position_of_an_older_topic_of_that_name_says_nothing() -> None:
    """It was made anew and is shorter."""
    assert 10 == Place(0, 10, None).of_ours(500).unread


def test_places_without_a_message_are_no_lag() -> None:
    """Markers of transactions take offsets; somebody looked, and nothing is there."""
    looked = Place(0, 16, 15).of_ours(15).looked_into(None)
    assert (0, 0) == (looked.lag, looked.unread)
    held = Place(0, 16, 3).of_ours(15).looked_into(None)
    assert (12, 0) == (held.lag, held.unread)


def test_topics_add_their_partitions_up_and_show_the_oldest() -> None:
    """A record time to come is no negative age."""
    lag = GroupLag(
        0.0,
        {
            ("a", 0): Place(0, 10, 4).of_ours(4).looked_into(70_000),
            ("a", 1): Place(0, 10, 9).of_ours(9).looked_into(95_000),
            ("b", 0): Place(0, 2, 1).of_ours(1).looked_into(900_000),
            ("c", 0): Place(0, 2, 2),
        },
    )
    assert {"a": 7, "b": 1, "c": 0} == lag.by_topic()
    assert {"a": 30.0, "b": 0.0, "c": 0.0} == lag.oldest_seconds(100.0)
    assert 8 == lag.unread
