"""The engine's Kafka driver with what it has no setting for: set a ``GroupTransport`` as ``app.transport``.

Faust fixes isolation level, fetch sizes and subscription by name; it bounds its buffers by the number of messages
alone; it drops what lies before an offset that it has seen, so that a topic made anew would stand still in silence;
and a consumer whose offset was deleted goes on further along without a word. Its classes are open to being replaced.
"""

from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping
from time import monotonic
from typing import Any

import faust
import structlog
from aiokafka import TopicPartition
from aiokafka.errors import KafkaError
from faust.transport.drivers import aiokafka as driver
from faust.types import TP
from mode import Service

from streams.broker.buffer import Buffer
from streams.broker.connection import Connection
from streams.broker.lookup import BEGINNING, END, Cluster, Lookup
from streams.broker.member import ENGINE_LOG, MemberThread
from streams.broker.progress import Progress
from streams.broker.reading import Because, Begin, Reading, lost_between, where_to_begin

log = structlog.get_logger(__name__)
NOTE_SECONDS = 0.5
"""How often the places that were reached are noted: how fresh the watermarks of idle partitions are."""
RETRY_SECONDS = 1.0
UNREST_TIMES, UNREST_SECONDS = 8, 180.0
"""So many assignments in so short a time are no rolling restart."""
FULL_SECONDS = 0.05
"""How long to wait before looking again whether the buffer has room."""


class GroupTransport(driver.Transport):
    """Makes the consumer of an app; set it before anything else is done with the app."""

    def __init__(self, app: faust.App, connection: Connection, reading: Reading) -> None:
        super().__init__(app.conf.broker_consumer, app)
        self.connection = connection
        self.reading = reading

    def create_consumer(self, callback: Any, **kwargs: Any) -> "GroupConsumer":
        """Called by the app, once."""
        return GroupConsumer(self, callback=callback, loop=self.loop, **kwargs)


