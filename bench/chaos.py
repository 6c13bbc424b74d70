"""Kills, outages, and an account of every trace: lost, counted twice, and how long restarts took.

``python bench/chaos.py [--traces 50000] [--kills 100] [--outages 20] [--seed 1] [--low 2000] [--high 20000]
[--json FILE]``. Two workers with all roles on one Apache Kafka (GROUNDWATCH_KAFKA_HOME) and one store; half of the
traces come as spans over three messages. Kills are SIGKILL or SIGTERM at random points; outages: store and broker cut
off, silent, killed, restarted. All of it is drawn from the seed. The store is ClickHouse's HTTP interface over the
embedded engine in this process, which is slower than a server: see the share of time it worked in docs/results.md.
"""

import argparse
import json
import logging
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from statistics import median, quantiles

from benchkit.brokers import HOME_VARIABLE, ROOT
from benchkit.machine import load
from benchkit.table import table

sys.path.insert(0, str(ROOT))  # the storm belongs to the tests, which run a short one

from tests.chaos.storm import Outcome, Plan, storm


def main() -> None:
    """Run the storm and print what became of everything; the exit code is 1 when a trace is lost or counts twice."""
    arguments = parse()
    home = os.environ.get(HOME_VARIABLE)
    if not home:
        raise SystemExit(f"{HOME_VARIABLE} must name the folder of Apache Kafka")
    plan = Plan(
        arguments.traces, arguments.kills, arguments.outages, arguments.seed, low=arguments.low, high=arguments.high
    )
    print(f"{plan}; {load()} before", flush=True)
    for name in ("aiokafka", "aiohttp.server"):  # they report every try, and every request that was cut
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="groundwatch-chaos-") as folder:
        outcome = storm(Path(folder), Path(home).resolve(), plan, lambda line: print(line, flush=True))
    report(outcome)
    if arguments.json:
        arguments.json.write_text(json.dumps(asdict(outcome)))
    if outcome.faults:
        raise SystemExit(f"not accounted for: {outcome.faults}")


def parse() -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=int, default=50_000, help="half of them as spans")
    parser.add_argument("--kills", type=int, default=100, help="of either worker, SIGKILL or SIGTERM")
    parser.add_argument("--outages", type=int, default=20, help="of the store, the broker, or the way to one of them")
    parser.add_argument("--seed", type=int, default=1, help="of the texts, the kills and the outages")
    parser.add_argument("--low", type=int, default=2_000, help="bytes of the smallest trace")
    parser.add_argument("--high", type=int, default=20_000, help="bytes of the largest")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    arguments = parser.parse_args()
    if arguments.traces < 1 or min(arguments.kills, arguments.outages) < 0 or arguments.low > arguments.high:
        parser.error("--traces must be 1 or more, --kills and --outages 0 or more, --low at most --high")
    return arguments


def report(outcome: Outcome) -> None:
    """The figures as tables."""
    plan, restarts = outcome.plan, outcome.restart_seconds
    print(f"\nseed {plan.seed}, {outcome.seconds:.0f} s, {load()} after\n")
    again = outcome.handled - outcome.messages
    rows = [[plan.traces, outcome.messages, outcome.drawn, outcome.lost, outcome.twice, again]]
    print(table(["traces", "messages", "drawn", "lost", "counted twice", "read again"], rows))
    slow = quantiles(restarts, n=10, method="inclusive")[-1] if len(restarts) > 1 else sum(restarts)
    starts: list[list[float]] = []
    if restarts:
        starts.append([len(restarts), min(restarts), median(restarts), slow, max(restarts)])
    print("\nseconds from the start of a process to the first messages that it has handled\n")
    print(table(["starts", "least", "median", "90 %", "most"], starts))
    print(f"\nevents {outcome.events}\nexit codes {outcome.exits}")
    for text in outcome.ends:
        print(f"\nended by itself with {text}")


if __name__ == "__main__":
    main()
