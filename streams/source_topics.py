"""The topics that ingest reads, and where it begins on those that this deployment has never read."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from schemas.errors import ConfigError
from streams.agents.app import GROUP_PREFIX
from streams.broker.begin import LATEST, first_offsets, matching_topics
from streams.broker.reading import Reading, whole_name
from streams.runtime import Runtime
from streams.settings import Role
from streams.settings.connect import start_of
from streams.store import Store

EARLIEST = "earliest"


async def source_reading(runtime: Runtime, store: Store) -> tuple[Sequence[str], Reading]:
    """The topics that there are or will be by name, and how to read them.

    Asks the source cluster first, so that a wrong login ends the process with the setting to check: BrokerUnavailable.
    Raises ConfigError for a start that the embedded broker cannot do.
    """
    source = runtime.settings.kafka.source
    reading = runtime.reading(source)
    if runtime.settings.embedded:
        if source.start != EARLIEST:
            raise ConfigError(f"kafka.source.start: {source.start} needs Apache Kafka; embedded, write {EARLIEST}")
        if source.topic_pattern:
            raise ConfigError("kafka.source.topic_pattern needs Apache Kafka; embedded, name the topics")
        return source.topics, reading
    named = whole_name(reading.pattern) if reading.pattern else None
    there = await matching_topics(
        runtime.source, lambda topic: bool(named.match(topic)) if named else topic in source.topics
    )
    topics = there if named else source.topics
    if source.start == EARLIEST:
        return topics, reading
    known = {mark.topic for mark in await asyncio.to_thread(store.watermarks)}
    start = start_of(source) or LATEST
    begins = await first_offsets(runtime.source, f"{GROUP_PREFIX}{Role.INGEST}", there, start, known)
    return topics, replace(reading, first_offsets=begins)
