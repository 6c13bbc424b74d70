"""What every broker must do for us: one suite over the embedded one and Apache Kafka.

What the embedded one cannot do is listed in ``streams/broker/embedded.py``, and tested on Kafka alone.
"""

import asyncio
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.errors import RowRejected
from streams.broker.connection import Connection
from streams.broker.embedded import embedded_broker
from streams.broker.publisher import Outgoing, Publisher
from streams.broker.reading import Reading
from streams.broker.replica import Replica
from streams.broker.topics import Shape, TopicSpec, create_topics, own_topics
from tests.integration.groups import group, make_topic, numbered, send, unique
from tests.integration.running import apache_kafka

pytestmark = pytest.mark.timeout(600)
LARGE = 5_000_000
CODECS = ("gzip", "snappy", "lz4", "zstd", None)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("embedded", marks=pytest.mark.integration),
        pytest.param("kafka", marks=[pytest.mark.integration, pytest.mark.kafka]),
    ],
)
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """One broker of each kind for all tests here."""
    folder = tmp_path_factory.mktemp("broker")
    if request.param == "kafka":
        home = Path(os.environ.get("GROUNDWATCH_KAFKA_HOME", ".")).resolve()
        with apache_kafka(home, folder / "kafka") as address:
            yield Connection(address)
        return
    with asyncio.Runner() as runner:
        embedded = embedded_broker(folder / "broker.log")
        yield runner.run(embedded.__aenter__())
        runner.run(embedded.__aexit__(None, None, None))


@pytest.fixture
def reading(broker: Connection, request: pytest.FixtureRequest) -> Reading:
    """How groups read there."""
    is_embedded = "embedded" in request.node.callspec.id
    return Reading(refresh_seconds=1, is_watched=not is_embedded)


async def publish(connection: Connection, topic: str, *messages: Outgoing) -> None:
    """Send with our own publisher."""
    publisher = Publisher(connection, LARGE)
    await publisher.start()
    try:
        await publisher.send(topic, messages)
    finally:
        await publisher.stop()


def test_own_topics_are_made_once(broker: Connection) -> None:
    """A second time makes none and fails at none."""
    specs = [
        TopicSpec(unique(spec.name), spec.partitions, spec.replication, spec.config)
        for spec in own_topics(Shape(2, 1, 1_000_000))
    ]
    assert [spec.name for spec in specs] == asyncio.run(create_topics(broker, specs))
    assert [] == asyncio.run(create_topics(broker, specs))


@pytest.mark.parametrize("partitions", [1, 64])
def test_all_partitions_are_read_and_committed(
    broker: Connection, reading: Reading, tmp_path: Path, partitions: int
) -> None:
    """From one to sixty-four partitions; a second member of the group that comes later gets nothing twice."""

    async def scenario() -> None:
        topic, role = await make_topic(broker, unique("source"), partitions), unique("role")
        values = numbered(256)
        await send(broker, topic, values)
        async with group(broker, role, [topic], tmp_path, reading=reading) as member:
            await member.until_count(len(values))
            assert sorted(map(str, values)) == sorted(map(str, member.values()))
            await member.until_idle()
        await send(broker, topic, [b"after"])
        async with group(broker, role, [topic], tmp_path, reading=reading) as member:
            await member.until_count(1)
            await member.until_idle()
            assert [b"after"] == member.values()

    asyncio.run(scenario())


def test_what_the_engine_threw_away_is_read_again(broker: Connection, reading: Reading, tmp_path: Path) -> None:
    """At the end of a rebalance it empties its queues, also when messages of the new assignment are in them already."""

    async def scenario() -> None:
        topic = await make_topic(broker, unique("source"), 1)
        async with group(broker, unique("role"), [topic], tmp_path, reading=reading) as member:
            member.is_free.clear()
            await send(broker, topic, numbered(1))
            await member.until(lambda: member.handed_out() == 1, "one message in hand")
            await asyncio.sleep(1)  # the agent has taken it from the queue
            await send(broker, topic, numbered(10, "queued"))
            await member.until(lambda: member.handed_out() == 11, "the others in the queue")
            member.app.flow_control.resume()
            member.app.consumer.resume_flow()
            member.is_free.set()
            await member.until(lambda: len(set(member.values())) == 11, "every message")
            await member.until_idle()

    asyncio.run(scenario())