class GroupConsumer(driver.Consumer):
    """Reads as ``Reading`` says, begins where ``where_to_begin`` says, and tells what was lost."""

    logger = ENGINE_LOG

    def __init__(self, transport: GroupTransport, **kwargs: Any) -> None:
        self._connection = transport.connection
        self._reading = transport.reading
        self._lookup = Lookup(transport.connection.named("lookup"))
        self._progress = Progress()
        self._buffer = Buffer(self._reading.buffer_bytes, lambda: self.unacked)
        self._made_anew: set[str] = set()
        self._ids: dict[str, bytes] = {}
        self._missing: set[str] = set()
        self._cluster = Cluster({})
        self._counts_given: dict[str, int] = {}
        self._had_grown = False
        self._begun: set[str] = set()
        self._given_at: deque[float] = deque(maxlen=UNREST_TIMES)
        self._noted_at = 0.0
        super().__init__(transport, **kwargs)

    def _new_consumer_thread(self) -> MemberThread:
        self.member = MemberThread(self, self._connection, self._reading, loop=self.loop, beacon=self.beacon)
        return self.member

    async def on_stop(self) -> None:
        """Also close the connection for questions."""
        await super().on_stop()
        await self._lookup.stop()

    def readable_end(self, tp: TP) -> int | None:
        """See ``Progress.readable_end``."""
        return self._progress.readable_end(tp, self.highwater(tp))

    # what the engine calls

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Forget them."""
        self._progress.forget(revoked)
        await super().on_partitions_revoked(revoked)

    async def on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        """Tell the engine of topics that a pattern brought: it hands out messages of topics that it knows by name."""
        for channel in self.app.topics if self._reading.pattern else ():
            unknown = {tp.topic for tp in assigned}.difference(channel.topics)
            channel.topics = [*channel.topics, *sorted(unknown)]
            self.app.topics.acking_topics.update(unknown)
        await super().on_partitions_assigned(assigned, generation_id)

    async def seek_to_committed(self) -> Mapping[TP, int]:
        """Go to where each partition begins, and commit that where it is not what was committed."""
        committed = {TP(*tp): offset for tp, offset in (await super().seek_to_committed()).items()}
        if not self._reading.is_watched:
            for tp, offset in committed.items():
                self._progress.begin(tp, offset or 0)
            return committed
        found = await self._ranges(committed)
        begins: dict[TP, Begin] = {}
        for tp, (first, end) in found.items():
            planned = self._reading.first_offsets.get(TopicPartition(*tp))
            is_anew = tp.topic in self._made_anew
            begins[tp] = where_to_begin(committed[tp], first, end, planned, is_anew=is_anew)
        self._made_anew.difference_update(tp.topic for tp in begins)
        self._begun.update(tp.topic for tp in begins)
        self._counts_given = self._counts_of(begins)
        self._warn_of_unrest()
        await self._go_to(begins)
        return committed | {tp: begin.offset for tp, begin in begins.items()}

    async def getmany(self, timeout: float) -> AsyncIterator[tuple[TP, Any]]:  # noqa: ASYNC109  the engine's signature
        """Messages, no more of them than the buffer has room for."""
        async for tp, message in super().getmany(timeout):
            while not self._buffer.lets_in(message.value):
                await self.sleep(FULL_SECONDS)
                if self.should_stop or not self.flow_active:
                    return
            self._progress.take(tp, message.offset)
            yield tp, message
        if monotonic() - self._noted_at > NOTE_SECONDS:
            self._noted_at = monotonic()
            self._progress.reach(await self.member.positions())

    # looking after the topics

    @Service.task
    async def _look_after(self) -> None:
        while not self.should_stop:
            await self.sleep(self._reading.refresh_seconds)
            if self._reading.is_watched and not self.should_stop and not self.app.rebalancing:
                await self._look()

    async def _look(self) -> None:
        expected = self._progress.expected()
        ranges = await self._ranges(expected)
        self._count_lost({tp: first for tp, (first, _) in ranges.items()}, expected)
        self._made_anew |= {tp.topic for tp, (_, end) in ranges.items() if expected[tp] > end}
        counts = self._counts_of(expected)
        has_grown = any(counts[topic] > self._counts_given.get(topic, counts[topic]) for topic in counts)
        if self._made_anew or (has_grown and self._had_grown):
            await self._join_again()
            has_grown = False
        self._had_grown = has_grown

    async def _join_again(self) -> None:
        """Give up all partitions and take some again: the engine forgets what it knew, and the group looks anew."""
        await self.member.let_go()
        waiting_since = monotonic()
        while self.assignment() or self.app.rebalancing:
            if self.should_stop or monotonic() - waiting_since > self.app.conf.broker_rebalance_timeout:
                break
            await self.sleep(FULL_SECONDS)
        await self.member.subscribe_again()

    def _counts_of(self, partitions: Iterable[TP]) -> dict[str, int]:
        """How many partitions the topics of these have, as far as the cluster was asked."""
        return {tp.topic: len(self._cluster.partitions.get(tp.topic, ())) for tp in partitions}

    def _warn_of_unrest(self) -> None:
        self._given_at.append(monotonic())
        if len(self._given_at) == UNREST_TIMES and self._given_at[-1] - self._given_at[0] < UNREST_SECONDS:
            log.warning(
                "group_does_not_settle",
                group=self.app.conf.id,
                assignments=UNREST_TIMES,
                within_s=round(self._given_at[-1] - self._given_at[0]),
                fix="see that no two processes have the same instance_id, and that workers do not restart in a loop",
            )
            self._given_at.clear()

    async def _ranges(self, partitions: Iterable[TP]) -> dict[TP, tuple[int, int]]:
        """First offset and end of those partitions that there are; notes topics that were made anew or are missing."""
        while True:
            try:
                cluster = await self._lookup.cluster()
                places = [TopicPartition(*tp) for tp in partitions if cluster.has(TopicPartition(*tp))]
                firsts, ends = await self._lookup.offsets(places, BEGINNING), await self._lookup.offsets(places, END)
            except KafkaError as error:
                log.warning("topics_not_looked_at", group=self.app.conf.id, error=type(error).__name__)
                await self.sleep(RETRY_SECONDS)
                if self.should_stop:
                    return {}
                continue
            self._cluster = cluster
            self._note(cluster)
            return {TP(*tp): (first, ends[tp]) for tp, first in firsts.items() if tp in ends}

    def _note(self, cluster: Cluster) -> None:
        changed = {topic for topic, topic_id in cluster.ids.items() if self._ids.get(topic, topic_id) != topic_id}
        self._made_anew |= changed & self._begun
        self._ids.update(cluster.ids)
        missing = {topic for channel in self.app.topics for topic in channel.topics if topic not in cluster.partitions}
        if missing - self._missing:
            log.warning(
                "topics_missing",
                group=self.app.conf.id,
                topics=sorted(missing),
                fix="they are read as soon as they are there and our user may describe them",
            )
        self._missing = missing

    def _count_lost(self, firsts: Mapping[TP, int], expected: Mapping[TP, int]) -> None:
        gaps = self._progress.gaps()
        for tp, first in firsts.items():
            lost = lost_between(expected[tp], None, first)
            if tp in gaps:
                lost += lost_between(*gaps[tp], first)
            if lost:
                self._say_lost(tp, lost)
                self._progress.skip_to(tp, first)

    async def _go_to(self, begins: Mapping[TP, Begin]) -> None:
        """Seek and commit; a commit that comes too late for this assignment is made again at the next."""
        moved = {tp: begin.offset for tp, begin in begins.items() if begin.because is not Because.COMMITTED}
        for tp, begin in begins.items():
            self._progress.begin(tp, begin.offset)
            if tp in moved:
                await self.seek(tp, begin.offset)
            if begin.because is Because.RETENTION:
                self._say_lost(tp, begin.lost)
        for topic in sorted({tp.topic for tp, begin in begins.items() if begin.because is Because.MADE_ANEW}):
            self._reading.losses.made_anew[topic] += 1
            log.warning("topic_made_anew", topic=topic, group=self.app.conf.id, consequence="read from its beginning")
        started = [tp for tp, begin in begins.items() if begin.because in (Because.START, Because.NEW)]
        if started:
            log.info("partitions_begun", group=self.app.conf.id, at=_shown(started, begins))
        if moved:
            await self.member.commit(moved)

    def _say_lost(self, tp: TP, lost: int) -> None:
        self._reading.losses.messages[tp.topic] += lost
        log.error(
            "messages_lost",
            topic=tp.topic,
            partition=tp.partition,
            group=self.app.conf.id,
            at_most=lost,
            cause="retention deleted them before they were read",
            fix="raise the topic's retention, or read faster",
        )


def _shown(partitions: Iterable[TP], begins: Mapping[TP, Begin]) -> dict[str, int]:
    return {f"{tp.topic}-{tp.partition}": begins[tp].offset for tp in sorted(partitions)}
