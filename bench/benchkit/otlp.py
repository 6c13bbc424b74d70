"""OTLP messages of a made-up request for benchmarks: an OpenInference trace of a root, a retriever and a model call."""

import json
from collections.abc import Mapping

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

BEGAN_NANOS = 1_778_745_600_000_000_000
QUESTION = "How heavy?"
_SENTENCE = "Parcels of up to 30 kilograms are carried to every address on the mainland within three working days. "


def texts(size: int, number: int) -> tuple[str, list[str]]:
    """Answer and documents of one trace of about ``size`` bytes in protobuf."""
    text = (_SENTENCE * (size // len(_SENTENCE) + 1))[: max(1, (size - 1_300) // 11)]
    return text, [f"{number}.{place} {text}" for place in range(5)]


def proto(size: int, number: int, began_nanos: int = BEGAN_NANOS) -> ExportTraceServiceRequest:
    """One trace of about ``size`` bytes: five documents of a quarter of the text each way they are carried."""
    text, documents = texts(size, number)
    trace_id = (number + 1).to_bytes(16, "big")
    asked = {"openinference.span.kind": "CHAIN", "input.value": QUESTION, "output.value": text}
    root = _span(trace_id, 1, began_nanos, asked)
    retrieved = {f"retrieval.documents.{place}.document.content": part for place, part in enumerate(documents)}
    scores = {f"retrieval.documents.{place}.document.score": 1 / (place + 1) for place in range(5)}
    retriever = _span(trace_id, 2, began_nanos, {"openinference.span.kind": "RETRIEVER", **retrieved, **scores})
    prompted = {"llm.input_messages.0.message.content": " ".join(documents), "llm.model_name": "m"}
    model = _span(trace_id, 3, began_nanos, {"openinference.span.kind": "LLM", **prompted})
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.append(_attribute("service.name", "parcel-help"))
    group.scope_spans.add().spans.extend([retriever, model, root])
    return request


def _span(trace_id: bytes, number: int, began_nanos: int, attributes: Mapping[str, str | float]) -> Span:
    return Span(
        trace_id=trace_id,
        span_id=number.to_bytes(8, "big"),
        parent_span_id=b"" if number == 1 else (1).to_bytes(8, "big"),
        name="step",
        start_time_unix_nano=began_nanos,
        end_time_unix_nano=began_nanos + 900_000_000,
        attributes=[_attribute(key, value) for key, value in attributes.items()],
    )


def _attribute(key: str, value: str | float) -> KeyValue:
    pair = KeyValue(key=key)
    if isinstance(value, str):
        pair.value.string_value = value
    else:
        pair.value.double_value = value
    return pair


def as_json(request: ExportTraceServiceRequest) -> bytes:
    """The same trace as the collector writes it in JSON."""

    def attributes(pairs: list[KeyValue]) -> list[dict[str, object]]:
        kinds = {"string_value": "stringValue", "double_value": "doubleValue"}
        return [
            {"key": pair.key, "value": {kinds[kind]: getattr(pair.value, kind)}}
            for pair in pairs
            if (kind := pair.value.WhichOneof("value"))
        ]

    group = request.resource_spans[0]
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


def langsmith(size: int, number: int) -> bytes:
    """The same request as runs of LangSmith."""
    text, documents = texts(size, number)
    ids = [f"0196cda1-4a00-7000-8000-{number:08x}{place:04x}" for place in range(3)]
    times = {"start_time": "2026-05-14T08:00:00.000000", "end_time": "2026-05-14T08:00:00.900000"}

    def run(place: int, kind: str, inputs: dict[str, object], outputs: dict[str, object]) -> dict[str, object]:
        above = {"parent_run_id": ids[0]} if place else {}
        own = {"id": ids[place], "trace_id": ids[0], "name": "step", "run_type": kind}
        return {**own, **above, **times, "inputs": inputs, "outputs": outputs}

    found = [{"page_content": part, "metadata": {"source": "insurance.md"}, "type": "Document"} for part in documents]
    prompt = [[{"type": "human", "content": " ".join(documents)}]]
    runs = [
        run(1, "retriever", {"query": QUESTION}, {"documents": found}),
        run(2, "llm", {"messages": prompt}, {"generations": [[{"text": text}]]}),
        run(0, "chain", {"question": QUESTION}, {"output": text}),
    ]
    return json.dumps({"post": runs, "patch": []}).encode()