def test_partitions_that_are_shared_out_during_a_stop_cut_no_connection(
    broker: Connection, reading: Reading, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The engine would close the client from another thread; the next member waited for the session to end."""

    async def scenario() -> None:
        topic, role = await make_topic(broker, unique("source"), 1), unique("role")
        async with group(broker, role, [topic], tmp_path, reading=reading) as member:
            await send(broker, topic, numbered(1))
            await member.until_count(1)
            member.app.consumer.close()
            await send(broker, topic, numbered(1, "later"))
            await member.until_count(2)
        async with group(broker, role, [topic], tmp_path, reading=reading) as member:
            await send(broker, topic, numbered(1, "last"))
            await member.until_count(1)

    asyncio.run(scenario())
    assert "LeaveGroup request failed" not in caplog.text


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_is_read_and_sent(broker: Connection, reading: Reading, tmp_path: Path, codec: str | None) -> None:
    """What producers compress comes out as it went in, and so does what we compress."""

    async def scenario() -> None:
        topic = await make_topic(broker, unique("codec"))
        values = [b"x" * 2000 + b"%d" % number for number in range(50)]
        await send(broker, topic, values[:25], compression=codec)
        ours = Connection(broker.bootstrap_servers, compression=codec)
        await publish(ours, topic, *(Outgoing(None, value) for value in values[25:]))
        async with group(broker, unique("role"), [topic], tmp_path, reading=reading) as member:
            await member.until_count(50)
            assert sorted(values) == sorted(filter(None, member.values()))

    asyncio.run(scenario())


def test_keys_headers_and_tombstones_come_as_they_were(broker: Connection, reading: Reading, tmp_path: Path) -> None:
    """Any bytes, none at all, and an empty value, which is another thing."""

    async def scenario() -> None:
        topic = await make_topic(broker, unique("odd"), 1)
        headers = (("h", b"\xff\x00"), ("h", b""), ("ü", b"again"))
        await send(broker, topic, [b"value"], key=b"\xff\x00", headers=headers)
        await send(broker, topic, [None, b""], key=b"k")
        await send(broker, topic, [b"no key"])
        async with group(broker, unique("role"), [topic], tmp_path, reading=reading) as member:
            await member.until_count(4)
            assert [b"value", None, b"", b"no key"] == member.values()
            assert [b"\xff\x00", b"k", b"k", None] == [message.key for message in member.got]
            assert headers == member.got[0].headers
            assert () == member.got[1].headers

    asyncio.run(scenario())


def test_messages_up_to_the_size_of_the_topic_are_carried(broker: Connection, reading: Reading, tmp_path: Path) -> None:
    """One far larger than an answer of the broker may be, among small ones, in the order of the partition."""

    async def scenario() -> None:
        topic = await make_topic(broker, unique("large"), 1, max_message_bytes=str(LARGE + 1_000_000))
        noise = random.Random(7).randbytes(LARGE)
        await publish(broker, topic, Outgoing(None, b"small"), Outgoing(None, noise), Outgoing(None, b"last"))
        tight = Reading(
            refresh_seconds=1,
            is_watched=reading.is_watched,
            fetch_bytes=200_000,
            partition_fetch_bytes=100_000,
            buffer_bytes=1_000_000,
        )
        async with group(broker, unique("role"), [topic], tmp_path, reading=tight) as member:
            await member.until_count(3)
            assert [b"small", noise, b"last"] == member.values()

    asyncio.run(scenario())


def test_a_value_above_our_own_limit_is_refused_before_it_is_sent(broker: Connection) -> None:
    """The publisher says which limit, and that repeating is of no use."""

    async def scenario() -> None:
        topic = await make_topic(broker, unique("refused"), 1)
        with pytest.raises(RowRejected, match=r"max\.message\.bytes"):
            await publish(broker, topic, Outgoing(None, random.Random(8).randbytes(LARGE + 2_000_000)))

    asyncio.run(scenario())


def test_what_is_read_ahead_is_bounded_in_bytes(broker: Connection, reading: Reading, tmp_path: Path) -> None:
    """While nothing can be handled no more is read than the buffer has room for; later all comes."""

    async def scenario() -> None:
        topic = await make_topic(broker, unique("held"), 2, max_message_bytes="1000000")
        values = [random.Random(number).randbytes(100_000) for number in range(60)]
        await send(broker, topic, values)
        bounded = Reading(refresh_seconds=1, is_watched=reading.is_watched, buffer_bytes=1_000_000)
        async with group(broker, unique("role"), [topic], tmp_path, reading=bounded) as member:
            member.is_free.clear()
            await member.until(lambda: len(member.app.consumer.unacked) >= 10, "a full buffer")
            await asyncio.sleep(1)
            assert 10 == len(member.app.consumer.unacked)
            member.is_free.set()
            await member.until_count(60)
            assert sorted(values) == sorted(filter(None, member.values()))

    asyncio.run(scenario())


def test_a_replica_has_all_that_was_there_and_all_that_comes(broker: Connection) -> None:
    """It tells when it has caught up, and goes on."""

    async def scenario() -> None:
        topic = await make_topic(broker, unique("followed"), 1, cleanup_policy="compact")
        await publish(broker, topic, *(Outgoing(b"k%d" % number, b"v") for number in range(5)))
        seen: asyncio.Queue[tuple[bytes | None, bytes | None]] = asyncio.Queue()
        replica = Replica(broker, topic, lambda key, value: seen.put_nowait((key, value)))
        await replica.start()
        try:
            assert await replica.caught_up(20)
            assert [(b"k%d" % number, b"v") for number in range(5)] == [seen.get_nowait() for _ in range(5)]
            await publish(broker, topic, Outgoing(b"k0", None))
            assert (b"k0", None) == await asyncio.wait_for(seen.get(), 20)
        finally:
            await replica.stop()

    asyncio.run(scenario())


def test_work_that_was_not_acknowledged_comes_again(broker: Connection, reading: Reading, tmp_path: Path) -> None:
    """A member that goes while its batch waits leaves it to the next; what was handled does not come again."""

    async def scenario() -> None:
        topic, role = await make_topic(broker, unique("again"), 1), unique("role")
        await send(broker, topic, numbered(10))
        async with group(broker, role, [topic], tmp_path, reading=reading) as first:
            await first.until_count(10)
            await first.until_idle()
        await send(broker, topic, numbered(10, "later"))

        async def fail() -> None:
            raise asyncio.CancelledError

        async with group(broker, role, [topic], tmp_path, reading=reading, on_batch=fail) as second:
            await second.until(lambda: bool(second.app.consumer.unacked), "a batch in hand")
        async with group(broker, role, [topic], tmp_path, reading=reading) as third:
            await third.until_count(10)
            assert numbered(10, "later") == third.values()

    asyncio.run(scenario())
