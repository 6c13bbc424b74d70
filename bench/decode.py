"""Traces a second and core from bytes to raw spans, beside parsing alone: ``nice python bench/decode.py``.

A message is one OpenInference trace of a root, a retriever and a model call. Steps take turns within a round, so that
a busy moment hits all of them; CPU time is measured, and medians over the rounds are shown. A further step, such as
conventions or assembly, is one more line in ``STEPS``: a function of a message's bytes.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchkit.machine import load
from benchkit.otlp import as_json, proto
from benchkit.rates import HEAD, MESSAGES, SIZES, Step, measured
from benchkit.table import table
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from pydantic_core import from_json

from streams.sources.envelopes.otlp_json import decode_otlp_json
from streams.sources.envelopes.otlp_proto import decode_otlp_proto
from streams.sources.sniffing import sniff
from streams.sources.wire import unwrap


def read_all(value: bytes) -> object:
    """The least that a reader in Python does: parse, and take the values of interest out of the message."""
    request = ExportTraceServiceRequest.FromString(value)
    return [
        (
            *(span.trace_id, span.span_id, span.parent_span_id, span.name),
            *(span.start_time_unix_nano, span.end_time_unix_nano, span.status.code),
            {pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "") for pair in span.attributes},
        )
        for group in request.resource_spans
        for part in group.scope_spans
        for span in part.spans
    ]


STEPS = (
    Step("protobuf: opentelemetry-proto alone", "proto", ExportTraceServiceRequest.FromString, ""),
    Step("protobuf: every value read and no more", "proto", read_all, "protobuf: opentelemetry-proto alone"),
    Step("protobuf: raw spans", "proto", decode_otlp_proto, "protobuf: every value read and no more"),
    Step("protobuf: unwrap and sniff", "proto", lambda value: sniff(unwrap(value, 16_000_000)), ""),
    Step("JSON: json.loads alone", "json", json.loads, ""),
    Step("JSON: fast parser alone", "json", from_json, "JSON: json.loads alone"),
    Step("JSON: raw spans", "json", decode_otlp_json, "JSON: fast parser alone"),
    Step("JSON: unwrap and sniff", "json", lambda value: sniff(unwrap(value, 16_000_000)), ""),
)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="turns of every step; medians are shown")
    rounds = parser.parse_args().rounds
    before = load()
    rows: list[list[object]] = []
    for size in SIZES:
        requests = [proto(size, number) for number in range(MESSAGES)]
        values = {"proto": [one.SerializeToString() for one in requests], "json": [as_json(one) for one in requests]}
        rows += measured(STEPS, values, rounds)
    print(table(HEAD, rows))
    print(f"{before} before, {load()} after; Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
