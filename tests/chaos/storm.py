"""The kill test: workers killed at random points of a run, with outages of store and broker mixed in.

What happens when is drawn from one seed and tied to the progress of the run, not to the clock, so that a slow machine
gets the same storm.
"""

import asyncio
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from schemas.errors import StoreUnavailable
from tests.chaos.audit import account
from tests.chaos.load import Request, in_order, requests, send
from tests.chaos.scene import TOPIC, Scene, scene
from tests.chaos.workers import Worker, lines

K = TypeVar("K")
WORKERS = 2
LOOK_SECONDS = 0.25
SAY_SECONDS = 10.0
PART = 250
"""Requests that are sent together; the spans of one never lie in two parts."""
LEAD = 4_000
"""How far sending may run ahead of storing, in traces: there is always work, and the broker's disk stays small."""
EXPECTED = {0, 1, 75, -signal.SIGKILL, -signal.SIGTERM}
"""How a process may end: drained, cut off from the broker in the middle of its start, not drained in time, killed,
stopped before the program was loaded."""
OUTAGES = ("store cut", "store silent", "broker killed", "broker stopped", "our topics cut", "product's topics silent")
LONGEST_OUTAGE_SECONDS = 4.0
AT_WORK_SHARE = 0.75
"""Of the kills: those that wait until the process has handled something; the others may hit its start."""
PATIENCE_SECONDS = 30.0
"""How long they wait for that: on few traces the other worker may have all the work."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done, all of it drawn from ``seed``. ``low`` and ``high`` bound the bytes of a trace."""

    traces: int
    kills: int
    outages: int
    seed: int
    low: int = 2_000
    high: int = 20_000

    def events(self) -> list[tuple[int, str]]:
        """At how many stored traces what happens, in order."""
        dice = random.Random(self.seed)
        kinds = [dice.choice(["SIGKILL", "SIGTERM"]) for _ in range(self.kills)]
        kinds += [OUTAGES[number % len(OUTAGES)] for number in range(self.outages)]
        dice.shuffle(kinds)
        return list(zip(sorted(dice.randrange(int(0.95 * self.traces)) for _ in kinds), kinds, strict=True))


@dataclass(slots=True)
class Outcome:
    """What a storm showed; ``faults`` is empty when everything was stored, judged and tallied once."""

    plan: Plan
    faults: dict[str, object] = field(default_factory=dict)
    lost: int = 0
    twice: int = 0
    seconds: float = 0.0
    messages: int = 0
    handled: int = 0
    """Source messages that ingest handled, those that came again counted again; less what died before its log line."""
    drawn: int = 0
    events: dict[str, int] = field(default_factory=dict)
    exits: dict[int, int] = field(default_factory=dict)
    ends: list[str] = field(default_factory=list)
    """What processes wrote last that ended by themselves."""
    restart_seconds: list[float] = field(default_factory=list)
    """For each process that came so far, the time from its start to the first messages that it had handled."""


def storm(folder: Path, home: Path, plan: Plan, say: Callable[[str], None]) -> Outcome:
    """Run the plan and account for it; ``say`` gets a line now and then."""
    outcome = Outcome(plan)
    more = {"GROUNDWATCH_ALERTS__TICK_SECONDS": "5", "GROUNDWATCH_DRAIN_SECONDS": "10"}
    with scene(folder, home, count=WORKERS, more=more) as stage:
        for number, worker in enumerate(stage.fleet):
            worker.environment["GROUNDWATCH_INSTANCE_ID"] = f"worker-{number}"
        run = _Run(stage, plan, outcome, say)
        run.all()
    return outcome


def _count(counts: dict[K, int], what: K) -> None:
    counts[what] = counts.get(what, 0) + 1


