"""A bounded sample of topics, read without a consumer group: assigned partitions and offsets, nothing joined or kept.

Metadata is asked for all topics at once, since asking for one that is missing makes it on brokers that create topics
by themselves.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError, UnsupportedVersionError

from schemas.errors import BrokerUnavailable
from streams.attach.refusals import explained, missing, nothing_there
from streams.attach.sample import Sample, spread
from streams.attach.slices import Offsets, Slice, newest, oldest
from streams.attach.topic_facts import configured, counted
from streams.broker import odd_headers
from streams.broker.client_log import overheard
from streams.broker.connection import Connection
from streams.broker.consumer import KafkaConsumer
from streams.clock import utc_now
from streams.messages import Message, from_record

CONNECT_SECONDS = 15.0
IDLE_SECONDS = 5.0
"""Partitions that give nothing for so long have only markers of transactions left."""
FETCHED_BYTES = 32_000_000
"""Roughly what all partitions may hold in memory together, beside what was taken."""
CLIENT_ID = "groundwatch-attach"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BEGINNING = _EPOCH
"""Start of a sample of the oldest messages."""
_POLL_MS = 500
_LEAST_FETCH, _MOST_FETCH = 64_000, 1_000_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """``start`` is None for the newest messages, else the time from which on they are taken."""

    count: int = 500
    start: datetime | None = None
    max_bytes: int = 64_000_000
    seconds: float = 25.0


async def read_topics(connection: Connection, topics: Sequence[str], wanted: Wanted) -> Sample:
    """The sample: about ``wanted.count`` messages, never more, of one stretch of time over all partitions.

    Stops at ``max_bytes`` or after ``seconds`` with what it has, and says so in a note. Raises BrokerUnavailable when
    the cluster does not answer, NotReached for a topic that is missing, empty or not ours to read.
    """
    odd_headers.install()
    began = asyncio.get_running_loop().time()
    with overheard() as said:
        try:
            sample = await _read(connection, topics, wanted, began + wanted.seconds)
        except KafkaError as error:
            raise explained(error, connection.bootstrap_servers, topics, said) from error
    return replace(sample, seconds=asyncio.get_running_loop().time() - began)


async def _read(connection: Connection, topics: Sequence[str], wanted: Wanted, deadline: float) -> Sample:
    options = {**connection.aiokafka_options(), "client_id": CLIENT_ID}
    servers = connection.bootstrap_servers
    async with _started(AIOKafkaAdminClient(**options), "close", servers) as admin:
        partitions = _partitions(await admin.describe_topics(), topics, servers)
        async with _started(_consumer(options, len(partitions)), "stop", servers) as consumer:
            begins = await consumer.beginning_offsets(partitions)
            ends = await consumer.end_offsets(partitions)
            taken = await _slice(consumer, begins, ends, wanted, utc_now())
            _require_any(topics, begins, ends, taken)
            reading = _Reading(consumer, taken, ends, wanted, deadline)
            await reading.run()
            last = max((message.recorded_at for message in reading.messages), default=None)
            counts = await counted(consumer, ends, last)
        facts = await configured(admin, topics, begins, ends, counts)
    messages = sorted(reading.messages, key=lambda message: message.position)
    return Sample(tuple(messages), facts, tuple(reading.notes), since=taken.since)


@asynccontextmanager
async def _started(client: Any, stop: str, servers: str) -> AsyncIterator[Any]:
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            await client.start()
    except TimeoutError as error:
        await getattr(client, stop)()
        raise BrokerUnavailable(
            f"{servers} did not answer within {CONNECT_SECONDS:.0f} s; check host, port and firewall, and "
            "kafka.source.ssl if the listener encrypts"
        ) from error
    except KafkaError:
        await getattr(client, stop)()
        raise
    try:
        yield client
    finally:
        await getattr(client, stop)()


def _consumer(options: Mapping[str, Any], partitions: int) -> KafkaConsumer:
    fetch = min(_MOST_FETCH, max(_LEAST_FETCH, FETCHED_BYTES // partitions))
    return KafkaConsumer(
        **options,
        group_id=None,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        fetch_max_bytes=FETCHED_BYTES // 4,
        max_partition_fetch_bytes=fetch,
    )


def _partitions(described: Sequence[Mapping[str, Any]], topics: Sequence[str], servers: str) -> list[TopicPartition]:
    known = {str(one["topic"]): one for one in described}
    absent = [topic for topic in topics if topic not in known]
    if absent:
        raise missing(absent, known, servers)
    return [TopicPartition(topic, int(one["partition"])) for topic in topics for one in known[topic]["partitions"]]


async def _slice(consumer: KafkaConsumer, begins: Offsets, ends: Offsets, wanted: Wanted, now: datetime) -> Slice:
    """What is read of each partition: one stretch of time, or equal shares where the broker cannot look for times."""

    async def offsets_at(moment: datetime) -> Offsets:
        found = await consumer.offsets_for_times(dict.fromkeys(ends, max(0, int(moment.timestamp() * 1000))))
        return {tp: found[tp].offset if found.get(tp) is not None else ends[tp] for tp in ends}

    try:
        if wanted.start is None:
            return await newest(wanted.count, begins, ends, offsets_at, now)
        first = await consumer.offsets_for_times(dict.fromkeys(ends, int(wanted.start.timestamp() * 1000)))
        starts = {tp: first[tp].offset if first.get(tp) is not None else ends[tp] for tp in ends}
        times = [found.timestamp for found in first.values() if found is not None]
        since = _EPOCH + timedelta(milliseconds=max(0, min(times, default=0)))
        return await oldest(wanted.count, starts, ends, offsets_at, since)
    except (UnsupportedVersionError, OverflowError):
        is_newest = wanted.start is None
        quotas = spread(wanted.count, {tp: ends[tp] - begins[tp] for tp in ends})
        return Slice({tp: ends[tp] - quotas[tp] if is_newest else begins[tp] for tp in ends}, quotas)


def _require_any(topics: Sequence[str], begins: Offsets, ends: Offsets, taken: Slice) -> None:
    if not any(taken.quotas.values()):
        raise nothing_there(topics, had_any=any(ends[tp] > begins[tp] for tp in ends), ever_had=any(ends.values()))


@dataclass(slots=True)
class _Reading:
    """One pass over the partitions; those that have given their share are paused."""

    consumer: KafkaConsumer
    slice: Slice
    ends: Offsets
    wanted: Wanted
    deadline: float
    messages: list[Message] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    taken_bytes: int = 0

    async def run(self) -> None:
        left = {tp: share for tp, share in self.slice.quotas.items() if share}
        self.consumer.assign(list(left))
        for tp in left:
            self.consumer.seek(tp, self.slice.starts[tp])
        clock: Callable[[], float] = asyncio.get_running_loop().time
        moved_at = clock()
        while left:
            batches = await self.consumer.getmany(*left, timeout_ms=_POLL_MS)
            moved_at = clock() if batches else moved_at
            for tp, records in batches.items():
                self._take(tp, records, left)
            await self._drop_finished(left)
            if reason := self._reason_to_stop(clock(), moved_at):
                if left:
                    self.notes.append(f"{reason}: {len(left)} partitions were not read to the end of their share")
                return

    def _take(self, tp: TopicPartition, records: Sequence[Any], left: dict[TopicPartition, int]) -> None:
        for record in records:
            if left[tp] <= 0 or record.offset >= self.ends[tp] or self.taken_bytes >= self.wanted.max_bytes:
                left[tp] = min(left[tp], 0) if record.offset >= self.ends[tp] else left[tp]
                return
            self.messages.append(from_record(record))
            self.taken_bytes += len(record.value or b"")
            left[tp] -= 1

    async def _drop_finished(self, left: dict[TopicPartition, int]) -> None:
        for tp in list(left):
            if left[tp] <= 0 or await self.consumer.position(tp) >= self.ends[tp]:
                del left[tp]
                self.consumer.pause(tp)

    def _reason_to_stop(self, now: float, moved_at: float) -> str:
        if self.taken_bytes >= self.wanted.max_bytes:
            return f"stopped at {self.wanted.max_bytes // 1_000_000} MB"
        if now >= self.deadline:
            return f"stopped after {self.wanted.seconds:.0f} s"
        return f"nothing came for {IDLE_SECONDS:.0f} s" if now - moved_at >= IDLE_SECONDS else ""
