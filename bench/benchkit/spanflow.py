"""Ingest and assemble on a full topic: traces a second until the last one is stored, whole or made of spans."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from benchkit.brokers import broker, fill
from benchkit.otlp import QUESTION, proto, texts
from benchkit.pipeline import pipeline, quiet_logs, settings_for
from sampling.policy_file import default_policy
from streams.agents.batches import Lifeline
from streams.agents.shell import serve
from streams.intake import build_assemble, build_ingest
from streams.run import run_loop

VARIANTS = ("whole trace, native JSON", "one message of 3 spans, protobuf", "3 messages of a span, protobuf")
GRACE_SECONDS = 0.5
TOPIC = "assembly"
PATIENCE_SECONDS = 900.0


def on_fresh_broker(script: Path, variant: str, size: int, count: int) -> tuple[float, float]:
    """Traces a second of the clock and of processor time.

    In a process of its own, since the embedded engine opens only one path a process.
    """
    with (
        tempfile.TemporaryDirectory(prefix="groundwatch-assembly-") as folder,
        broker("embedded", Path(folder)) as (_, address),
    ):
        fill(address, TOPIC, list(_messages(variant, size, count)))
        command = [sys.executable, str(script), "--one", address, variant, str(count), str(Path(folder) / "data")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS)
    if done.returncode:
        raise SystemExit(f"{variant} failed:\n{done.stdout}{done.stderr}")
    by_clock, by_processor = json.loads(done.stdout.splitlines()[-1])
    return float(by_clock), float(by_processor)


def _messages(variant: str, size: int, count: int) -> Iterator[bytes]:
    """Requests of ten minutes ago."""
    began = datetime.now(UTC) - timedelta(minutes=10)
    nanos = round(began.timestamp()) * 1_000_000_000
    for number in range(count):
        if variant == VARIANTS[0]:
            text, documents = texts(size, number)
            passages = [{"text": part} for part in documents]
            fields = {"trace_id": f"{number:032x}", "ts": began.isoformat(), "question": QUESTION, "answer": text}
            yield json.dumps({**fields, "passages": passages, "packed_prompt": " ".join(documents)}).encode()
            continue
        request = proto(size, number, nanos)
        yield from [request.SerializeToString()] if variant == VARIANTS[1] else _a_span_each(request)


def _a_span_each(request: ExportTraceServiceRequest) -> Iterator[bytes]:
    for span in request.resource_spans[0].scope_spans[0].spans:
        one = ExportTraceServiceRequest()
        group = one.resource_spans.add(resource=request.resource_spans[0].resource)
        group.scope_spans.add().spans.append(span)
        yield one.SerializeToString()


def measure(address: str, variant: str, count: str, folder: str) -> tuple[float, float]:
    """Traces a second of the clock, from the first batch to the last trace stored, and of processor time.

    Processor time is counted from the start of the roles. The end waits for the grace of half a second.
    """
    lifeline = Lifeline()
    is_whole = variant == VARIANTS[0]
    last = "batch_ingested" if is_whole else "traces_assembled"
    seen: dict[str, float] = {"traces": 0, "began": 0.0, "ended": 0.0, "spent": 0.0}

    def on_event(_logger: Any, _method: str, event: Mapping[str, Any]) -> None:
        if event.get("event") == "batch_ingested":
            seen["began"] = seen["began"] or perf_counter() - event["took_ms"] / 1000
        if event.get("event") == last:
            seen["ended"] = perf_counter()
            seen["spent"] = process_time()
            seen["traces"] += event["traces"]
            if seen["traces"] >= int(count):
                lifeline.stop("all stored")

    async def run() -> int:
        settings = settings_for(Path(folder), address, TOPIC, assembly={"grace_seconds": GRACE_SECONDS})
        async with pipeline(settings, default_policy(), lifeline) as runtime:
            runtime.detector.judge([])  # loads the weights before the clock starts
            seen["at_start"] = process_time()
            apps = (
                [await build_ingest(runtime)]
                if is_whole
                else [await build_assemble(runtime), await build_ingest(runtime)]
            )
            return await serve(apps, lifeline, runtime.settings.drain_seconds)

    quiet_logs(on_event)
    run_loop(run)
    spent = seen["spent"] - seen["at_start"]
    return seen["traces"] / (seen["ended"] - seen["began"]), seen["traces"] / spent
