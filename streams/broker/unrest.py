"""Tells of a group that does not settle: its members are given partitions again and again."""

from collections import deque
from time import monotonic

import structlog

log = structlog.get_logger(__name__)
UNREST_TIMES, UNREST_SECONDS = 8, 180.0
"""So many assignments in so short a time are no rolling restart."""


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
