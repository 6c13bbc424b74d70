"""Traces a second and core from bytes to raw spans, beside parsing alone: ``nice python bench/decode.py``.

A message is one OpenInference trace of a root, a retriever and a model call. Steps take turns within a round, so that
a busy moment hits all of them; CPU time is measured, and medians over the rounds are shown. A further step, such as
conventions or assembly, is one more line in ``STEPS``: a function of a message's bytes.
"""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchkit.machine import load
from benchkit.table import table
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from pydantic_core import from_json

from streams.sources.envelopes.otlp_json import decode_otlp_json
from streams.sources.envelopes.otlp_proto import decode_otlp_proto
from streams.sources.sniffing import sniff
from streams.sources.wire import unwrap

SIZES = (2_000, 8_000, 20_000)
"""Bytes of a trace in protobuf."""
MESSAGES = 50
SECONDS_A_TURN = 0.1
_SENTENCE = "Parcels of up to 30 kilograms are carried to every address on the mainland within three working days. "


@dataclass(frozen=True, slots=True)
class Step:
    """What is measured: on which encoding, and the step whose rate it is compared with."""

    name: str
    encoding: str
    run: Callable[[bytes], object]
    beside: str


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
        messages = {"proto": [proto(size, number) for number in range(MESSAGES)]}
        messages["json"] = [as_json(value) for value in messages["proto"]]
        turns: dict[str, list[float]] = {step.name: [] for step in STEPS}
        for _ in range(rounds):
            for step in STEPS:
                turns[step.name].append(rate(step.run, messages[step.encoding]))
        for step in STEPS:
            values = messages[step.encoding]
            found = median(turns[step.name])
            share = found / median(turns[step.beside]) if step.beside else None
            rows.append([step.name, sum(map(len, values)) // len(values), found, found * len(values[0]) / 1e6, share])
    print(table(["step", "bytes a trace", "traces/s and core", "MB/s", "of the rate without us"], rows))
    print(f"{before} before, {load()} after; Python {sys.version.split()[0]}")


def rate(run: Callable[[bytes], object], values: list[bytes]) -> float:
    """Messages a second of CPU time."""
    count, began = 0, process_time()
    while (spent := process_time() - began) < SECONDS_A_TURN:
        for value in values:
            run(value)
        count += len(values)
    return count / spent


def proto(size: int, number: int) -> bytes:
    """One trace of about ``size`` bytes: five documents of a quarter of the text each way they are carried."""
    text = (_SENTENCE * (size // len(_SENTENCE) + 1))[: max(1, (size - 1_300) // 11)]
    documents = [f"{number}.{place} {text}" for place in range(5)]
    trace_id = number.to_bytes(16, "big")
    root = _span(trace_id, 1, {"openinference.span.kind": "CHAIN", "input.value": "How heavy?", "output.value": text})
    retrieved = {f"retrieval.documents.{place}.document.content": part for place, part in enumerate(documents)}
    scores = {f"retrieval.documents.{place}.document.score": 1 / (place + 1) for place in range(5)}
    retriever = _span(trace_id, 2, {"openinference.span.kind": "RETRIEVER", **retrieved, **scores})
    prompt = "llm.input_messages.0.message.content"
    model = _span(trace_id, 3, {"openinference.span.kind": "LLM", prompt: " ".join(documents), "llm.model_name": "m"})
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.append(_attribute("service.name", "parcel-help"))
    group.scope_spans.add().spans.extend([retriever, model, root])
    return request.SerializeToString()


def _span(trace_id: bytes, number: int, attributes: dict[str, str | float]) -> Span:
    return Span(
        trace_id=trace_id[:-1] + b"\1",
        span_id=number.to_bytes(8, "big"),
        parent_span_id=b"" if number == 1 else (1).to_bytes(8, "big"),
        name="step",
        start_time_unix_nano=1_778_745_600_000_000_000,
        end_time_unix_nano=1_778_745_600_900_000_000,
        attributes=[_attribute(key, value) for key, value in attributes.items()],
    )


def _attribute(key: str, value: str | float) -> KeyValue:
    pair = KeyValue(key=key)
    if isinstance(value, str):
        pair.value.string_value = value
    else:
        pair.value.double_value = value
    return pair


def as_json(value: bytes) -> bytes:
    """The same trace as the collector writes it in JSON."""

    def attributes(pairs: list[KeyValue]) -> list[dict[str, object]]:
        kinds = {"string_value": "stringValue", "double_value": "doubleValue"}
        return [
            {"key": pair.key, "value": {kinds[kind]: getattr(pair.value, kind)}}
            for pair in pairs
            if (kind := pair.value.WhichOneof("value"))
        ]

    group = ExportTraceServiceRequest.FromString(value).resource_spans[0]
    spans = [
        {
            "traceId": span.trace_id.hex(),
            "spanId": span.span_id.hex(),
            "parentSpanId": span.parent_span_id.hex(),
            "name": span.name,
            "kind": 1,
            "startTimeUnixNano": str(span.start_time_unix_nano),
            "endTimeUnixNano": str(span.end_time_unix_nano),
            "attributes": attributes(list(span.attributes)),
            "status": {},
        }
        for span in group.scope_spans[0].spans
    ]
    resource = {"attributes": attributes(list(group.resource.attributes))}
    document = {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {}, "spans": spans}]}]}
    return json.dumps(document, separators=(",", ":")).encode()


if __name__ == "__main__":
    main()
