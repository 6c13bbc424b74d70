"""Traffic without an intent: how much there is, which topics it comes from, and the page of an alert about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from schemas.alert import Alert
from schemas.tally import Tally
from schemas.trace import UNMAPPED
from streams.store.reports import UnmappedShare


@dataclass(frozen=True, slots=True)
class TopicShare:
    """Traces of one source topic, and those without an intent."""

    topic: str
    traffic: int
    unmapped: int

    @property
    def share(self) -> float:
        """Share without an intent; a topic is here only with traces."""
        return self.unmapped / self.traffic


@dataclass(frozen=True, slots=True)
class UnmappedView:
    """All traffic of some hours, by topic, those with the most unmapped traces first."""

    topics: tuple[TopicShare, ...] = ()

    @property
    def traffic(self) -> int:
        """All traces."""
        return sum(topic.traffic for topic in self.topics)

    @property
    def unmapped(self) -> int:
        """Those without an intent."""
        return sum(topic.unmapped for topic in self.topics)

    @property
    def share(self) -> float | None:
        """Their share; None without any trace."""
        return self.unmapped / self.traffic if self.traffic else None


@dataclass(frozen=True, slots=True)
class UnmappedPage:
    """An alert about traces without an intent; ``view`` is of [``since``, ``until``)."""

    alert: Alert
    view: UnmappedView
    since: datetime
    until: datetime


def share_of(tallies: Sequence[Tally]) -> float:
    """The share of all traffic that has no intent; 0 without any."""
    traffic = sum(tally.traffic for tally in tallies)
    return sum(tally.traffic for tally in tallies if tally.intent == UNMAPPED) / traffic if traffic else 0.0


def unmapped_view(rows: Sequence[UnmappedShare]) -> UnmappedView:
    """The rows summed over their hours."""
    by_topic: dict[str, list[UnmappedShare]] = {}
    for row in rows:
        by_topic.setdefault(row.topic, []).append(row)
    topics = [
        TopicShare(topic, sum(row.traffic for row in same), sum(row.unmapped for row in same))
        for topic, same in by_topic.items()
    ]
    return UnmappedView(tuple(sorted(topics, key=lambda topic: (-topic.unmapped, topic.topic))))
