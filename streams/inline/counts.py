"""What became of checks, counted for metrics; one event loop counts, another thread may read."""

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field

from schemas.labels import Containment, Layer
from streams.inline.reply import CheckReply

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
JUDGED = "judged"


@dataclass(slots=True)
class CheckCounts:
    """``ended`` by decision and by why it was not judged (``judged`` where it was); ``late`` by kind of thread."""

    ended: Counter[tuple[Containment, str]] = field(default_factory=Counter)
    dropped: Counter[Layer] = field(default_factory=Counter)
    histogram: list[int] = field(default_factory=lambda: [0] * (len(SECONDS) + 1))
    seconds: float = 0.0
    in_flight: int = 0

    def add(self, reply: CheckReply) -> None:
        """Count one reply."""
        self.ended[reply.decision, reply.reason.value if reply.reason else JUDGED] += 1
        self.dropped.update(reply.dropped)
        seconds = reply.took_ms / 1000
        self.histogram[bisect_left(SECONDS, seconds)] += 1
        self.seconds += seconds
