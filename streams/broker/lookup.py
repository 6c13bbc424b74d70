"""What a cluster has: topics, their partitions and ids, and offsets by place or time; asked beside the consumers.

Consumers of aiokafka have calls for this, but those name a topic that has vanished to the broker, which makes it anew
where brokers create topics by themselves. Here topics are asked for all at once, and nothing else is asked of one that
is not there.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from aiokafka import TopicPartition
from aiokafka.client import AIOKafkaClient
from aiokafka.cluster import ClusterMetadata
from aiokafka.errors import IncompatibleBrokerVersion, KafkaError, for_code
from aiokafka.protocol.offset import OffsetRequest

from streams.broker.connection import Connection
from streams.broker.topic_ids import TopicIdsRequest, ids_of

BEGINNING, END = -2, -1
"""Instead of a time: the first message that there is, and the place behind the last."""
ANSWER_SECONDS = 15.0
_READ_COMMITTED = 1
Offsets = dict[TopicPartition, int]


@dataclass(slots=True)
class Cluster:
    """Topics that our user may see, with their partitions; ``ids`` is empty where the broker is too old to tell."""

    partitions: dict[str, frozenset[int]]
    ids: dict[str, bytes] = field(default_factory=dict)

    def has(self, tp: TopicPartition) -> bool:
        """Whether the partition is there."""
        return tp.partition in self.partitions.get(tp.topic, ())


class Lookup:
    """One connection for such questions; every call raises KafkaError when the cluster does not answer in 15 s."""

    def __init__(self, connection: Connection) -> None:
        self._options = connection.aiokafka_options()
        self._client: AIOKafkaClient | None = None
        self._metadata: ClusterMetadata | None = None

    async def stop(self) -> None:
        """Disconnect; a later question connects again."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def cluster(self) -> Cluster:
        """The topics that there are now."""
        client = await self._connected()
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                self._metadata = await client.fetch_all_metadata()
                ids = await self._ids(client)
        except TimeoutError as error:
            raise KafkaError("the cluster did not answer") from error
        known = {topic: self._metadata.partitions_for_topic(topic) or () for topic in self._metadata.topics()}
        return Cluster({str(topic): frozenset(map(int, numbers)) for topic, numbers in known.items()}, ids)

    async def offsets(self, partitions: Collection[TopicPartition], at: int) -> Offsets:
        """By partition the offset at ``at``: BEGINNING, END, or the first message since that time (ms since 1970).

        END lies behind the last message whose transaction is complete. Left out: partitions that have no such message,
        or are not there; a call of ``cluster`` before says which are.
        """
        client = await self._connected()
        by_leader: defaultdict[int, defaultdict[str, list[tuple[int, int]]]]
        by_leader = defaultdict(lambda: defaultdict(list))
        for tp in partitions:
            leader = self._metadata.leader_for_partition(tp) if self._metadata else None
            if leader is not None and leader >= 0:
                by_leader[leader][tp.topic].append((tp.partition, at))
        found: Offsets = {}
        for leader, topics in by_leader.items():
            request = OffsetRequest(-1, _READ_COMMITTED, [(name, places) for name, places in topics.items()])
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    answer = await client.send(leader, request)
            except TimeoutError as error:
                raise KafkaError("the cluster did not answer") from error
            found.update(_offsets_of(answer.topics))
        return found

    async def _connected(self) -> AIOKafkaClient:
        if self._client is None:
            client = AIOKafkaClient(**self._options)
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    await client.bootstrap()
            except BaseException as error:
                await client.close()
                if isinstance(error, TimeoutError):
                    raise KafkaError("the cluster did not answer") from error
                raise
            self._client = client
        return self._client

    async def _ids(self, client: AIOKafkaClient) -> dict[str, bytes]:
        node = client.get_random_node()
        if node is None:
            return {}
        with suppress(IncompatibleBrokerVersion, NotImplementedError):
            return ids_of(await client.send(node, TopicIdsRequest()))
        return {}


def _offsets_of(topics: Collection[tuple[str, Collection[tuple[int, ...]]]]) -> Offsets:
    found: Offsets = {}
    for topic, partitions in topics:
        for partition, code, *rest in partitions:
            error = for_code(code)
            if code and not error.retriable:
                raise error(f"{topic}-{partition}")
            offset = rest[-1] if not code and rest else -1
            if isinstance(offset, int) and offset >= 0:
                found[TopicPartition(topic, partition)] = offset
    return found


def partitions_of(topics: Mapping[str, Collection[int]]) -> list[TopicPartition]:
    """All partitions of the topics, in order."""
    return [TopicPartition(topic, number) for topic in sorted(topics) for number in sorted(topics[topic])]
