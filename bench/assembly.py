"""From bytes of a source topic to traces: rates of the steps, memory of open traces, and spans through both roles.

``nice python bench/assembly.py [--rounds 9] [--runs 3] [--only rates|memory|flow]``. Rates are CPU time of one core,
beside parsing alone; memory is what open traces of three spans take; the flow is ingest and assemble as
``groundwatch run`` builds them, on the embedded broker and store, from a full topic to the last trace stored.
"""

import argparse
import json
import sys
import tracemalloc
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchkit.machine import load
from benchkit.otlp import BEGAN_NANOS, as_json, langsmith, proto
from benchkit.rates import HEAD, MESSAGES, SIZES, Step, measured
from benchkit.spanflow import VARIANTS, measure, on_fresh_broker
from benchkit.table import table
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from pydantic_core import from_json

from schemas.codec import decode, encode
from schemas.span import Span
from schemas.trace import Trace
from streams.assembly import ClosingRules, OpenTraces, assemble
from streams.messages import Message
from streams.redaction.redactor import redactor_of
from streams.settings import SourceSettings
from streams.settings.privacy import Privacy
from streams.sources.decode import SourceDecoder
from streams.sources.raw import Decoded

OPEN = 10_000
TRACES = {2_000: 1_000, 8_000: 600}
"""Bytes of a trace and how many go through the pipeline."""
AT = datetime.fromtimestamp(BEGAN_NANOS / 1e9, UTC)
LIMIT = 16_000_000
_DECODER = SourceDecoder.of([SourceSettings(topic="otlp", format="otlp")], max_message_bytes=LIMIT)
_REDACTOR = redactor_of(Privacy(), b"benchmarks-redact-with-this-constant-key")
_PROTO, _JSON, _LANGSMITH = (
    f"{name} alone" for name in ("protobuf: opentelemetry-proto", "JSON: fast parser", "LangSmith: fast parser")
)


def decoded(value: bytes, topic: str = "otlp") -> Decoded:
    """What ingest makes of a message."""
    return now(_DECODER.decode(Message(topic, 0, 0, None, value, (), AT)))


def traced(value: bytes, topic: str = "otlp") -> Trace | None:
    """The trace of a message, without what lies between ingest and assemble."""
    return assemble(decoded(value, topic).spans, _DECODER.rules(topic), AT)


def carried(value: bytes, topic: str = "otlp") -> Trace | None:
    """The trace as the two roles make it: redacted, written to gw.spans and read from it."""
    sent = [encode(span) for span in _REDACTOR.redact_decoded(decoded(value, topic)).spans]
    trace = assemble([decode(Span, one) for one in sent], _DECODER.rules(topic), AT)
    return trace and _REDACTOR.redact_trace(trace)


def now(coroutine: Coroutine[Any, Any, Decoded]) -> Decoded:
    """The result of a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        found: Decoded = done.value
        return found
    message = "a decoder without a registry waits for nothing"
    raise RuntimeError(message)


STEPS = (
    Step(_PROTO, "proto", ExportTraceServiceRequest.FromString, ""),
    Step("protobuf: spans by their convention", "proto", decoded, _PROTO),
    Step("protobuf: a trace", "proto", traced, _PROTO),
    Step("protobuf: redacted, over gw.spans, a trace", "proto", carried, _PROTO),
    Step(_JSON, "json", from_json, ""),
    Step("JSON: spans by their convention", "json", decoded, _JSON),
    Step("JSON: a trace", "json", traced, _JSON),
    Step("JSON: redacted, over gw.spans, a trace", "json", carried, _JSON),
    Step(_LANGSMITH, "langsmith", from_json, ""),
    Step("LangSmith: mapped to spans", "langsmith", lambda value: decoded(value, "other"), _LANGSMITH),
    Step("LangSmith: a trace", "langsmith", lambda value: traced(value, "other"), _LANGSMITH),
    Step("LangSmith: redacted, over gw.spans, a trace", "langsmith", lambda value: carried(value, "other"), _LANGSMITH),
)


def rates(rounds: int) -> None:
    """Traces a second and core."""
    rows: list[list[object]] = []
    for size in SIZES:
        requests = [proto(size, number) for number in range(MESSAGES)]
        values = {
            "proto": [request.SerializeToString() for request in requests],
            "json": [as_json(request) for request in requests],
            "langsmith": [langsmith(size, number) for number in range(MESSAGES)],
        }
        assert all(traced(value) for name in ("proto", "json") for value in values[name])
        assert all(traced(value, "other") for value in values["langsmith"])
        rows += measured(STEPS, values, rounds)
    print(table(HEAD, rows))


def open_memory() -> None:
    """Memory of open traces of three spans, as Python allocates it."""
    rows: list[list[object]] = []
    for size in SIZES[:2]:
        values = [proto(size, number).SerializeToString() for number in range(OPEN)]
        records = [[encode(span) for span in decoded(value).spans] for value in values]
        read_bytes = sum(len(one) for some in records for one in some)
        tracemalloc.start()
        traces = OpenTraces(ClosingRules(total_bytes=1 << 40))
        offset = 0
        for some in records:
            for one in some:
                traces.add(("gw.spans", 0), offset, AT, decode(Span, one), len(one))
                offset += 1
        counted = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        began = process_time()
        due = traces.due([("gw.spans", 0)], AT)
        took_ms = (process_time() - began) * 1000
        assert len(traces) == OPEN
        assert not due
        rows.append([size, read_bytes // OPEN, counted / OPEN, counted / read_bytes, took_ms])
    head = (
        "bytes a trace",
        "bytes on gw.spans",
        "bytes allocated",
        "times gw.spans",
        "ms a look at all",
    )
    print(table(head, rows))


def flow(runs: int) -> None:
    """Traces a second from a full topic to the store."""
    rows: list[list[object]] = []
    for size, count in TRACES.items():
        found: dict[str, list[tuple[float, float]]] = {variant: [] for variant in VARIANTS}
        for _ in range(runs):
            for variant in VARIANTS:
                found[variant].append(on_fresh_broker(Path(__file__), variant, size, count))
                by_clock, by_processor = found[variant][-1]
                print(f"{size:,} bytes, {variant}: {by_clock:,.0f}/s, {by_processor:,.0f}/s of a core", flush=True)
        for name, rates_found in found.items():
            by_clock, by_processor = (median(some) for some in zip(*rates_found, strict=True))
            rows.append([size, name, by_processor, by_clock])
    print(table(("bytes a trace", "sent as", "traces/s of processor time", "traces/s by the clock"), rows))


def main() -> None:
    """Measure and print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="turns of every step; medians are shown")
    parser.add_argument("--runs", type=int, default=3, help="runs of every flow; medians are shown")
    parser.add_argument("--only", choices=("rates", "memory", "flow"), help="one of the three parts")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(*arguments.one)))
        return
    parts: dict[str, Callable[[], None]] = {
        "rates": lambda: rates(arguments.rounds),
        "memory": open_memory,
        "flow": lambda: flow(arguments.runs),
    }
    for name, part in parts.items():
        if arguments.only in (None, name):
            before = load()
            part()
            print(f"{before} before, {load()} after; Python {sys.version.split()[0]}\n")


if __name__ == "__main__":
    main()
