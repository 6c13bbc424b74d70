"""Messages a second of a hostile topic beside a clean one, peak memory, and that every message is accounted for.

``python bench/hostile.py [--messages 100000] [--clean 20000] [--seed N] [--broker auto] [--json FILE]``. Both topics
are full before ``groundwatch run`` starts on them, all roles in one process, fresh store; time counts from the first
stored trace to the last verdict. The clean topic holds good messages of the same kind alone; fewer will do, since only
rates are compared.
"""

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

from benchkit.brokers import KINDS, ROOT, broker
from benchkit.machine import load, memory
from benchkit.table import table

sys.path.insert(0, str(ROOT))  # the corpus and its accounting belong to the tests

from streams.broker.connection import Connection
from streams.broker.topics import TopicSpec, create_topics
from tests.hostile import SEEDS, Fate, Hostile, hostile_messages
from tests.hostile.message import Maker
from tests.integration.hostile_run import Sent, astray, fates_of, find, is_read, send
from tests.integration.running import Running, read_all, running

TOPIC = "hostile"
PATIENCE_SECONDS = 7200.0
TOPIC_CONFIG = {"max.message.bytes": "64000000", "message.timestamp.after.max.ms": str(2**62)}


@dataclass(frozen=True, slots=True)
class Figures:
    """What one run showed."""

    name: str
    broker: str
    messages: int
    megabytes: float
    seconds: float
    cpu_seconds: float
    peak_mib: float
    fates: dict[str, int]
    astray: list[str]

    @property
    def rate(self) -> float:
        """Messages a second."""
        return self.messages / self.seconds

    @property
    def cpu_rate(self) -> float:
        """Messages a second of processor time, which a busy machine does not change much."""
        return self.messages / self.cpu_seconds


def main() -> None:
    """Run both and print the table; the exit code is 1 when a message is astray."""
    arguments = parse()
    print(f"seed {arguments.seed}, {arguments.messages:,} messages; {load()} before", flush=True)
    made = {"clean": clean, "hostile": hostile}
    found = [measure(name, make(arguments), arguments.broker) for name, make in made.items()]
    rows = [
        [one.name, one.messages, one.megabytes, one.seconds, one.rate, one.cpu_rate, one.peak_mib, len(one.astray)]
        for one in found
    ]
    print(f"\n{found[0].broker}; {load()} after\n")
    print(table(["topic", "messages", "MB", "seconds", "messages/s", "messages/CPU s", "peak MiB", "astray"], rows))
    ratio, cpu_ratio = found[1].rate / found[0].rate, found[1].cpu_rate / found[0].cpu_rate
    print(f"\nhostile / clean: {ratio:.2f} by the clock, {cpu_ratio:.2f} by processor time\n")
    for fate, count in sorted(found[1].fates.items()):
        print(f"{count:8,}  {fate}")
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(one) for one in found]))
    if any(one.astray for one in found):
        raise SystemExit("\n".join(line for one in found for line in one.astray[:20]))


def parse() -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--clean", type=int, default=20_000, help="messages of the clean run")
    parser.add_argument("--seed", type=int, default=SEEDS[0], help="of the corpus; the same seed gives the same one")
    parser.add_argument("--broker", choices=KINDS, default="auto", help="auto: Apache Kafka where its home is set")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    return parser.parse_args()


def hostile(arguments: argparse.Namespace) -> Iterator[Hostile]:
    """The whole corpus."""
    return hostile_messages(arguments.seed, arguments.messages, datetime.now(UTC))


def clean(arguments: argparse.Namespace) -> Iterator[Hostile]:
    """Good messages alone."""
    rng, now = random.Random(arguments.seed), datetime.now(UTC)
    for number in range(arguments.clean):
        maker = Maker("good", number, now, rng)
        yield maker.stored(maker.encoded())


def measure(name: str, messages: Iterator[Hostile], kind: str) -> Figures:
    """Fill a topic, run on it, account for it."""
    with (
        tempfile.TemporaryDirectory(prefix="groundwatch-hostile-") as folder,
        broker(kind, Path(folder)) as (
            broker_name,
            address,
        ),
    ):
        asyncio.run(create_topics(Connection(address), [TopicSpec(TOPIC, 4, config=TOPIC_CONFIG)]))
        sent = send(address, TOPIC, messages)
        with running(Path(folder) / "data", address, TOPIC, GROUNDWATCH_ALERTS__TICK_SECONDS="20") as run:
            seconds = read_to_the_end(run, address, sent)
            cpu, peak = cpu_seconds(run.process.pid), memory(run.process.pid).peak_mib
            letters = all_letters(address, sum(one.message.fate is Fate.LETTER for one in sent))
            assert run.stop() == 0
        found = find(Path(folder) / "data", letters)
    size = sum(len(one.message.value or b"") for one in sent) / 1e6
    lost, fates = astray(sent, found), dict(Counter(fates_of(sent, found)))
    return Figures(name, broker_name, len(sent), size, seconds, cpu, peak, fates, lost)


def read_to_the_end(run: Running, address: str, sent: Sequence[Sent]) -> float:
    """Seconds until everything is read and judged, from the first stored trace on."""
    run.wait_for(lambda: run.get("/api/v1/counts")["traces"] > 0, PATIENCE_SECONDS, "a first trace")
    began = monotonic()
    run.wait_for(lambda: is_read(address, TOPIC, sent), PATIENCE_SECONDS, "everything read")
    run.wait_for(lambda: is_judged(run), PATIENCE_SECONDS, "every drawn trace judged")
    return monotonic() - began


def cpu_seconds(pid: int) -> float:
    """Processor time of a process since its start, all threads."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_judged(run: Running) -> bool:
    """True when no drawn trace waits for its verdict."""
    counts = run.get("/api/v1/counts")
    return bool(counts["verdicts"] >= counts["drawn"])


def all_letters(address: str, at_least: int) -> list[Any]:
    """Every dead letter."""
    first = read_all(address, "gw.deadletter", at_least, 120)
    return first + read_all(address, "gw.deadletter", 10**9, 10)[len(first) :]


if __name__ == "__main__":
    main()
