"""A broker, a store and a fleet that live through several outages, with an account of everything after each."""

import asyncio
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from schemas.errors import StoreUnavailable
from streams.broker.connection import Connection
from streams.broker.topics import TopicSpec, create_topics
from streams.store import Store
from tests.chaos.audit import account
from tests.chaos.kafka import Kafka
from tests.chaos.load import in_order, requests, send
from tests.chaos.proxy import Proxy
from tests.chaos.workers import Worker, workers
from tests.clickhouse_double import ClickHouseDouble

TOPIC = "traces"
PARTITIONS = 4
POLL_SECONDS = 0.5
PATIENCE_SECONDS = 240.0
"""For what takes seconds: a machine that is busy with other things may be ten times slower."""


@dataclass(slots=True)
class Scene:
    """What the tests of a file share. Ids of all that was ever sent stay in ``produced``."""

    kafka: Kafka
    server: ClickHouseDouble
    store_way: Proxy
    store: Store
    fleet: Sequence[Worker]
    produced: list[str] = field(default_factory=list)

    def down(self) -> None:
        """No worker runs; the way to broker and store is open."""
        for worker in self.fleet:
            worker.signal(signal.SIGCONT)
            worker.kill()
        self.kafka.heal()
        self.store_way.heal()

    def up(self, count: int = 1) -> Sequence[Worker]:
        """The first ``count`` workers, at work, with broker and store within reach; the others are not there."""
        self.server.faults.clear()
        self.store_way.heal()
        self.kafka.heal()
        for worker in self.fleet[count:]:
            worker.kill()
        for worker in self.fleet[:count]:
            worker.signal(signal.SIGCONT)
            if not worker.is_alive:
                worker.start()
        for worker in self.fleet[:count]:
            worker.running()
        self.send(20)
        self.settle()
        return self.fleet[:count]

    def send(self, count: int, *, seed: int = 1, low: int = 500, high: int = 2_000) -> None:
        """Send so many new traces, half of them as spans, and wait until the broker has them."""
        first = len(self.produced)
        made = list(requests(range(first, first + count), datetime.now(UTC), seed, low=low, high=high))
        self.produced += [one.trace_id for one in made]
        asyncio.run(send(self.kafka.address, TOPIC, in_order(made, seed)))

    def stored(self) -> int:
        """How many traces the store holds now."""
        return self.store.counts().traces

    def wait_for(self, is_so: Any, what: str, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait until ``is_so()``; fails with what the workers wrote last."""
        deadline = time.monotonic() + seconds
        while not is_so():
            assert time.monotonic() < deadline, f"{what}: not within {seconds} s\n{self.log_ends()}"
            time.sleep(POLL_SECONDS)

    def settle(self, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait until all that was sent is stored once, judged once and tallied once; fails with what is missing.

        The tallies are those that the alert leader of the fleet makes.
        """
        deadline = time.monotonic() + seconds
        while faults := self.faults():
            assert time.monotonic() < deadline, f"{faults}\n{self.log_ends()}"
            time.sleep(POLL_SECONDS)

    def faults(self) -> dict[str, object]:
        """What is not accounted for at the moment."""
        try:
            if self.stored() < len(self.produced):
                return {"stored": self.stored(), "produced": len(self.produced)}
            return account(self.store, self.produced).faults
        except StoreUnavailable as error:
            return {"store": str(error)}

    def log_ends(self) -> str:
        """The last lines of each worker."""
        return "\n".join(f"{worker.data_dir.name}: {worker.log()[-1500:]}" for worker in self.fleet)


@contextmanager
def scene(  # noqa: PLR0913  a scene is these facts
    folder: Path,
    home: Path,
    *,
    count: int,
    more: dict[str, str] | None = None,
    properties: Sequence[str] = (),
    host: str = "127.0.0.1",
) -> Iterator[Scene]:
    """Broker and store up, tables and topics made, ``count`` workers not yet started.

    ``host`` is the broker's name for the workers.
    """
    with ExitStack() as stack:
        kafka = stack.enter_context(Kafka(home, folder / "kafka", *properties, host=host))
        server = stack.enter_context(ClickHouseDouble(str(folder / "store")))
        way = stack.enter_context(Proxy(server.port))
        asyncio.run(create_topics(Connection(kafka.address), [TopicSpec(TOPIC, PARTITIONS)]))
        dsn = f"http://default:@127.0.0.1:{way.port}"
        settings = {**kafka.addresses, **(more or {})}
        fleet = stack.enter_context(workers(folder, kafka.address, TOPIC, dsn, count=count, more=settings))
        store = Store.open(server.dsn)
        stack.callback(store.close)
        yield Scene(kafka, server, way, store, fleet)
