"""What a child of `bench/ingest.py` does: the whole of ingest, or a part of it that shows where the time goes."""

import asyncio
import gc
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from aiokafka import AIOKafkaConsumer

from benchkit.intakerun import TOPIC, WARMED
from benchkit.intakework import WARM
from benchkit.machine import memory
from benchkit.pipeline import SALT, pipeline, quiet_logs, settings_for
from detectors.screening import Screener
from sampling.draw import decide
from sampling.effective import compose
from sampling.policy_file import default_policy
from schemas.draw import DrawnTrace
from schemas.trace import Trace
from streams.agents.batches import Lifeline
from streams.agents.shell import serve
from streams.intake import build_ingest
from streams.messages import Message
from streams.run import run_loop, spare_the_collector
from streams.runtime import Runtime
from streams.settings import Role
from streams.store import Store, TraceHead

WITHOUT_L1 = "without L1"
BARE = ("raw", "parsing", "Faust alone")
"""A getmany loop; one that parses each message into a trace; an agent of ours that does nothing."""
STORE = "store alone"


@dataclass(slots=True)
class Marks:
    """Counts messages in a child; says when the warm part is done and reports when all are."""

    count: int
    seen: int = 0
    spent: float = 0.0

    def took(self, messages: int) -> bool:
        """So many more are safe; True when all are."""
        was_warm = self.seen >= WARM
        self.seen += messages
        if not was_warm and self.seen >= WARM:
            gc.collect()
            self.spent = process_time()
            print(WARMED, flush=True)
        if self.seen >= self.count:
            report(perf_counter(), process_time() - self.spent)
        return self.seen >= self.count


def report(clock: float, spent: float) -> None:
    """The last line of a child."""
    print(json.dumps([clock, spent, memory(os.getpid()).peak_mib]), flush=True)


def measure(where: str, variant: str, count: str, folder: str) -> None:
    """Run one variant to its end."""
    marks = Marks(int(count))
    if variant == STORE:
        store_alone(Path(where).read_bytes().split(b"\n"), Path(folder))
    elif variant in BARE[:2]:
        asyncio.run(_read_raw(where, marks, is_parsing=variant == "parsing"))
    else:
        _serve(where, Path(folder), marks, variant)


async def _read_raw(address: str, marks: Marks, *, is_parsing: bool) -> None:
    consumer = AIOKafkaConsumer(
        TOPIC, bootstrap_servers=address, auto_offset_reset="earliest", group_id=None, enable_auto_commit=False
    )
    await consumer.start()
    try:
        while True:
            batches = await consumer.getmany(timeout_ms=1000, max_records=500)
            values = [message.value for batch in batches.values() for message in batch]
            if is_parsing:
                values = [Trace.model_validate_json(value, strict=True) for value in values]
            if marks.took(len(values)):
                return
    finally:
        await consumer.stop()


def _serve(address: str, folder: Path, marks: Marks, variant: str) -> None:
    """The ingest role as ``groundwatch run --roles ingest`` builds it, or an agent without work."""
    lifeline = Lifeline()

    def took(messages: int) -> None:
        if marks.took(messages):
            lifeline.stop("all read")

    def on_event(_logger: Any, _method: str, event: Mapping[str, Any]) -> None:
        if event.get("event") == "batch_ingested":
            took(event["messages"])

    async def run() -> int:
        settings = settings_for(folder, address, TOPIC)
        async with pipeline(settings, default_policy(), lifeline) as runtime:
            choose_detector(runtime, has_l1=variant not in (*BARE, WITHOUT_L1))
            app = _idle_agent(runtime, took) if variant in BARE else await build_ingest(runtime)
            spare_the_collector()
            return await serve([app], lifeline, settings.drain_seconds)

    quiet_logs(on_event)
    run_loop(run)


def _idle_agent(runtime: Runtime, took: Callable[[int], None]) -> Any:
    app = runtime.app(Role.INGEST, runtime.source)

    async def handle(messages: Sequence[Message]) -> None:
        took(len(messages))

    runtime.attach(app, Role.INGEST, [TOPIC], handle, batch_size=runtime.settings.ingest.batch_size)
    return app


def choose_detector(runtime: Runtime, *, has_l1: bool) -> None:
    """Without L1 the screener gets no detector; with it the weights are loaded before the clock starts."""
    if has_l1:
        runtime.detector.judge([])
    else:
        runtime.detector = None  # type: ignore[assignment]  # what ``Screener`` takes as no L1


def store_alone(values: Sequence[bytes], folder: Path) -> None:
    """What ingest asks of the store for traces that are ready: heads read and written, passages, trace rows."""
    settings = settings_for(folder, "127.0.0.1:9", TOPIC)
    rows = drawn_rows(values)
    folder.mkdir(parents=True, exist_ok=True)
    store = Store.open(settings.store_dsn)
    store.migrate()
    size = settings.ingest.batch_size
    began = spent = 0.0
    for start in range(0, len(rows), size):
        if start <= WARM:
            began, spent, counted = perf_counter(), process_time(), len(rows) - start
        insert(store, rows[start : start + size])
    share = (len(rows) - WARM) / counted
    report((perf_counter() - began) * share, (process_time() - spent) * share)
    store.close()


def drawn_rows(values: Sequence[bytes]) -> list[DrawnTrace]:
    """The messages as ingest hands them to the store, without L1."""
    traces = [Trace.model_validate_json(value, strict=True) for value in values]
    policy = compose("bench", default_policy())
    screenings = Screener(None).screen(traces, [policy.document] * len(traces))
    return [
        DrawnTrace(trace=trace, draw=decide(trace, screening, policy, SALT.encode()), screening=screening)
        for trace, screening in zip(traces, screenings, strict=True)
    ]


def insert(store: Store, rows: Sequence[DrawnTrace]) -> None:
    """One batch, in the order of ingest."""
    store.heads([row.trace.trace_id for row in rows])
    store.insert_heads(
        [
            TraceHead(
                trace_id=row.trace.trace_id,
                ts=row.trace.ts,
                content_hash=f"{row.draw.u:.16f}",
                stratum=row.draw.stratum,
                inclusion_probability=row.draw.inclusion_probability,
                policy_id=row.draw.policy_id,
                revision=1,
            )
            for row in rows
        ]
    )
    store.insert_traces(rows)
