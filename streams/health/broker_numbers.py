"""What a cluster says of topics and groups when it is asked: ends, committed offsets, and what lies at an offset.

Offsets also count what is no message (markers of transactions, what compaction removed), so whether anything is there
is found out by reading, in small pieces and without joining a group.
"""

from collections.abc import Collection, Mapping
from contextlib import suppress
from time import monotonic

from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from streams.agents.vitals import Partition
from streams.broker.connection import Connection
from streams.broker.consumer import KafkaConsumer
from streams.broker.lookup import BEGINNING, END, Cluster, Lookup, partitions_of
from streams.health.lag import Place

READ_SECONDS = 5.0
READ_BYTES = 65_536
"""Of a partition; the broker gives one batch of messages in any case."""
Found = tuple[int, int]
"""Offset and record time (ms since 1970) of a message."""


class BrokerNumbers:
    """One cluster's; connects when it is first asked. Every question raises KafkaError when nobody answers."""

    def __init__(self, connection: Connection) -> None:
        connection = connection.named("health")
        self._options = connection.aiokafka_options()
        self._lookup = Lookup(connection)
        self._admin: AIOKafkaAdminClient | None = None

    async def cluster(self) -> Cluster:
        """The topics that there are."""
        return await self._lookup.cluster()

    async def places(self, group: str, topics: Collection[str], cluster: Cluster) -> dict[Partition, Place]:
        """Every partition of those topics that are there."""
        known = partitions_of({topic: cluster.partitions[topic] for topic in cluster.partitions.keys() & set(topics)})
        begins = await self._lookup.offsets(known, BEGINNING)
        ends = await self._lookup.offsets(known, END)
        committed = await self.committed(group, known)
        return {
            (tp.topic, tp.partition): Place(begins[tp], ends[tp], committed.get((tp.topic, tp.partition)))
            for tp in known
            if tp in begins and tp in ends
        }

    async def ends(self, topics: Collection[str]) -> dict[Partition, int]:
        """The offset behind the last message of topics of one partition, as of the last ``cluster``."""
        known = partitions_of({topic: [0] for topic in topics})
        return {(tp.topic, tp.partition): end for tp, end in (await self._lookup.offsets(known, END)).items()}

    async def committed(self, group: str, partitions: Collection[Partition]) -> dict[Partition, int]:
        """The group's offsets of those partitions that it has any of."""
        if not partitions:
            return {}
        if self._admin is None:
            self._admin = AIOKafkaAdminClient(**self._options)
            await self._admin.start()
        wanted = [TopicPartition(*partition) for partition in partitions]
        found = await self._admin.list_consumer_group_offsets(group, partitions=wanted)
        return {(tp.topic, tp.partition): known.offset for tp, known in found.items() if known.offset >= 0}

    async def first_messages(self, wanted: Mapping[Partition, int]) -> dict[Partition, Found | None]:
        """By partition the first message from an offset on, None where there is none; left out: no answer in 5 s."""
        pending = {TopicPartition(*partition): partition for partition in wanted}
        if not pending:
            return {}
        reader = KafkaConsumer(
            **self._options,
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            isolation_level="read_committed",  # as our groups read
            max_partition_fetch_bytes=READ_BYTES,
        )
        # Gone after this: one that stays asks for its topics again and again, and brokers make vanished ones anew.
        try:
            await reader.start()
            return await _first_of_each(reader, pending, wanted)
        finally:
            await reader.stop()

    async def stop(self) -> None:
        """Disconnect; the next question connects again."""
        admin, self._admin = self._admin, None
        with suppress(KafkaError):
            await self._lookup.stop()
            if admin is not None:
                await admin.close()


async def _first_of_each(
    reader: KafkaConsumer, pending: dict[TopicPartition, Partition], wanted: Mapping[Partition, int]
) -> dict[Partition, Found | None]:
    reader.assign(list(pending))
    for tp, partition in pending.items():
        reader.seek(tp, wanted[partition])
    found: dict[Partition, Found | None] = {}
    deadline = monotonic() + READ_SECONDS
    while pending and monotonic() < deadline:
        batches = await reader.getmany(*pending, timeout_ms=250, max_records=len(pending))
        for tp, records in batches.items():
            found[pending.pop(tp)] = (records[0].offset, records[0].timestamp)
            reader.pause(tp)
        for tp in list(pending):
            high = reader.highwater(tp)
            if high is not None and await reader.position(tp) >= high:
                found[pending.pop(tp)] = None
    return found
