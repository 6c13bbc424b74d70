"""Where the partitions of a group begin, and what became of its topics meanwhile; says what was lost, and counts it."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping

import structlog
from aiokafka import TopicPartition
from aiokafka.errors import KafkaError
from faust.types import TP

from streams.broker.connection import Connection
from streams.broker.lookup import BEGINNING, END, Cluster, Lookup
from streams.broker.reading import Because, Begin, Reading, lost_between, where_to_begin

log = structlog.get_logger(__name__)
RETRY_SECONDS = 1.0


class Places:
    """What one member knows of the topics of its group.

    ``pause`` waits for some seconds and is true when the member is to stop.
    """

    def __init__(
        self, group: str, connection: Connection, reading: Reading, pause: Callable[[float], Awaitable[bool]]
    ) -> None:
        self._group = group
        self._reading = reading
        self._pause = pause
        self._lookup = Lookup(connection.named("lookup"))
        self._cluster = Cluster({})
        self._ids: dict[str, bytes] = {}
        self._begun: set[str] = set()
        self._made_anew: set[str] = set()
        self._missing: set[str] = set()
        self._counts_given: dict[str, int] = {}
        self._had_grown = False

    async def close(self) -> None:
        """Disconnect."""
        await self._lookup.stop()

    async def begins(self, committed: Mapping[TP, int | None], names: Iterable[str]) -> dict[TP, Begin]:
        """Where each partition begins that there is; ``names`` are the topics that should be there."""
        found: dict[TP, Begin] = {}
        for tp, (first, end) in (await self._ranges(committed, names)).items():
            planned = self._reading.first_offsets.get(TopicPartition(*tp))
            found[tp] = where_to_begin(committed[tp], first, end, planned, is_anew=tp.topic in self._made_anew)
        topics = {tp.topic for tp in found}
        self._made_anew -= topics
        self._begun |= topics
        self._counts_given = self._counts(topics)
        self._say(found)
        return found

    async def must_join_again(
        self, expected: Mapping[TP, int], gaps: Mapping[TP, tuple[int, int]], names: Iterable[str]
    ) -> tuple[bool, dict[TP, int]]:
        """Whether the member has to give up its partitions and take some again, and where they begin now.

        It has to for a topic that was made anew, and for partitions that nobody has taken up since the last look.
        """
        ranges = await self._ranges(expected, names)
        for tp, (first, _) in ranges.items():
            lost = lost_between(expected[tp], None, first)
            self._say_lost(tp, lost + (lost_between(*gaps[tp], first) if tp in gaps else 0))
        self._made_anew |= {tp.topic for tp, (_, end) in ranges.items() if expected[tp] > end}
        counts = self._counts({tp.topic for tp in ranges})
        has_grown = any(count > self._counts_given.get(topic, count) for topic, count in counts.items())
        must = bool(self._made_anew) or (has_grown and self._had_grown)
        self._had_grown = has_grown and not must
        return must, {tp: first for tp, (first, _) in ranges.items()}

    async def _ranges(self, partitions: Collection[TP], names: Iterable[str]) -> dict[TP, tuple[int, int]]:
        """First offset and end of those partitions that there are."""
        while True:
            try:
                cluster = await self._lookup.cluster()
                there = [TopicPartition(*tp) for tp in partitions if cluster.has(TopicPartition(*tp))]
                firsts, ends = await self._lookup.offsets(there, BEGINNING), await self._lookup.offsets(there, END)
            except KafkaError as error:
                log.warning("topics_not_looked_at", group=self._group, error=type(error).__name__)
                if await self._pause(RETRY_SECONDS):
                    return {}
                continue
            self._note(cluster, names)
            return {TP(*tp): (first, ends[tp]) for tp, first in firsts.items() if tp in ends}

    def _note(self, cluster: Cluster, names: Iterable[str]) -> None:
        self._cluster = cluster
        changed = {topic for topic, topic_id in cluster.ids.items() if self._ids.get(topic, topic_id) != topic_id}
        self._made_anew |= changed & self._begun
        self._ids.update(cluster.ids)
        missing = {name for name in names if name not in cluster.partitions}
        if missing - self._missing:
            fix = "they are read as soon as they are there and our user may describe them"
            log.warning("topics_missing", group=self._group, topics=sorted(missing), fix=fix)
        self._missing = missing

    def _counts(self, topics: Iterable[str]) -> dict[str, int]:
        return {topic: len(self._cluster.partitions.get(topic, ())) for topic in topics}

    def _say(self, begins: Mapping[TP, Begin]) -> None:
        for tp, begin in begins.items():
            self._say_lost(tp, begin.lost)
        for topic in sorted({tp.topic for tp, begin in begins.items() if begin.because is Because.MADE_ANEW}):
            self._reading.losses.made_anew[topic] += 1
            log.warning("topic_made_anew", topic=topic, group=self._group, consequence="read from its beginning")
        fresh = (Because.START, Because.NEW)
        at = {f"{tp.topic}-{tp.partition}": one.offset for tp, one in sorted(begins.items()) if one.because in fresh}
        if at:
            log.info("partitions_begun", group=self._group, at=at)

    def _say_lost(self, tp: TP, lost: int) -> None:
        if lost:
            self._reading.losses.messages[tp.topic] += lost
            log.error(
                "messages_lost",
                topic=tp.topic,
                partition=tp.partition,
                group=self._group,
                at_most=lost,
                cause="retention deleted them before they were read",
                fix="raise the topic's retention, or read faster",
            )
