"""Seconds from produce to verdict in the store, and the memory of the processes, at a steady rate.

``python bench/latency.py [--rate 50] [--seconds 60] [--broker auto] [--json FILE]``. One process with all roles and
π = 1 on a fresh broker and store; another one produces traces of the demo product, stamped at the moment of sending.
A trace has arrived when the store has acknowledged its verdict. The first ten seconds do not count.
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from aiokafka import AIOKafkaProducer
from benchkit.brokers import KINDS, broker
from benchkit.machine import Memory, children, load, memory
from benchkit.pipeline import everything_drawn, pipeline, quiet_logs, settings_for
from benchkit.table import table

from demo.recipe import DEMO_RECIPE
from demo.stream import demo_traces
from schemas.verdict import Verdict
from streams.agents.batches import Lifeline
from streams.agents.shell import install_signals
from streams.run import run_loop, serve_roles
from streams.settings import Role
from streams.store import Store

TOPIC = "latency"
WARM_UP_SECONDS = 10
START_SECONDS = 90
DRAIN_SECONDS = 20


def main() -> None:
    """Serve in a child, produce here, print both tables."""
    arguments = parse()
    if arguments.serve:
        serve(*arguments.serve)
        return
    before = load()
    with (
        tempfile.TemporaryDirectory(prefix="groundwatch-latency-") as name,
        broker(arguments.broker, Path(name)) as (broker_name, address),
    ):
        folder = Path(name)
        with subprocess.Popen([sys.executable, __file__, "--serve", address, str(folder)]) as process:
            try:
                wait_until_serving(process, folder)
                idle = memory(process.pid)
                asyncio.run(produce(address, arguments.rate, arguments.seconds))
                time.sleep(DRAIN_SECONDS)
                held = [memory(process.pid), *broker_memory(broker_name)]
            finally:
                process.send_signal(signal.SIGTERM)
        seconds = json.loads((folder / "seconds.json").read_text())
    sent = arguments.rate * (arguments.seconds + WARM_UP_SECONDS)
    report(broker_name, seconds, sent, idle, held, f"{before} before, {load()} after", arguments.json)


def parse() -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=int, default=50, help="traces a second")
    parser.add_argument("--seconds", type=int, default=60, help="how long to produce that count")
    parser.add_argument("--broker", choices=KINDS, default="auto", help="auto: Apache Kafka where its home is set")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.rate < 1 or arguments.seconds < 1:
        parser.error("--rate and --seconds must be 1 or more")
    return arguments


def serve(address: str, folder: str) -> None:
    """All roles until a signal; then write what each verdict took, with the moment of sending, to seconds.json."""
    taken: list[tuple[float, float]] = []
    insert = Store.insert_verdicts

    def insert_and_look(store: Store, rows: Sequence[Verdict]) -> None:
        insert(store, rows)
        now = datetime.now(UTC)
        taken.extend((row.ts.timestamp(), (now - row.ts).total_seconds()) for row in rows)

    Store.insert_verdicts = insert_and_look  # type: ignore[method-assign,assignment]

    async def run() -> int:
        lifeline = Lifeline()
        install_signals(lifeline, 20)
        settings = settings_for(Path(folder) / "data", address, TOPIC)
        async with pipeline(settings, everything_drawn("latency"), lifeline) as runtime:
            return await serve_roles(runtime, tuple(Role))

    quiet_logs()
    code = run_loop(run)
    (Path(folder) / "seconds.json").write_text(json.dumps(taken))
    raise SystemExit(code)


def wait_until_serving(process: "subprocess.Popen[bytes]", folder: Path) -> None:
    """Until the address file of the web role is there; consumers join during the warm-up."""
    deadline = time.monotonic() + START_SECONDS
    while not (folder / "data" / "run.json").exists():
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit("latency: the process did not start; its messages are above")
        time.sleep(0.2)


async def produce(address: str, rate: int, seconds: int) -> None:
    """Traces at an even pace, warm-up first."""
    history = demo_traces(datetime.now(UTC), 3, DEMO_RECIPE)
    producer = AIOKafkaProducer(bootstrap_servers=address)
    await producer.start()
    try:
        loop = asyncio.get_running_loop()
        began = loop.time()
        for number in range(rate * (seconds + WARM_UP_SECONDS)):
            await asyncio.sleep(began + number / rate - loop.time())
            trace = {**next(history), "ts": datetime.now(UTC).isoformat()}
            await producer.send(TOPIC, key=str(trace["trace_id"]).encode(), value=json.dumps(trace).encode())
            if number % (rate * 10) == 0:
                print(f"{number / rate:.0f} s of {seconds + WARM_UP_SECONDS}", flush=True)
        await producer.flush()
    finally:
        await producer.stop()


def broker_memory(name: str) -> list[Memory]:
    """Memory of the broker; it and the serving process are this process's only children."""
    wanted = "java" if name == "Apache Kafka" else "tansu"
    return [found for found in (memory(pid) for pid in children(os.getpid())) if found.name.startswith(wanted)]


def report(  # noqa: PLR0913, PLR0917 - all of it is printed
    name: str, taken: Sequence[Sequence[float]], sent: int, idle: Memory, held: Sequence[Memory], when: str, target: Any
) -> None:
    """Percentiles and memory."""
    first = min(at for at, _ in taken)
    counted = np.array([seconds for at, seconds in taken if at - first >= WARM_UP_SECONDS])
    p50, p95, p99 = (float(value) for value in np.quantile(counted, (0.5, 0.95, 0.99)))
    print(f"\n{name}; {when}; {len(taken)} of {sent} verdicts in the store, {len(counted)} counted\n")
    print(table(["p50, s", "p95, s", "p99, s", "longest, s"], [[p50, p95, p99, float(counted.max())]]))
    rows = [["all roles, idle", idle.resident_mib, idle.peak_mib]]
    rows += [[one.name, one.resident_mib, one.peak_mib] for one in held]
    print("\n" + table(["process", "resident, MiB", "peak, MiB"], rows))
    if target:
        target.write_text(json.dumps({"p50": p50, "p95": p95, "p99": p99, "memory": rows, "verdicts": len(counted)}))


if __name__ == "__main__":
    main()
