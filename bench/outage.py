"""Memory of a worker while the store is away and more waits than its buffers hold, and how fast it catches up.

``python bench/outage.py [--minutes 3] [--traces 20000] [--low 2000] [--high 20000] [--json FILE]``. One worker with all
roles on Apache Kafka (GROUNDWATCH_KAFKA_HOME); the store is cut off before the traces are sent. Memory is looked at
every five seconds; it is flat when the last third of the outage shows what the second one did.
"""

import argparse
import json
import logging
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchkit.brokers import HOME_VARIABLE, ROOT
from benchkit.machine import load, memory
from benchkit.table import table

sys.path.insert(0, str(ROOT))  # broker, relay and worker belong to the tests

from tests.chaos.scene import Scene, scene

LOOK_SECONDS = 5.0
PATIENCE_SECONDS = 3600.0


def main() -> None:
    """Run the outage and print memory by third, and what was there in the end."""
    arguments = parse()
    home = os.environ.get(HOME_VARIABLE)
    if not home:
        raise SystemExit(f"{HOME_VARIABLE} must name the folder of Apache Kafka")
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    print(f"{arguments.traces:,} traces, store away for {arguments.minutes} min; {load()} before", flush=True)
    with (
        tempfile.TemporaryDirectory(prefix="groundwatch-outage-") as folder,
        scene(Path(folder), Path(home).resolve(), count=1) as stage,
    ):
        before, during, seconds = run(stage, arguments)
    third = len(during) // 3
    rows = [["before", before, before]]
    rows += [
        [name, min(part), max(part)]
        for name, part in {
            "first third": during[:third], "second third": during[third:-third], "last third": during[-third:]
        }.items()
    ]  # fmt: skip
    print(f"\n{load()} after; caught up and accounted for {seconds:.0f} s after the store was back\n")
    print(table(["of the outage", "least MiB", "most MiB"], rows))
    if arguments.json:
        arguments.json.write_text(json.dumps({"before": before, "during": during, "caught_up_seconds": seconds}))


def parse() -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=3.0, help="how long the store is away")
    parser.add_argument("--traces", type=int, default=20_000, help="sent during the outage, half of them as spans")
    parser.add_argument("--low", type=int, default=2_000, help="bytes of the smallest trace")
    parser.add_argument("--high", type=int, default=20_000, help="bytes of the largest")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    return parser.parse_args()


def run(stage: Scene, arguments: argparse.Namespace) -> tuple[float, Sequence[float], float]:
    """Resident memory in MiB before and during the outage, and the seconds until everything is accounted for."""
    (worker,) = stage.up()
    assert worker.process is not None
    before = memory(worker.process.pid).resident_mib
    stage.store_way.cut()
    began = time.monotonic()
    stage.send(arguments.traces, low=arguments.low, high=arguments.high)
    during = []
    while time.monotonic() - began < 60 * arguments.minutes:
        time.sleep(LOOK_SECONDS)
        during.append(memory(worker.process.pid).resident_mib)
    stage.store_way.heal()
    back = time.monotonic()
    stage.settle(PATIENCE_SECONDS)
    return before, during, time.monotonic() - back


if __name__ == "__main__":
    main()
