"""A broker for the time of a benchmark: Apache Kafka where GROUNDWATCH_KAFKA_HOME says, else the embedded one."""

import asyncio
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from aiokafka import AIOKafkaProducer

from schemas.errors import ConfigError
from streams.broker.connection import Connection
from streams.broker.embedded import embedded_broker
from streams.broker.topics import TopicSpec, create_topics

ROOT = Path(__file__).resolve().parents[2]
HOME_VARIABLE = "GROUNDWATCH_KAFKA_HOME"
KINDS = ("auto", "kafka", "embedded")


@contextmanager
def broker(kind: str, folder: Path) -> Iterator[tuple[str, str]]:
    """Name and address of a fresh broker with data below ``folder``. Raises ConfigError for kafka without a home."""
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)  # it reports every try until the broker is up
    home = os.environ.get(HOME_VARIABLE)
    if kind == "kafka" and not home:
        raise ConfigError(
            f"--broker kafka needs {HOME_VARIABLE}; set it to the folder of Apache Kafka, or leave it out"
        )
    if home and kind != "embedded":
        sys.path.insert(0, str(ROOT))  # a script's own folder is on the path, the repository is not
        from tests.integration.running import apache_kafka  # noqa: PLC0415 - needs the line above

        with apache_kafka(Path(home).resolve(), folder / "kafka") as address:
            yield "Apache Kafka", address
        return
    loop = asyncio.new_event_loop()  # a loop of its own, so that the block may run others
    context = embedded_broker(folder / "broker.log")
    connection = loop.run_until_complete(context.__aenter__())
    try:
        yield "embedded broker", connection.bootstrap_servers
    finally:
        loop.run_until_complete(context.__aexit__(None, None, None))
        loop.close()


def fill(address: str, topic: str, values: Sequence[bytes], partitions: int = 4) -> None:
    """Make ``topic`` and put ``values`` into it; returns once the broker has them all."""

    async def send() -> None:
        await create_topics(Connection(address), [TopicSpec(topic, partitions)])
        producer = AIOKafkaProducer(bootstrap_servers=address, linger_ms=5, max_request_size=4_000_000)
        await producer.start()
        try:
            for start in range(0, len(values), 500):
                part = values[start : start + 500]
                await asyncio.gather(
                    *[
                        await producer.send(topic, key=b"%d" % number, value=value)
                        for number, value in enumerate(part, start)
                    ]
                )
        finally:
            await producer.stop()

    asyncio.run(send())
