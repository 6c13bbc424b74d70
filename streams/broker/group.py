"""The engine's Kafka driver with what it has no setting for (``streams.broker.transport`` makes it).

Faust fixes isolation level, fetch sizes and subscription by name; it bounds its buffers by the number of messages
alone; it stops committing at a gap that a transaction's marker leaves behind the first message; it drops what lies
before an offset that it has seen, so that a topic made anew would stand still in silence; and it goes on further along
without a word when what comes next was deleted. Its classes are open to being replaced: here are public methods of
them, and two factories of the pinned version.
"""

import asyncio
import gc
from collections.abc import AsyncIterator, Mapping
from time import monotonic
from typing import Any
from weakref import WeakSet

import structlog
from aiokafka.errors import KafkaError
from faust.transport.drivers import aiokafka as driver
from faust.types import TP, Message
from mode import Service

from streams.broker.buffer import Buffer
from streams.broker.connection import Connection
from streams.broker.member import ENGINE_LOG, MemberThread
from streams.broker.places import Places
from streams.broker.progress import Progress
from streams.broker.reading import Because, Begin, Reading
from streams.broker.unrest import Refusals, Unrest

log = structlog.get_logger(__name__)
NOTE_SECONDS = 0.5
"""How often the places that were reached are noted: how fresh the watermarks of idle partitions are."""
PAUSE_SECONDS = 0.05
COLLECT_EVERY = 20


