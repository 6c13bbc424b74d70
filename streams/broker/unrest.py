"""Tells of a group that does not settle, and keeps a member that was thrown out of it from asking all the time."""

from collections import deque
from collections.abc import Callable
from time import monotonic

import structlog

log = structlog.get_logger(__name__)
UNREST_TIMES, UNREST_SECONDS = 8, 180.0
"""So many assignments in so short a time are no rolling restart."""
REFUSED_SECONDS = 1.0
"""Pause after a commit that the group refused, unless partitions are given anew before."""


class Unrest:
    """Counts the assignments of one member of ``group``."""

    def __init__(self, group: str) -> None:
        self._group = group
        self._given_at: deque[float] = deque(maxlen=UNREST_TIMES)

    def assigned(self) -> None:
        """Partitions were given; warns at most once for each ``UNREST_TIMES`` of them."""
        self._given_at.append(monotonic())
        took = self._given_at[-1] - self._given_at[0]
        if len(self._given_at) == UNREST_TIMES and took < UNREST_SECONDS:
            log.warning(
                "group_does_not_settle",
                group=self._group,
                assignments=UNREST_TIMES,
                within_s=round(took),
                fix="see that no two processes have the same instance_id, and that workers do not restart in a loop",
            )
            self._given_at.clear()


class Refusals:
    """Commits that the group refused since we are no member of it any more; only joining again helps."""

    def __init__(self, group: str, clock: Callable[[], float] = monotonic) -> None:
        self._group = group
        self._clock = clock
        self._assignment = -1
        self._at = 0.0

    def may_commit(self, assignment: int) -> bool:
        """Whether to try, with what this assignment, a number that grows, has given us."""
        return assignment != self._assignment or self._clock() - self._at >= REFUSED_SECONDS

    def refused(self, assignment: int) -> None:
        """The group refused; says so once an assignment."""
        if assignment != self._assignment:
            consequence = "this member joins again; what is not committed is handled again, and counted once"
            log.warning("commit_refused", group=self._group, consequence=consequence)
        self._assignment, self._at = assignment, self._clock()
