"""OTLP messages for tests: the fixtures in both encodings, and hand-made ones."""

import json
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict, ParseDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

Request = ExportTraceServiceRequest | ExportLogsServiceRequest
FOLDER = Path(__file__).parents[2] / "data" / "sources"
IDS = {"traceId", "spanId", "parentSpanId", "trace_id", "span_id", "parent_span_id"}
TRACE_ID = "3c7f2a90d4e14b6f8a51c09e77b2d613"
ROOT_ID = "a1f0c3d2e4b59687"


def fixture(name: str) -> bytes:
    """The bytes of a file in tests/data/sources."""
    return (FOLDER / name).read_bytes()


def otlp_fixtures() -> list[str]:
    """Names of all OTLP fixtures."""
    return sorted(path.name for path in FOLDER.glob("otlp_*.json"))


def request_of(name: str) -> Request:
    """A fixture as a protobuf message with proper ids."""
    return parsed(json.loads(fixture(name)))


def parsed(document: dict[str, Any]) -> Request:
    """A document in OTLP/JSON as a protobuf message."""
    kind = ExportLogsServiceRequest if "resourceLogs" in document else ExportTraceServiceRequest
    return ParseDict(_ids(document, _base64), kind())


def json_of(request: Request, *, snake_case: bool = False, enum_numbers: bool = True) -> dict[str, Any]:
    """A message as OTLP/JSON wants it: ids in hex."""
    document = MessageToDict(request, preserving_proto_field_name=snake_case, use_integers_for_enums=enum_numbers)
    return dict(_ids(document, _hex))


def spans_request(*spans: dict[str, Any], **resource: str) -> bytes:
    """An OTLP/JSON message with these spans in one scope."""
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in resource.items()]
    scope = {"scope": {"name": "tests"}, "spans": list(spans)}
    return json.dumps({"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": [scope]}]}).encode()


def span(**fields: Any) -> dict[str, Any]:
    """A span with ids in OTLP/JSON."""
    return {"traceId": TRACE_ID, "spanId": ROOT_ID, "name": "answer", **fields}


def attribute(key: str, **value: Any) -> dict[str, Any]:
    """An attribute in OTLP/JSON."""
    return {"key": key, "value": value}


def _ids(value: Any, change: Any) -> Any:
    if isinstance(value, list):
        return [_ids(item, change) for item in value]
    if isinstance(value, dict):
        return {key: change(item) if key in IDS else _ids(item, change) for key, item in value.items()}
    return value


def _base64(digits: str) -> str:
    return b64encode(bytes.fromhex(digits)).decode()


def _hex(text: str) -> str:
    return b64decode(text).hex()