class GroupConsumer(driver.Consumer):
    """Reads as ``Reading`` says, begins where ``where_to_begin`` says, and tells what was lost.

    Messages of a partition must be acknowledged in the order of their offsets.
    """

    logger = ENGINE_LOG

    def __init__(self, transport: driver.Transport, connection: Connection, reading: Reading, **kwargs: Any) -> None:
        self._connection = connection
        self._reading = reading
        self._progress = Progress()
        self._unhandled: WeakSet[Message] = WeakSet()
        self._buffer = Buffer(reading.buffer_bytes, lambda: self._unhandled)
        self._places = Places(transport.app.conf.id, connection, reading, self._pause)
        self._seeking = asyncio.Lock()
        self._assignments = self._sought = 0
        self._stops = self._settled = 0
        self._noted_at = 0.0
        self._unrest = Unrest(transport.app.conf.id)
        self._refusals = Refusals(transport.app.conf.id)
        super().__init__(transport, **kwargs)

    def _new_consumer_thread(self) -> MemberThread:
        self.member = MemberThread(self, self._connection, self._reading, loop=self.loop, beacon=self.beacon)
        return self.member

    def readable_end(self, tp: TP) -> int | None:
        """See ``Progress.readable_end``."""
        return self._progress.readable_end(tp, self.highwater(tp))

    async def on_stop(self) -> None:
        """Also close the connection for questions."""
        await super().on_stop()
        await self._places.close()

    def close(self) -> None:
        """Nothing: the thread closes its client at its own stop.

        The engine calls this when partitions are shared out while it stops, and would close the client's connections
        from another thread: nobody could leave the group any more, and the process might crash.
        """

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Commit what is done, and forget them."""
        await self.commit()
        await super().on_partitions_revoked(revoked)
        self._progress.forget(revoked)

    async def on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        """Hand out nothing until it is known where each begins; the engine stops only where something was taken away.

        Also tell it of topics that a pattern brought: it hands out messages of topics that it knows by name.
        """
        self._assignments += 1
        self.stop_flow()
        self._unrest.assigned()
        for channel in self.app.topics if self._reading.pattern else ():
            unknown = {tp.topic for tp in assigned}.difference(channel.topics)
            channel.topics = [*channel.topics, *sorted(unknown)]
            self.app.topics.acking_topics.update(unknown)
        await super().on_partitions_assigned(assigned, generation_id)

    def stop_flow(self) -> None:
        """Called at each rebalance: what was fetched before is thrown away, here or in the engine."""
        self._stops += 1
        super().stop_flow()

    def resume_flow(self) -> None:
        """Called right after the engine emptied its queues, for an assignment that is over already as well.

        What was handed out since the partitions were begun, and is not handled, may have been in them.
        """
        self._stops += 1
        self._progress.rewind()
        super().resume_flow()

    async def perform_seek(self) -> None:
        """Called when partitions are new, and by a reader that finds the flow stopped: once an assignment.

        The reader's would otherwise end while messages flow already, and set them back to where they began; what the
        reader threw away meanwhile is fetched again by ``_go_back``.
        """
        async with self._seeking:
            assignment = self._assignments
            if self._sought != assignment:
                await super().perform_seek()
                self._sought = assignment

    async def _go_back(self) -> bool:
        """Before anything is handed out after a stop of the flow: to the next offsets to hand out.

        Messages may have been fetched and thrown away while the flow was stopped; without this they would be passed
        over. False when the partitions are being shared out once more.
        """
        if not self.flow_active:
            await self.wait(self.can_resume_flow.wait())
        stops = self._stops
        async with self._seeking:
            try:
                for tp, offset in self._progress.expected().items():
                    await self.seek(tp, offset)
            except KafkaError as error:  # taken away meanwhile
                log.info("partitions_moved", group=self.app.conf.id, error=type(error).__name__)
                return False
        self._settled = stops
        return True

    async def seek_to_committed(self) -> Mapping[TP, int]:
        """Go to where each partition begins, and commit that where it is not what was committed."""
        committed = {TP(*tp): offset for tp, offset in (await super().seek_to_committed()).items()}
        begins: dict[TP, Begin] = {}
        if self._reading.is_watched:
            begins = await self._places.begins(committed, self._names())
        moved = {tp: begin.offset for tp, begin in begins.items() if begin.because is not Because.COMMITTED}
        at = {tp: begins[tp].offset if tp in begins else offset or 0 for tp, offset in committed.items()}
        for tp, offset in at.items():
            self._progress.begin(tp, offset)
        for tp, offset in moved.items():
            await self.seek(tp, offset)
        if moved:
            await self.member.commit(moved)
        return {tp: at[tp] if tp in begins else offset for tp, offset in committed.items()}

    async def getmany(self, timeout: float) -> AsyncIterator[tuple[TP, Any]]:  # noqa: ASYNC109  the engine's signature
        """Messages, no more of them than the buffer has room for; none that was fetched before the flow was stopped."""
        if self._settled != self._stops and not await self._go_back():
            return
        turn = self._progress.turn
        async for tp, message in super().getmany(timeout):
            while self._settled == self._stops and not self._buffer.lets_in(message.value):
                await self.sleep(PAUSE_SECONDS)
                if self.should_stop:
                    return
            if self._settled != self._stops:
                return
            if self._progress.take(tp, message.offset):
                self._unhandled.add(message)
                yield tp, message
        if self._settled == self._stops and monotonic() - self._noted_at > NOTE_SECONDS:
            self._noted_at = monotonic()
            positions = await self.member.positions()
            if self._settled == self._stops:  # not stopped meanwhile: all before these places was handed out
                self._progress.reach(positions, turn)

    def ack(self, message: Message) -> bool:
        """The message is done, and all before it; one of an earlier assignment does not count, it is read again."""
        if message.acked:
            return False
        message.acked = True
        self.unacked.discard(message)
        self._unhandled.discard(message)
        if getattr(message, "generation_id", None) == self.app.consumer_generation_id:
            self._progress.handle(message.tp, message.offset)
        return True

    async def force_commit(self, topics: Any = None, start_new_transaction: bool = True) -> bool:
        """Commit up to what is done, for all topics or some; false when there was nothing new."""
        del start_new_transaction
        state = self.app.sensors.on_commit_initiated(self)
        due = {tp: at for tp, at in self._progress.due().items() if topics is None or {tp, tp.topic} & set(topics)}
        assignment = self._assignments
        may_commit = bool(due) and self._refusals.may_commit(assignment)
        did_commit = may_commit and await self.member.commit(due)
        if may_commit and not did_commit and not self.should_stop:
            self._refusals.refused(assignment)
        if did_commit:
            self._progress.commit(due)
            self.app.monitor.on_tp_commit(due)
        self.app.sensors.on_commit_completed(self, state)
        return did_commit

    async def wait_empty(self) -> None:
        """Wait until what agents have in hand is done, and commit."""
        looks = 0
        while self.unacked and not self.should_stop:
            await self.commit()
            await self.sleep(PAUSE_SECONDS)
            looks += 1
            if looks % COLLECT_EVERY == 0:
                gc.collect()  # what was dropped unread may be held by a cycle
        await self.commit()

    @Service.task
    async def _look_after(self) -> None:
        while not await self._pause(self._reading.refresh_seconds):
            if self._reading.is_watched and not self.app.rebalancing:
                expected, gaps = self._progress.expected(), self._progress.gaps()
                must_join, firsts = await self._places.must_join_again(expected, gaps, self._names())
                for tp, first in firsts.items():
                    self._progress.skip_to(tp, first)
                if must_join:
                    await self._join_again()

    async def _join_again(self) -> None:
        """Give up all partitions and take some again: the engine forgets what it knew, and the group looks anew."""
        await self.member.let_go()
        waiting_since = monotonic()
        while self.assignment() or self.app.rebalancing:
            if await self._pause(PAUSE_SECONDS):
                return
            if monotonic() - waiting_since > self.app.conf.broker_rebalance_timeout:
                break
        await self.member.subscribe_again()

    async def _pause(self, seconds: float) -> bool:
        await self.sleep(seconds)
        return bool(self.should_stop)

    def _names(self) -> set[str]:
        return {topic for channel in self.app.topics for topic in channel.topics}
