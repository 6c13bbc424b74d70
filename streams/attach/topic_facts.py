"""What the broker says of topics without reading them: settings where we may see them, and traffic by offsets."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError

from streams.attach.sample import TopicFacts
from streams.broker.consumer import KafkaConsumer

WINDOW = timedelta(hours=1)
_LEAST_SECONDS = 1.0
_CONFIGS = ("max.message.bytes", "compression.type", "retention.ms")
_ERRORS = (KafkaError, ValueError, OSError, IndexError, TypeError)
"""A broker of another make may answer anything to a question that it does not know; none of them is needed."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Messages a second of each partition, empty where nothing could be counted."""

    by_partition: Mapping[TopicPartition, float]
    seconds: float | None = None


async def counted(consumer: KafkaConsumer, ends: Mapping[TopicPartition, int], newest: datetime | None) -> Counts:
    """Traffic over the hour before ``newest``, by the offsets at its two ends."""
    if newest is None or newest.timestamp() < WINDOW.total_seconds():
        return Counts({})
    try:
        froms = await consumer.offsets_for_times(dict.fromkeys(ends, _ms(newest - WINDOW)))
        untils = await consumer.offsets_for_times(dict.fromkeys(ends, _ms(newest) + 1))
    except _ERRORS:
        return Counts({})
    known = {tp: found for tp, found in froms.items() if found is not None}
    if not known:
        return Counts({})
    first_ms = min(found.timestamp for found in known.values())
    seconds = (_ms(newest) - first_ms) / 1000
    if first_ms <= 0 or seconds < _LEAST_SECONDS:
        return Counts({})
    last = {tp: untils[tp].offset if untils.get(tp) is not None else ends[tp] for tp in known}
    return Counts({tp: max(0, last[tp] - found.offset) / seconds for tp, found in known.items()}, seconds)


async def configured(
    admin: AIOKafkaAdminClient,
    topics: Sequence[str],
    begins: Mapping[TopicPartition, int],
    ends: Mapping[TopicPartition, int],
    counts: Counts,
) -> tuple[TopicFacts, ...]:
    """The facts of each topic; its settings need the right DescribeConfigs and are left out without it."""
    configs = await _configs(admin, topics)
    found = []
    for topic in topics:
        own = [tp for tp in ends if tp.topic == topic]
        per_second = [counts.by_partition[tp] for tp in own if tp in counts.by_partition]
        limit, compression, retention = (configs[topic].get(key, "") for key in _CONFIGS)
        found.append(
            TopicFacts(
                name=topic,
                partitions=len(own),
                available=sum(ends[tp] - begins[tp] for tp in own),
                per_second=sum(per_second) if per_second else None,
                busiest_per_second=max(per_second, default=None),
                counted_seconds=counts.seconds if per_second else None,
                max_message_bytes=int(limit) if limit.isdecimal() else None,
                compression=compression,
                retention_seconds=int(retention) / 1000 if retention.isdecimal() else None,
            )
        )
    return tuple(found)


async def _configs(admin: AIOKafkaAdminClient, topics: Sequence[str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = defaultdict(dict)
    try:
        resources = [ConfigResource(ConfigResourceType.TOPIC, topic) for topic in topics]
        for response in await admin.describe_configs(resources):
            for code, _, _, name, entries in response.resources:
                if not code:
                    found[name] = {entry[0]: entry[1] or "" for entry in entries if entry[0] in _CONFIGS}
    except _ERRORS:
        return found
    return found


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