class _Run:
    def __init__(self, stage: Scene, plan: Plan, outcome: Outcome, say: Callable[[str], None]) -> None:
        self._stage = stage
        self._plan = plan
        self._outcome = outcome
        self._say = say
        self._dice = random.Random(f"{plan.seed} of the run")
        self._stored = 0
        self._began = self._said = time.monotonic()
        self._error: BaseException | None = None

    def all(self) -> None:
        for worker in self._stage.fleet:
            worker.start()
        sender = threading.Thread(target=self._send, name="sender", daemon=True)
        sender.start()
        for done, (at, what) in enumerate(self._plan.events()):
            self._wait_until(at, done)
            self._do(what)
        self._wait_until(self._plan.traces, self._plan.kills + self._plan.outages)
        sender.join()
        self._stage.settle(300)
        self._outcome.seconds = time.monotonic() - self._began
        self._conclude()

    def _send(self) -> None:
        try:
            for part in self._parts():
                while len(self._stage.produced) - self._stored > LEAD:
                    time.sleep(LOOK_SECONDS)
                self._stage.produced += [one.trace_id for one in part]
                self._outcome.messages += asyncio.run(self._sent(part))
        except BaseException as error:  # noqa: BLE001  told by the main thread
            self._error = error

    async def _sent(self, part: list[Request]) -> int:
        """The product itself must come through a broker's death, too: what is unsure is sent again."""
        while True:
            try:
                return await send(self._stage.kafka.address, TOPIC, in_order(part, self._plan.seed))
            except Exception as error:  # noqa: BLE001  whatever a client says of a dead broker
                self._say(f"sending again: {type(error).__name__}")
                await asyncio.sleep(1)

    def _parts(self) -> Iterator[list[Request]]:
        plan = self._plan
        part: list[Request] = []
        for one in requests(range(plan.traces), datetime.now(UTC), plan.seed, low=plan.low, high=plan.high):
            part.append(one)
            if len(part) == PART:
                yield part
                part = []
        if part:
            yield part

    def _wait_until(self, stored: int, done: int) -> None:
        while self._stored < stored:
            if self._error is not None:
                raise self._error
            self._look()
            if time.monotonic() - self._said > SAY_SECONDS:
                self._said = time.monotonic()
                self._say(self._progress(done))
            time.sleep(LOOK_SECONDS)

    def _look(self) -> None:
        try:
            (row,) = self._stage.store._connection.query("SELECT uniqExact(trace_id) AS n FROM traces")
            self._stored = row["n"]
        except StoreUnavailable:
            pass
        for worker in self._stage.fleet:
            worker.note_work()
            if not worker.is_alive:  # ended by itself; its supervisor starts it again
                self._restart(worker, worker.wait())

    def _progress(self, done: int) -> str:
        seconds = time.monotonic() - self._began
        left = f"{seconds * (self._plan.traces / self._stored - 1):.0f}" if self._stored else "?"
        of = self._plan.kills + self._plan.outages
        return (
            f"{seconds:6.0f} s  stored {self._stored:,} of {self._plan.traces:,}, events {done} of {of}, "
            f"about {left} s left"
        )

    def _do(self, what: str) -> None:
        _count(self._outcome.events, what)
        time.sleep(self._dice.uniform(0, 1))
        if what in signal.Signals.__members__:
            worker = self._dice.choice(self._stage.fleet)
            if self._dice.random() < AT_WORK_SHARE:
                self._wait_until_at_work(worker)
            worker.signal(signal.Signals[what])
            self._restart(worker, worker.wait())
        else:
            self._outage(what, self._dice.uniform(0.5, LONGEST_OUTAGE_SECONDS))

    def _wait_until_at_work(self, worker: Worker) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not worker.note_work() and time.monotonic() < deadline:
            time.sleep(LOOK_SECONDS)

    def _restart(self, worker: Worker, code: int) -> None:
        _count(self._outcome.exits, code)
        if code not in EXPECTED:
            self._outcome.ends.append(f"{code}: {worker.log()[-4000:]}")
            self._say(f"a worker ended with {code}")
        self._outcome.handled += sum(line["messages"] for line in lines(worker.log(), "batch_ingested"))
        worker.start()

    def _outage(self, what: str, seconds: float) -> None:
        kafka, way = self._stage.kafka, self._stage.store_way
        if what.startswith("broker"):
            kafka.stop(signal.SIGKILL if what.endswith("killed") else signal.SIGTERM)
            time.sleep(seconds)
            kafka.start()
            kafka.wait_up()
            return
        proxy = {"store": way, "our": kafka.ours, "product's": kafka.theirs}[what.split(maxsplit=1)[0]]
        if what.endswith("cut"):
            proxy.cut()
        else:
            proxy.silence()
        time.sleep(seconds)
        proxy.heal()

    def _conclude(self) -> None:
        for worker in self._stage.fleet:
            worker.note_work()
            _count(self._outcome.exits, worker.stop())
            self._outcome.handled += sum(line["messages"] for line in lines(worker.log(), "batch_ingested"))
            self._outcome.restart_seconds += worker.restart_seconds
        found = account(self._stage.store, self._stage.produced)
        self._outcome.faults, self._outcome.drawn = found.faults, found.drawn
        self._outcome.lost, self._outcome.twice = len(found.lost), len(found.twice)
