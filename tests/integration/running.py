"""A broker of either kind and a real ``groundwatch run`` process on it, for tests that need the whole flow."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.structs import ConsumerRecord

START_SECONDS = 120.0
OWN_BROKER = "GROUNDWATCH_TEST_KAFKA"
MAX_MESSAGE_BYTES = 16_000_000


def free_port_pair() -> int:
    """A port p such that p and p + 1 were both free a moment ago (Kafka's controller listens on the second)."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = int(first.getsockname()[1])
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port


@contextmanager
def apache_kafka(home: Path, data_dir: Path, *properties: str, port: int | None = None) -> Iterator[str]:
    """Apache Kafka from ``home`` on 127.0.0.1; yields its address once it answers, stops it at the end.

    Without ``properties``, a broker of the user's own takes its place where ``GROUNDWATCH_TEST_KAFKA`` names one.
    """
    own = os.environ.get(OWN_BROKER)
    if own and not properties:
        with borrowed(own) as address:
            yield address
        return
    port = port or free_port_pair()
    environment = {**os.environ, "KAFKA_HEAP": "256m"}
    with (data_dir.parent / f"{data_dir.name}.log").open("wb") as log:
        process = subprocess.Popen(
            [str(home / "broker"), str(port), str(data_dir), *properties],
            stdout=log,
            stderr=log,
            env=environment,
            start_new_session=True,
        )
    try:
        asyncio.run(wait_for_broker(f"127.0.0.1:{port}"))
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def borrowed(address: str) -> Iterator[str]:
    """A broker of the user's own; topics that were made on it meanwhile are deleted at the end, with their offsets."""
    before = asyncio.run(_topics(address))
    ours = sorted(name for name in before if name.startswith(("gw.", "groundwatch.")))
    assert not ours, f"{address} has {', '.join(ours)}: {OWN_BROKER} must not name a broker that a deployment uses"
    try:
        yield address
    finally:
        asyncio.run(_topics(address, keep=before))


async def _topics(address: str, keep: set[str] | None = None) -> set[str]:
    """The topics that there are; with ``keep`` all others are deleted."""
    admin = AIOKafkaAdminClient(bootstrap_servers=address)
    await admin.start()
    try:
        found = {name for name in await admin.list_topics() if not name.startswith("__")}
        if keep is not None and found - keep:
            await admin.delete_topics(sorted(found - keep))
        return found
    finally:
        await admin.close()


async def wait_for_broker(address: str) -> None:
    """Wait until a producer can connect, at most a minute."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        producer = AIOKafkaProducer(bootstrap_servers=address)
        try:
            await producer.start()
        except Exception:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.3)
        else:
            return
        finally:
            await producer.stop()


@dataclass(slots=True)
class Running:
    """A running process: its address file, and how to ask and stop it."""

    process: subprocess.Popen[bytes]
    data_dir: Path
    address: dict[str, Any]
    log_path: Path

    @property
    def bootstrap_servers(self) -> str:
        """Where its broker listens, when it is the embedded one."""
        return str(self.address["bootstrap_servers"])

    def get(self, path: str) -> Any:
        """JSON of the local API."""
        headers = {"Authorization": f"Bearer {self.address['token']}"}
        response = httpx.get(f"{self.address['url']}{path}", headers=headers, timeout=20, trust_env=False)
        response.raise_for_status()
        return response.json()

    def page(self, path: str) -> httpx.Response:
        """A page as a browser gets it."""
        return httpx.get(f"{self.address['url']}{path}", timeout=20, trust_env=False)

    def wait_for(
        self, is_so: Callable[[], bool], seconds: float, what: str, seen: Callable[[], object] | None = None
    ) -> None:
        """Wait until ``is_so``; fails with what is ``seen`` instead and the end of the process's log."""
        deadline = time.monotonic() + seconds
        while not is_so():
            assert self.process.poll() is None, f"the process ended ({self.process.returncode}): {self.log_end()}"
            if time.monotonic() > deadline:
                pytest.fail(f"{what}: not within {seconds} s: {seen() if seen else ''}\n{self.log_end()}")
            time.sleep(0.3)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and give the exit code, with the log unless it is 0; fails when another signal ended it."""
        self.process.send_signal(number)
        code = self.process.wait(40)
        assert code >= 0 or code == -number, f"ended by {signal.Signals(-code).name}: {self.log_end()}"
        if code:
            sys.stderr.write(self.log_end())
        return code

    def log_end(self) -> str:
        """The last lines that it logged."""
        return self.log_path.read_text(errors="replace")[-6000:]


def groundwatch(*arguments: str, environment: dict[str, str], log_path: Path) -> subprocess.Popen[bytes]:
    """Start the command line as a child."""
    with log_path.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "streams.cli", *arguments],
            stdout=log,
            stderr=log,
            env={**os.environ, **environment},
        )


def environment_for(data_dir: Path, kafka: str | None, topic: str) -> dict[str, str]:
    """Settings of a test deployment: embedded without ``kafka``, else on that broker with an embedded store."""
    plain = {
        "GROUNDWATCH_DATA_DIR": str(data_dir),
        "GROUNDWATCH_KAFKA__SOURCE__TOPICS": topic,
        "GROUNDWATCH_KAFKA__INTERNAL__PARTITIONS": "4",
        "GROUNDWATCH_WEB__PORT": "0",
        "GROUNDWATCH_ALERTS__TICK_SECONDS": "2",
        "GROUNDWATCH_LOG__FORMAT": "json",
    }
    if kafka is None:
        return plain
    return {
        **plain,
        "GROUNDWATCH_EMBEDDED": "false",
        "GROUNDWATCH_INGEST__SALT": "0123456789abcdef0123456789abcdef",
        "GROUNDWATCH_KAFKA__SOURCE__BOOTSTRAP_SERVERS": kafka,
        "GROUNDWATCH_KAFKA__INTERNAL__BOOTSTRAP_SERVERS": kafka,
    }


@contextmanager
def running(data_dir: Path, kafka: str | None, topic: str = "traces", **settings: str) -> Iterator[Running]:
    """``groundwatch run`` with all roles; ready when the block begins, killed at its end if still there."""
    data_dir.mkdir(parents=True, exist_ok=True)
    environment = environment_for(data_dir, kafka, topic) | settings
    log_path = data_dir / "run.log"
    if kafka is not None:
        assert groundwatch("migrate", environment=environment, log_path=log_path).wait(60) == 0, log_path.read_text()
    address_file = data_dir / "run.json"
    address_file.unlink(missing_ok=True)  # left behind by a killed process
    process = groundwatch("run", environment=environment, log_path=log_path)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not address_file.exists():
            assert process.poll() is None, log_path.read_text(errors="replace")[-3000:]
            assert time.monotonic() < deadline, log_path.read_text(errors="replace")[-3000:]
            time.sleep(0.1)
        yield Running(process, data_dir, json.loads(address_file.read_text()), log_path)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


@asynccontextmanager
async def producer(address: str) -> AsyncIterator[AIOKafkaProducer]:
    """A plain producer, as any product has one."""
    made = AIOKafkaProducer(bootstrap_servers=address, max_request_size=MAX_MESSAGE_BYTES + 100_000)
    await made.start()
    try:
        yield made
    finally:
        await made.stop()


def produce(address: str, topic: str, messages: Sequence[tuple[bytes | None, bytes | None]]) -> None:
    """Send keys and values, and wait until the broker has them."""

    async def send() -> None:
        async with producer(address) as made:
            futures = [await made.send(topic, key=key, value=value) for key, value in messages]
            await asyncio.gather(*futures)

    asyncio.run(send())


async def has_more(consumer: AIOKafkaConsumer) -> bool:
    """Whether a partition that it reads holds messages behind the place that it has reached."""
    ends = await consumer.end_offsets(consumer.assignment())
    return any([await consumer.position(partition) < end for partition, end in ends.items()])


def read_all(address: str, topic: str, at_least: int = 0, seconds: float = 20.0) -> list[ConsumerRecord]:
    """Everything in a topic, to the end of each partition; waits up to ``seconds`` until there are ``at_least``."""

    async def read() -> list[ConsumerRecord]:
        consumer = AIOKafkaConsumer(
            topic,
            bootstrap_servers=address,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            max_partition_fetch_bytes=MAX_MESSAGE_BYTES,
        )
        await consumer.start()
        found: list[ConsumerRecord] = []
        try:
            deadline = time.monotonic() + seconds
            while await has_more(consumer) or (len(found) < at_least and time.monotonic() < deadline):
                for batch in (await consumer.getmany(timeout_ms=500)).values():
                    found.extend(batch)
        finally:
            await consumer.stop()
        return found

    return asyncio.run(read())
