"""Which encoding a value looks like, by its shape alone. A guess: a topic's setting goes before it.

Order: a registry's frame; protobuf (Jaeger's span, then OTLP, by the fields of the first record); JSON by the names at
its top, from the least ambiguous to the most: OTLP, MLflow, Langfuse, LangSmith, Jaeger, LangChain, LlamaIndex, native.
"""

from collections.abc import Callable
from enum import StrEnum
from itertools import islice
from typing import Any

from schemas.errors import InvalidMessage
from schemas.trace import Trace
from streams.sources.envelopes.otlp_proto import signal_of
from streams.sources.envelopes.protobuf_wire import fields
from streams.sources.json_text import load
from streams.sources.wire import Framed

_LOOKED_AT = 1000


class Encoding(StrEnum):
    """What a value can be; ``other_json`` is for the declarative mapping, ``unknown`` for nothing that is read."""

    NATIVE_JSON = "native_json"
    OTLP_JSON_TRACES = "otlp_json_traces"
    OTLP_JSON_LOGS = "otlp_json_logs"
    OTLP_PROTO = "otlp_proto"
    JAEGER_JSON = "jaeger_json"
    JAEGER_PROTO = "jaeger_proto"
    LANGSMITH = "langsmith"
    LANGFUSE = "langfuse"
    MLFLOW = "mlflow"
    LANGCHAIN = "langchain"
    LLAMAINDEX = "llamaindex"
    OTHER_JSON = "other_json"
    AVRO_CONFLUENT = "avro_confluent"
    PROTOBUF_CONFLUENT = "protobuf_confluent"
    JSON_CONFLUENT = "json_confluent"
    UNKNOWN = "unknown"


def sniff(value: bytes | Framed) -> Encoding:
    """What ``value``, already unwrapped, looks like; never raises. Costs about as much as parsing it."""
    if isinstance(value, Framed):
        return _framed(value.payload)
    if value.lstrip()[:1] in (b"{", b"["):
        return _json(value)
    if value[:2] == b"\x0a\x10" and value[18:20] == b"\x12\x08":
        return Encoding.JAEGER_PROTO
    return Encoding.OTLP_PROTO if signal_of(value) else Encoding.UNKNOWN


def _json(value: bytes) -> Encoding:
    try:
        return shape_of(load(value)[0])
    except InvalidMessage:
        return Encoding.UNKNOWN


def _framed(payload: bytes) -> Encoding:
    """Only the registry knows; Protobuf is a message index, nearly always the byte 0, and then whole fields."""
    if payload[:1] in (b"{", b"[") and _json(payload) is not Encoding.UNKNOWN:
        return Encoding.JSON_CONFLUENT
    parts = list(islice(fields(memoryview(payload)[1:]), _LOOKED_AT))
    is_whole = bool(parts) and not parts[-1].is_cut
    return Encoding.PROTOBUF_CONFLUENT if payload[:1] == b"\0" and is_whole else Encoding.AVRO_CONFLUENT


def shape_of(document: Any) -> Encoding:
    """Which encoding a parsed document has; a list has that of its first item, where the format knows lists."""
    if isinstance(document, list) and document and isinstance(document[0], dict):
        first = shape_of(document[0])
        return Encoding.OTHER_JSON if first in _NEVER_LISTED else first
    if not isinstance(document, dict):
        return Encoding.OTHER_JSON if isinstance(document, list) else Encoding.UNKNOWN
    if document.keys() <= _NATIVE_FIELDS and _is_native(document):  # no other format has any of their names
        return Encoding.NATIVE_JSON
    return next((encoding for encoding, matches in _SHAPES if matches(document)), Encoding.OTHER_JSON)


def _has(*names: str) -> Callable[[dict[str, Any]], bool]:
    return lambda document: any(isinstance(document.get(name), list) for name in names)


def _first(document: dict[str, Any], name: str) -> dict[str, Any]:
    """The first item of a list, empty when there is none."""
    items = document.get(name)
    return items[0] if isinstance(items, list) and items and isinstance(items[0], dict) else {}


def _part(document: dict[str, Any], name: str) -> dict[str, Any]:
    part = document.get(name)
    return part if isinstance(part, dict) else {}


def _is_mlflow(document: dict[str, Any]) -> bool:
    return bool({"trace_id", "request_id"} & _part(document, "info").keys()) and "data" in document


def _is_langfuse(document: dict[str, Any]) -> bool:
    event = _first(document, "batch") or document
    return {"type", "body", "timestamp"} <= event.keys() or (_has("observations")(document) and "id" in document)


def _is_langsmith(document: dict[str, Any]) -> bool:
    runs = [document, *(_first(document, name) for name in ("post", "patch", "runs"))]
    return any("dotted_order" in run or {"run_type", "id"} <= run.keys() for run in runs)


def _is_jaeger(document: dict[str, Any]) -> bool:
    traces = [document, _first(document, "data")]
    return any(
        ({"spans", "processes"} <= part.keys()) or ("operationName" in part and {"traceId", "traceID"} & part.keys())
        for part in traces
    )


def _is_langchain(document: dict[str, Any]) -> bool:
    return str(document.get("event", "")).startswith("on_") and "run_id" in document


def _is_llamaindex(document: dict[str, Any]) -> bool:
    return str(document.get("class_name", "")).endswith("Event") and "span_id" in document


def _is_native(document: dict[str, Any]) -> bool:
    return {"trace_id", "ts"} <= document.keys()


_SHAPES: tuple[tuple[Encoding, Callable[[dict[str, Any]], bool]], ...] = (
    (Encoding.OTLP_JSON_TRACES, _has("resourceSpans", "resource_spans")),
    (Encoding.OTLP_JSON_LOGS, _has("resourceLogs", "resource_logs")),
    (Encoding.MLFLOW, _is_mlflow),
    (Encoding.LANGFUSE, _is_langfuse),
    (Encoding.LANGSMITH, _is_langsmith),
    (Encoding.JAEGER_JSON, _is_jaeger),
    (Encoding.LANGCHAIN, _is_langchain),
    (Encoding.LLAMAINDEX, _is_llamaindex),
    (Encoding.NATIVE_JSON, _is_native),
)
_NATIVE_FIELDS = Trace.model_fields.keys()
_NEVER_LISTED = (
    Encoding.NATIVE_JSON,
    Encoding.OTLP_JSON_TRACES,
    Encoding.OTLP_JSON_LOGS,
    Encoding.JAEGER_JSON,
)
