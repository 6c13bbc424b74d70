"""True lag as values: what the broker has against what a group has committed, by partition and topic. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from streams.agents.vitals import Partition

_MS = 1000


@dataclass(frozen=True, slots=True)
class Place:
    """One partition: ``begin`` and ``end`` of its log, and what the group has committed, None for nothing yet.

    ``start`` is where this process has not handled further, ``oldest_ms`` the record time of the first message from
    there on, None when there is none or nobody looked. Partitions of others have no ``start``.
    """

    begin: int
    end: int
    committed: int | None = None
    start: int | None = None
    oldest_ms: int | None = None

    @property
    def next_committed(self) -> int:
        """Where the group goes on: a place that was deleted since is the beginning of what is left."""
        return max(self.begin, self.committed or 0)

    @property
    def lag(self) -> int:
        """Messages that the group has not committed."""
        return max(0, self.end - self.next_committed)

    @property
    def unread(self) -> int:
        """Messages that this process has not handled; 0 for a partition of another."""
        return 0 if self.start is None else max(0, self.end - self.start)

    def of_ours(self, handled: int | None) -> "Place":
        """The partition as this process reads it: it has handled up to there, None for nothing since it has it.

        What lies behind the end was handled of an older topic of that name.
        """
        known = 0 if handled is None or handled > self.end else handled
        return replace(self, start=max(self.next_committed, known))

    def looked_into(self, oldest_ms: int | None) -> "Place":
        """With the record time of the first message that was found from ``start`` on.

        None: there is none, so what is left are no messages (markers of transactions), and ``end`` is taken back.
        """
        if oldest_ms is None and self.start is not None:
            return replace(self, end=self.start)
        return replace(self, oldest_ms=oldest_ms)


@dataclass(frozen=True, slots=True)
class GroupLag:
    """All partitions of a group's topics at ``at`` (monotonic seconds)."""

    at: float
    places: Mapping[Partition, Place] = field(default_factory=dict)

    @property
    def unread(self) -> int:
        """Messages on this process's partitions that it has not handled."""
        return sum(place.unread for place in self.places.values())

    def by_topic(self) -> dict[str, int]:
        """Lag of each topic."""
        found: dict[str, int] = {}
        for (topic, _), place in self.places.items():
            found[topic] = found.get(topic, 0) + place.lag
        return found

    def oldest_seconds(self, now_seconds: float) -> dict[str, float]:
        """By topic the age in seconds of the oldest message that waits for this process, 0 for none.

        ``now_seconds`` since 1970; a record time to come counts as 0.
        """
        found: dict[str, float] = {}
        for (topic, _), place in self.places.items():
            age = max(0.0, now_seconds - place.oldest_ms / _MS) if place.oldest_ms is not None else 0.0
            found[topic] = max(found.get(topic, 0.0), age)
        return found
