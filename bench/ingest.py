"""Traces a second through ingest, with and without L1, beside a bare consumer that only parses the same bytes.

``python bench/ingest.py [--runs 3] [--broker auto] [--json FILE]``. Each measurement is a process of its own on a
fresh broker: fresh embedded store, default policy, one ingest role; the topic is full before its reader starts, and
time counts from the first message. Variants take turns, so that a busy minute hits all of them.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from aiokafka import AIOKafkaConsumer
from benchkit.brokers import KINDS, broker, fill
from benchkit.machine import load
from benchkit.pipeline import pipeline, quiet_logs, settings_for
from benchkit.table import table

from demo.recipe import DEMO_RECIPE
from demo.stream import demo_traces
from sampling.policy_file import default_policy
from schemas.trace import Trace
from streams.agents.batches import Lifeline
from streams.agents.shell import serve
from streams.roles import build_ingest
from streams.run import run_loop
from streams.runtime import Runtime

SIZES = {2_000: 6_000, 8_000: 3_000}
"""Bytes of a trace, and how many of them."""
TOPIC = "ingest"
PATIENCE_SECONDS = 600.0
VARIANTS = ("raw", "without L1", "with L1")


def main() -> None:
    """Run all variants and print the table."""
    arguments = parse()
    if arguments.one:
        print(json.dumps(measure(*arguments.one)))
        return
    rates: dict[tuple[int, str], list[float]] = {}
    before = load()
    for size, count in SIZES.items():
        values = list(messages(size, count))
        for run in range(arguments.runs):
            for variant in VARIANTS:
                name, rate = on_fresh_broker(arguments.broker, variant, values)
                rates.setdefault((size, variant), []).append(rate)
                print(f"{name}: {size:,} bytes, {variant}, run {run + 1}: {rate:,.0f}/s", flush=True)
    report(name, rates, before, arguments.json)


def parse() -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="measurements per variant and size; medians are shown")
    parser.add_argument("--broker", choices=KINDS, default="auto", help="auto: Apache Kafka where its home is set")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.runs < 1:
        parser.error("--runs must be 1 or more")
    return arguments


def messages(size: int, count: int) -> Iterator[bytes]:
    """Native traces of the demo product, filled up with passages of other traces to ``size`` bytes."""
    traces = [trace for trace in demo_traces(datetime.now(UTC), 1, DEMO_RECIPE) if trace.get("passages")][:count]
    texts = [passage["text"] for trace in traces for passage in trace["passages"]]
    number = 0
    for trace in traces:
        passages = list(trace["passages"])
        while len(json.dumps({**trace, "passages": passages})) < size - 200:
            missing = size - 100 - len(json.dumps({**trace, "passages": passages}))
            passages.append({"doc_id": f"fill-{number}", "text": texts[number % len(texts)][:missing]})
            number += 1
        yield json.dumps({**trace, "passages": passages}).encode()


def on_fresh_broker(kind: str, variant: str, values: Sequence[bytes]) -> tuple[str, float]:
    """One measurement in a process of its own, since the embedded engine opens only one path a process."""
    with (
        tempfile.TemporaryDirectory(prefix="groundwatch-ingest-") as folder,
        broker(kind, Path(folder)) as (name, address),
    ):
        fill(address, TOPIC, values)
        command = [sys.executable, __file__, "--one", address, variant, str(len(values)), str(Path(folder) / "data")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS)
    if done.returncode:
        raise SystemExit(f"{variant} failed:\n{done.stdout}{done.stderr}")
    return name, float(json.loads(done.stdout.splitlines()[-1]))


def measure(address: str, variant: str, count: str, folder: str) -> float:
    """Messages a second of one variant."""
    if variant == "raw":
        return asyncio.run(read_raw(address, int(count)))
    return measure_ingest(address, Path(folder), int(count), has_l1=variant == "with L1")


async def read_raw(address: str, count: int) -> float:
    """A getmany loop that parses each message into a trace and does nothing else."""
    consumer = AIOKafkaConsumer(
        TOPIC, bootstrap_servers=address, auto_offset_reset="earliest", group_id=None, enable_auto_commit=False
    )
    await consumer.start()
    try:
        began, seen = 0.0, 0
        while seen < count:
            batches = await consumer.getmany(timeout_ms=1000, max_records=500)
            began = began or (perf_counter() if batches else 0.0)
            seen += sum(len([Trace.model_validate_json(m.value) for m in batch]) for batch in batches.values())
        return count / (perf_counter() - began)
    finally:
        await consumer.stop()


def measure_ingest(address: str, folder: Path, count: int, *, has_l1: bool) -> float:
    """The ingest role as ``groundwatch run --roles ingest`` builds it, from its first batch to the last one stored."""
    lifeline = Lifeline()
    seen: dict[str, float] = {"messages": 0.0, "began": 0.0, "ended": 0.0}

    def on_event(_logger: Any, _method: str, event: Mapping[str, Any]) -> None:
        if event.get("event") != "batch_ingested":
            return
        seen["ended"] = perf_counter()
        seen["began"] = seen["began"] or seen["ended"] - event["took_ms"] / 1000
        seen["messages"] += event["messages"]
        if seen["messages"] >= count:
            lifeline.stop("all read")

    async def run() -> int:
        settings = settings_for(folder, address, TOPIC)
        async with pipeline(settings, default_policy(), lifeline) as runtime:
            choose_detector(runtime, has_l1=has_l1)
            return await serve([await build_ingest(runtime)], lifeline, runtime.settings.drain_seconds)

    quiet_logs(on_event)
    run_loop(run)
    return seen["messages"] / (seen["ended"] - seen["began"])


def choose_detector(runtime: Runtime, *, has_l1: bool) -> None:
    """Without L1 the screener gets no detector; with it the weights are loaded before the clock starts."""
    if has_l1:
        runtime.detector.judge([])
    else:
        runtime.detector = None  # type: ignore[assignment]  # what ``Screener`` takes as no L1


def report(name: str, rates: Mapping[tuple[int, str], list[float]], before: str, target: Path | None) -> None:
    """Medians, and each variant as a share of the bare consumer."""
    rows = []
    for size in SIZES:
        raw = median(rates[size, "raw"])
        for variant in VARIANTS:
            found = rates[size, variant]
            rows.append([f"{size:,}", variant, median(found), min(found), max(found), median(found) / raw])
    print(f"\n{name}; {before} before, {load()} after; messages a second\n")
    print(table(["bytes", "variant", "median", "lowest", "highest", "of raw"], rows))
    if target:
        target.write_text(json.dumps({f"{size} {variant}": found for (size, variant), found in rates.items()}))


if __name__ == "__main__":
    main()
