"""Source topics as they are on Apache Kafka: by pattern, growing, trimmed, made anew, transactional; begun anywhere."""

import asyncio
import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.admin import RecordsToDelete

from streams.agents.app import assigned
from streams.broker.begin import LATEST, first_offsets
from streams.broker.connection import Connection
from streams.broker.lookup import Lookup
from streams.broker.reading import Losses, Reading
from tests.integration.groups import (
    QUICK,
    Group,
    add_partitions,
    administrator,
    committed,
    delete_topic,
    group,
    make_topic,
    numbered,
    send,
    unique,
)
from tests.integration.running import apache_kafka

pytestmark = [pytest.mark.integration, pytest.mark.kafka, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """One broker for all tests here; it makes topics that are asked for by name."""
    home = Path(os.environ.get("GROUNDWATCH_KAFKA_HOME", ".")).resolve()
    with apache_kafka(home, tmp_path_factory.mktemp("broker") / "kafka") as address:
        yield Connection(address)


async def topics_of(connection: Connection) -> set[str]:
    """The names that the cluster has."""
    lookup = Lookup(connection)
    try:
        return set((await lookup.cluster()).partitions)
    finally:
        await lookup.stop()


def committed_at(member: Group) -> set[int]:
    """Where the member has committed."""
    return set(member.app.monitor.tp_committed_offsets.values())


async def trim(connection: Connection, topic: str, before: int) -> None:
    """Delete what lies before an offset of the first partition, as retention does."""
    async with administrator(connection) as admin:
        await admin.delete_records({TopicPartition(topic, 0): RecordsToDelete(before_offset=before)})


def test_topics_that_begin_to_match_are_read_from_their_beginning(kafka: Connection, tmp_path: Path) -> None:
    """While running, within `refresh_seconds`; others stay unread, and so do partitions of nobody's."""

    async def scenario() -> None:
        base, role = unique("rag"), unique("role")
        await make_topic(kafka, f"{base}.chat", 2)
        await make_topic(kafka, f"not-{base}.chat", 1)
        await send(kafka, f"{base}.chat", numbered(10))
        await send(kafka, f"not-{base}.chat", [b"another's"])
        async with group(kafka, role, [], tmp_path, reading=replace(QUICK, pattern=rf"{base}\..*")) as member:
            await member.until_count(10)
            await make_topic(kafka, f"{base}.search", 1)
            await send(kafka, f"{base}.search", numbered(10, "search"))
            await member.until_count(20)
            assert numbered(10, "search") == member.values(f"{base}.search")
            await add_partitions(kafka, f"{base}.chat", 4)
            await send(kafka, f"{base}.chat", numbered(10, "third"), partition=3)
            await member.until(lambda: set(numbered(10, "third")) <= set(member.values()), "the new partition")
            await member.until_idle()
        assert {0, 1, 2, 3} == set(await committed(kafka, role, f"{base}.chat"))

    asyncio.run(scenario())


def test_a_topic_that_is_not_there_is_waited_for_and_never_made(kafka: Connection, tmp_path: Path) -> None:
    """Even by a broker that makes what it is asked for."""

    async def scenario() -> None:
        missing = unique("missing")
        async with group(kafka, unique("role"), [missing], tmp_path) as member:
            await asyncio.sleep(3)
            assert missing not in await topics_of(kafka)
            await make_topic(kafka, missing, 1)
            await send(kafka, missing, numbered(3))
            await member.until_count(3)
            await delete_topic(kafka, missing)
            await asyncio.sleep(3)
            assert missing not in await topics_of(kafka)

    asyncio.run(scenario())


@pytest.mark.parametrize("start", [LATEST, "time"])
def test_a_group_begins_where_it_is_told_and_only_once(kafka: Connection, tmp_path: Path, start: str) -> None:
    """What came before is left alone, what comes while the group is away is not; a partition added later is read."""

    async def scenario() -> None:
        # Its messages are months old: the broker would delete them at its first look, half a minute after its start.
        topic, role = await make_topic(kafka, unique("begun"), 2, retention_ms="-1"), unique("role")
        moment = datetime(2026, 3, 1, tzinfo=UTC)
        milliseconds = int(moment.timestamp() * 1000)
        for partition in (0, 1):
            await send(kafka, topic, [b"old"], partition=partition, at_ms=milliseconds - 1)
        if start == "time":
            await send(kafka, topic, [b"wanted"], partition=0, at_ms=milliseconds)

        async def begun() -> Reading:
            at = moment if start == "time" else LATEST
            places = await first_offsets(kafka, f"groundwatch.{role}", [topic], at, ())
            return replace(QUICK, first_offsets=places)

        async with group(kafka, role, [topic], tmp_path, reading=await begun()) as member:
            await member.until_idle()
            assert ([b"wanted"] if start == "time" else []) == member.values()
            assert {0: 1 + (start == "time"), 1: 1} == await committed(kafka, role, topic)
        await send(kafka, topic, [b"while away"], partition=1)
        await add_partitions(kafka, topic, 3)
        await send(kafka, topic, [b"new partition"], partition=2)
        again = await begun()
        assert {} == again.first_offsets
        async with group(kafka, role, [topic], tmp_path, reading=again) as member:
            await member.until_count(2)
            assert {b"while away", b"new partition"} == set(member.values())

    asyncio.run(scenario())


def test_a_topic_that_this_deployment_has_read_is_not_skipped(kafka: Connection) -> None:
    """The group may have lost its offsets: a start at the latest would leave out what came meanwhile."""

    async def scenario() -> None:
        topic = await make_topic(kafka, unique("known"), 1)
        await send(kafka, topic, numbered(3))
        assert {} == await first_offsets(kafka, unique("groundwatch.role"), [topic], LATEST, {topic})

    asyncio.run(scenario())


def test_messages_lost_to_retention_are_counted(kafka: Connection, tmp_path: Path) -> None:
    """While the group was away, and while it was held up: it goes on with what is left and says what is gone."""

    async def scenario() -> None:
        topic, role, losses = await make_topic(kafka, unique("trimmed"), 1), unique("role"), Losses()
        reading = replace(QUICK, losses=losses, buffer_bytes=1_000, fetch_bytes=1_000, partition_fetch_bytes=1_000)
        await send(kafka, topic, numbered(5))
        async with group(kafka, role, [topic], tmp_path, reading=reading) as member:
            await member.until_count(5)
            await member.until_idle()
        await send(kafka, topic, numbered(20, "away"))
        await trim(kafka, topic, 12)
        async with group(kafka, role, [topic], tmp_path, reading=reading) as member:
            await member.until_count(13)
            assert numbered(20, "away")[7:] == member.values()
            assert 7 == losses.messages[topic]
            member.is_free.clear()
            values = [b"%4d" % number + b"x" * 400 for number in range(60)]
            for value in values:
                await send(kafka, topic, [value])
            await trim(kafka, topic, 25 + 40)
            await member.until(lambda: losses.messages[topic] > 7, "the loss seen")
            member.is_free.set()
            await member.until(lambda: values[-1] in member.values(), "the last message")
            assert losses.messages[topic] - 7 >= 73 - len(member.got)
            assert member.values()[-20:] == values[-20:]

    asyncio.run(scenario())


@pytest.mark.parametrize("is_running", [True, False])
def test_a_topic_made_anew_is_read_from_its_beginning(kafka: Connection, tmp_path: Path, *, is_running: bool) -> None:
    """Also when it has more messages by then than the old one had; the partition is idle again afterwards."""

    async def scenario() -> None:
        topic, role, losses = await make_topic(kafka, unique("anew"), 1), unique("role"), Losses()
        reading = replace(QUICK, losses=losses)

        async def replaced() -> None:
            await delete_topic(kafka, topic)
            await make_topic(kafka, topic, 1)
            await send(kafka, topic, numbered(20, "new"))

        async def has_new(member: Group) -> None:
            await member.until(lambda: set(numbered(20, "new")) <= set(member.values()), "all of the new topic")
            await member.until_idle()
            assert {0: 20} == await committed(kafka, role, topic)

        await send(kafka, topic, numbered(10, "old"))
        async with group(kafka, role, [topic], tmp_path, reading=reading) as member:
            await member.until_count(10)
            await member.until_idle()
            if is_running:
                await replaced()
                await has_new(member)
        if not is_running:
            await replaced()
            async with group(kafka, role, [topic], tmp_path, reading=reading) as member:
                await has_new(member)

    asyncio.run(scenario())


@pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
def test_what_a_producer_took_back_is_not_read(kafka: Connection, tmp_path: Path, isolation: str) -> None:
    """Messages of aborted transactions, unless asked for; a marker at the end keeps no partition from being idle."""

    async def scenario() -> None:
        topic, role = await make_topic(kafka, unique("transactions"), 1), unique("role")
        producer = AIOKafkaProducer(bootstrap_servers=kafka.bootstrap_servers, transactional_id=unique("product"))
        await producer.start()
        reading = replace(QUICK, isolation_level=isolation)
        wanted = [b"first", b"taken back", b"second"] if isolation == "read_uncommitted" else [b"first", b"second"]
        try:
            async with producer.transaction():
                await producer.send(topic, b"first")
            await producer.begin_transaction()
            await producer.send_and_wait(topic, b"taken back")
            await producer.abort_transaction()
            async with producer.transaction():
                await producer.send(topic, b"second")
            async with group(kafka, role, [topic], tmp_path, reading=reading) as member:
                await member.until_count(len(wanted))
                await member.until_idle()
                assert wanted == member.values()
                assert {(topic, 0): 5} == assigned(member.app)
                await member.until(lambda: committed_at(member) == {6}, "the marker at the end committed")
            await producer.begin_transaction()
            await producer.send_and_wait(topic, b"third")
            await producer.abort_transaction()
            async with group(kafka, role, [topic], tmp_path, reading=reading) as member:
                await member.until_idle()
                assert ([b"third"] if isolation == "read_uncommitted" else []) == member.values()
        finally:
            await producer.stop()

    asyncio.run(scenario())


def test_a_member_that_comes_back_with_other_topics_reads_them(kafka: Connection, tmp_path: Path) -> None:
    """A rolling change of the configuration with `instance_id`: the broker would give it what it had before."""

    async def scenario() -> None:
        role = unique("role")
        first, second = await make_topic(kafka, unique("first"), 1), await make_topic(kafka, unique("second"), 1)
        async with group(kafka, role, [first], tmp_path, instance_id="steady") as other:
            await other.until(lambda: bool(assigned(other.app)), "its partition")
            async with group(kafka, role, [first], tmp_path, instance_id="changed") as member:
                await member.until(lambda: not member.app.rebalancing and member.app.started, "in the group")
            async with group(kafka, role, [second], tmp_path, instance_id="changed") as member:
                await send(kafka, first, numbered(5))
                await send(kafka, second, numbered(5))
                await member.until(lambda: len(member.values(second)) >= 5, "the new topic")
                await other.until(lambda: len(other.values(first)) >= 5, "the old topic")

    asyncio.run(scenario())


def test_two_members_of_one_name_lose_nothing(kafka: Connection, tmp_path: Path) -> None:
    """They throw each other out and say so; every message is handled by one of them."""

    async def scenario() -> None:
        role, topic = unique("role"), await make_topic(kafka, unique("twice"), 4)
        async with (
            group(kafka, role, [topic], tmp_path, instance_id="same") as one,
            group(kafka, role, [topic], tmp_path, instance_id="same") as two,
        ):
            for part in range(5):
                await send(kafka, topic, numbered(20, f"part {part}"))
                await asyncio.sleep(1)
            await one.until(lambda: len(set(one.values()) | set(two.values())) >= 100, "every message")

    asyncio.run(scenario())


def test_the_lag_of_another_group_is_as_it_was(kafka: Connection, tmp_path: Path) -> None:
    """A consumer of the product keeps up while we read a backlog of the same topic; what it committed is untouched."""

    async def scenario() -> None:
        topic, product, ours = await make_topic(kafka, unique("shared"), 4), unique("product"), unique("ours")
        await send(kafka, topic, [b"x" * 2_000] * 20_000)
        async with group(kafka, product, [topic], tmp_path) as theirs:
            await theirs.until_count(20_000)
            await theirs.until_idle()
            async with group(kafka, ours, [topic], tmp_path) as member:
                lags: list[int] = []
                while len(member.got) < 20_000:
                    await send(kafka, topic, [b"live"] * 20)
                    sent = 20_000 + 20 * (len(lags) + 1)
                    await theirs.until_count(sent)
                    lags.append(sent - len(theirs.got))
                await theirs.until_idle()
            assert {0} == set(lags)
            assert 20_000 + 20 * len(lags) == sum((await committed(kafka, product, topic)).values())

    asyncio.run(scenario())
