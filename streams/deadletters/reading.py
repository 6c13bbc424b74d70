"""Reading ``gw.deadletter`` from a moment on to its present end, without a consumer group, in bounded memory.

The end is what a fetch says it is: the embedded broker answers the question for end offsets wrongly.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime

from aiokafka import TopicPartition
from aiokafka.errors import KafkaError

from schemas.errors import BrokerUnavailable, NotReached
from streams.broker.connection import Connection
from streams.broker.consumer import KafkaConsumer
from streams.broker.lookup import Lookup, partitions_of
from streams.broker.topics import DEADLETTER
from streams.broker.trouble import explained
from streams.deadletters.envelope import Whole, read_letter, read_mark
from streams.deadletters.letters import Letter, Mark, Position
from streams.messages import Message, from_record

CONNECT_SECONDS = 15.0
IDLE_SECONDS = 10.0
"""A partition that gives nothing for so long although it has more is given up: the cluster is not well."""
FETCHED_BYTES = 32_000_000
POLL_MS = 250


@dataclass(slots=True)
class Found:
    """Every letter without its content, oldest first, with when it was replayed; ``foreign`` messages are not ours."""

    letters: list[Letter] = field(default_factory=list)
    foreign: int = 0


async def read_letters(connection: Connection, since: datetime | None = None) -> Found:
    """The letters that were given up at ``since`` or later. Raises BrokerUnavailable, NotReached."""
    found, marks = Found(), dict[str, Mark]()
    async with _consumer(connection) as consumer:
        starts = await _starts(connection, since)
        async for record in _records(consumer, starts):
            whole, mark = read_letter(record), read_mark(record)
            if whole is not None and (since is None or whole.letter.at >= since):
                found.letters.append(whole.letter)
            elif mark is not None:
                marks[mark.letter] = mark
            else:
                found.foreign += whole is None
    found.letters = [
        letter.model_copy(update={"replayed_at": marks[letter.letter].at}) if letter.letter in marks else letter
        for letter in found.letters
    ]
    found.letters.sort(key=lambda letter: (letter.at, letter.letter))
    return found


async def read_whole(connection: Connection, wanted: Collection[Position]) -> AsyncIterator[Whole]:
    """These letters with their content, in the order of the topic; those that are not there (any longer) are left out.

    Raises BrokerUnavailable, NotReached.
    """
    left: dict[int, set[int]] = {}
    for position in wanted:
        left.setdefault(position.partition, set()).add(position.offset)
    async with _consumer(connection) as consumer:
        known = {tp.partition for tp in await _starts(connection, None)}
        for partition in sorted(known & left.keys()):
            offsets = left[partition]
            last = max(offsets)
            async with aclosing(_records(consumer, {TopicPartition(DEADLETTER, partition): min(offsets)})) as records:
                async for record in records:
                    if record.offset in offsets and (whole := read_letter(record)) is not None:
                        yield whole
                    if record.offset >= last:
                        break


@asynccontextmanager
async def _consumer(connection: Connection) -> AsyncIterator[KafkaConsumer]:
    consumer = KafkaConsumer(
        **connection.aiokafka_options(),
        group_id=None,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        fetch_max_bytes=FETCHED_BYTES,
        max_partition_fetch_bytes=FETCHED_BYTES // 4,
    )
    try:
        async with explained(connection):
            async with asyncio.timeout(CONNECT_SECONDS):
                await consumer.start()
            yield consumer
    finally:
        await consumer.stop()


async def _starts(connection: Connection, since: datetime | None) -> dict[TopicPartition, int | None]:
    """Where to begin on each partition, None for its beginning.

    Marks are later than their letters, so reading from a moment on finds those that it needs.
    """
    lookup = Lookup(connection)
    try:
        async with explained(connection):
            cluster = await lookup.cluster()
        if DEADLETTER not in cluster.partitions:
            raise NotReached(f"there is no topic {DEADLETTER}, or our user may not see it; run `groundwatch migrate`")
        places = partitions_of({DEADLETTER: cluster.partitions[DEADLETTER]})
        found: dict[TopicPartition, int] = {}
        if since is not None:
            with suppress(KafkaError):  # the embedded broker cannot look for times; letters are filtered anyway
                found = await lookup.offsets(places, _ms(since))
    finally:
        await lookup.stop()
    return {place: found.get(place) for place in places}


async def _records(consumer: KafkaConsumer, starts: Mapping[TopicPartition, int | None]) -> AsyncGenerator[Message]:
    """Everything from the starts up to the ends as they were when the first answer came."""
    consumer.assign(list(starts))
    for tp, start in starts.items():
        if start is not None:
            consumer.seek(tp, start)
    ends: dict[TopicPartition, int] = {}
    left = set(starts)
    clock = asyncio.get_running_loop().time
    moved_at = clock()
    while left:
        batches = await consumer.getmany(*left, timeout_ms=POLL_MS)
        for tp, records in batches.items():
            ends.setdefault(tp, consumer.highwater(tp) or 0)
            for record in records:
                if record.offset < ends[tp]:
                    yield from_record(record)
        for tp in list(left):
            end = ends.setdefault(tp, high) if (high := consumer.highwater(tp)) is not None else None
            if end is not None and await consumer.position(tp) >= end:
                left.discard(tp)
                consumer.pause(tp)
        moved_at = clock() if batches else moved_at
        if left and clock() - moved_at > IDLE_SECONDS:
            raise BrokerUnavailable(
                f"{DEADLETTER}: {len(left)} partitions gave nothing for {IDLE_SECONDS:.0f} s; see the broker's log"
            )


def _ms(moment: datetime) -> int:
    return max(0, int(moment.timestamp() * 1000))
