"""Messages a second of a hostile topic beside a clean one, peak memory, and that every message is accounted for.

``python bench/hostile.py [--messages 100000] [--clean 20000] [--kills 0] [--seed N] [--broker auto] [--json FILE]``.
Both topics are full before ``groundwatch run`` starts on them, all roles in one process, fresh store; time counts from
the first stored trace to the last verdict. The clean topic holds good messages of the same kind alone; fewer will do,
since only rates are compared. ``--kills`` ends the process on the hostile topic so many times at random points, by
SIGKILL or SIGTERM, and starts it again on the same store; the time of starting is counted, too. A run that makes no
progress for ten minutes, neither in reading nor in judging, has stalled and fails. Judged by L0 and L1 alone: a model
would take most of the time and tell nothing of the topic.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep

from benchkit.brokers import KINDS, ROOT, broker
from benchkit.machine import load, memory
from benchkit.table import table

sys.path.insert(0, str(ROOT))  # the corpus and its accounting belong to the tests

from streams.broker.connection import Connection
from streams.broker.topics import TopicSpec, create_topics
from tests.hostile import SEEDS, Fate, Hostile, hostile_messages
from tests.hostile.message import Maker
from tests.integration.hostile_run import Sent, astray, fates_of, find, read_share, send
from tests.integration.running import Running, read_all, running

TOPIC = "hostile"
STALL_SECONDS = 600.0
LOOK_SECONDS = 3.0
"""Pause between two looks at what was done: each costs the process under test a query."""
SAY_SECONDS = 15.0
SETTINGS = {"GROUNDWATCH_ALERTS__TICK_SECONDS": "20", "GROUNDWATCH_MODELS__USE": "none"}
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
    kills: int
    longest_without_progress_s: float
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
    kills = {"clean": 0, "hostile": arguments.kills}
    wanted = [name for name in made if arguments.clean or name == "hostile"]
    found = [measure(name, made[name](arguments), arguments.broker, kills[name], arguments.seed) for name in wanted]
    rows = [
        [one.name, one.messages, one.megabytes, one.seconds, one.rate, one.cpu_rate, one.peak_mib, one.kills,
         one.longest_without_progress_s, len(one.astray)]
        for one in found
    ]  # fmt: skip
    heads = ["topic", "messages", "MB", "seconds", "messages/s", "messages/CPU s", "peak MiB", "kills"]
    print(f"\n{found[0].broker}; {load()} after\n")
    print(table([*heads, "longest pause s", "astray"], rows))
    ratio, cpu_ratio = found[-1].rate / found[0].rate, found[-1].cpu_rate / found[0].cpu_rate
    print(f"\nhostile / clean: {ratio:.2f} by the clock, {cpu_ratio:.2f} by processor time\n")
    for fate, count in sorted(found[-1].fates.items()):
        print(f"{count:8,}  {fate}")
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(one) for one in found]))
    if any(one.astray for one in found):
        raise SystemExit("\n".join(line for one in found for line in one.astray[:20]))


def parse() -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--clean", type=int, default=20_000, help="messages of the clean run; 0 leaves it out")
    parser.add_argument("--kills", type=int, default=0, help="how often the process on the hostile topic is killed")
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


def measure(name: str, messages: Iterator[Hostile], kind: str, kills: int, seed: int) -> Figures:
    """Fill a topic, run on it, account for it."""
    with (
        tempfile.TemporaryDirectory(prefix="groundwatch-hostile-") as folder,
        broker(kind, Path(folder)) as (
            broker_name,
            address,
        ),
    ):
        asyncio.run(create_topics(Connection(address), [TopicSpec(TOPIC, 4, config=TOPIC_CONFIG)]))
        began = monotonic()
        sent = send(address, TOPIC, messages)
        print(f"{name}: {len(sent):,} messages sent in {monotonic() - began:.0f} s", flush=True)
        reading = Reading(name, address, sent)
        for share, number in death_points(kills, seed):
            with running(Path(folder) / "data", address, TOPIC, **SETTINGS) as run:
                reading.until(run, share)
                reading.end(run, number)
        with running(Path(folder) / "data", address, TOPIC, **SETTINGS) as run:
            reading.until(run, 1)
            reading.until_judged(run)
            unreadable = sum(one.message.fate is Fate.LETTER for one in sent)
            letters = read_all(address, "gw.deadletter", unreadable, 120)
            assert reading.end(run, signal.SIGTERM) == 0
        found = find(Path(folder) / "data", letters)
    size = sum(len(one.message.value or b"") for one in sent) / 1e6
    return Figures(
        name,
        broker_name,
        len(sent),
        size,
        reading.seconds,
        reading.cpu,
        reading.peak,
        kills,
        reading.longest_pause,
        dict(Counter(fates_of(sent, found))),
        astray(sent, found),
    )


def death_points(kills: int, seed: int) -> list[tuple[float, signal.Signals]]:
    """At which share of the topic the process ends, and by what."""
    dice = random.Random(f"{seed} kills")
    points = sorted(dice.uniform(0.02, 0.95) for _ in range(kills))
    return [(point, dice.choice([signal.SIGKILL, signal.SIGTERM])) for point in points]


class Reading:
    """How far the processes on one topic are, looked at now and then, with a line about it."""

    def __init__(self, name: str, address: str, sent: Sequence[Sent]) -> None:
        self._name, self._address, self._sent = name, address, sent
        self._began = 0.0
        self._moved = self._said = monotonic()
        self.share = self.longest_pause = self.cpu = self.peak = self.seconds = 0.0

    def until(self, run: Running, share: float) -> None:
        """Look until so much of the topic is read. Fails when the process ends or nothing moves for too long."""
        while self.share < share:
            self._wait(run)
            self._look()

    def until_judged(self, run: Running) -> None:
        """Look until no drawn trace waits for its verdict. Fails as ``until``."""
        verdicts = -1
        while (counts := run.get("/api/v1/counts"))["verdicts"] < counts["drawn"]:
            if counts["verdicts"] > verdicts:
                verdicts, self._moved = counts["verdicts"], monotonic()
            self._wait(run)
        self.seconds = monotonic() - self._began

    def _wait(self, run: Running) -> None:
        assert run.process.poll() is None, f"the process ended ({run.process.returncode}): {run.log_end()}"
        assert monotonic() - self._moved < STALL_SECONDS, f"stalled at {self.share:.3f}: {run.log_end()}"
        sleep(LOOK_SECONDS)

    def end(self, run: Running, number: signal.Signals) -> int:
        """End the process; what it used is added up."""
        self.cpu += cpu_seconds(run.process.pid)
        self.peak = max(self.peak, memory(run.process.pid).peak_mib)
        return run.stop(number)

    def _look(self) -> None:
        share, now = read_share(self._address, TOPIC, self._sent), monotonic()
        if share > self.share:
            self._began = self._began or now
            self.longest_pause = max(self.longest_pause, now - self._moved) if self.share else 0.0
            self.share, self._moved = share, now
        if now - self._said > SAY_SECONDS and share:
            self._said = now
            took = now - self._began
            left = took / share * (1 - share)
            print(f"{self._name}: {share:6.1%} read after {took:.0f} s, about {left:.0f} s left", flush=True)


def cpu_seconds(pid: int) -> float:
    """Processor time of a process since its start, all threads."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
