"""A member that is not in its group any more asks once a second, and says so once."""

from structlog.testing import capture_logs

from streams.broker.unrest import REFUSED_SECONDS, Refusals


def test_a_refused_commit_is_not_tried_again_at_once() -> None:
    """Only joining again helps; each of the many tries would be an error in the client's log."""
    now = [100.0]
    refusals = Refusals("groundwatch.ingest", lambda: now[0])
    assert refusals.may_commit(1)
    with capture_logs() as logs:
        refusals.refused(1)
        assert not refusals.may_commit(1)
        now[0] += REFUSED_SECONDS
        assert refusals.may_commit(1)
        refusals.refused(1)
    assert [("commit_refused", "groundwatch.ingest")] == [(line["event"], line["group"]) for line in logs]


def test_partitions_that_are_given_anew_may_be_committed_at_once() -> None:
    """We are a member again; when that ends, it is said again."""
    refusals = Refusals("groundwatch.ingest", lambda: 100.0)
    with capture_logs() as logs:
        refusals.refused(1)
        assert refusals.may_commit(2)
        refusals.refused(2)
    assert 2 == len(logs)
