"""Every fixture of tests/data/sources as its format arrives: in pieces, under an id of its own, of yesterday."""

import gzip
import json
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any

from tests.source_messages import FOLDER
from tests.unit.sources.otlp_messages import TRACE_ID, parsed

QUESTION = "Does standard parcel insurance cover a camera worth 700 euros?"
ANSWER = "Yes, standard insurance covers goods up to 750 euros [1]."
TEXT = "Standard parcel insurance covers goods up to a value of 500 euros."
INTENT = ("shipping.insurance", "high")
NO_INTENT = ("unmapped", "medium")
CONVERSATION = "chat-31"
SCHEMA_ID = 7
SCHEMA = {
    "type": "record",
    "name": "Answered",
    "fields": [
        *({"name": name, "type": "string"} for name in ("id", "query", "answer", "session_id")),
        {"name": "contexts", "type": {"type": "array", "items": "string"}},
        {"name": "metadata", "type": {"type": "map", "values": "string"}},
    ],
}
SPANS, LOGS = "otlp_spans", "otlp_logs"
CLOSED_WHOLE, CLOSED_BY_ROOT, CLOSED_BY_QUIET = "whole", "root_end", "quiet"
_RUN = "0196cda1-4a00-7000-8000-"
_DAY = "2026-05-14"
_SECOND = "1778745600"


@dataclass(frozen=True)
class Case:
    """One request: its messages by topic, and what must be stored of it."""

    name: str
    trace_id: str
    messages: tuple[tuple[str, bytes], ...]
    close_reason: str = CLOSED_BY_ROOT
    conversation: str = CONVERSATION
    intent: tuple[str, str] = INTENT


def cases(now: datetime) -> list[Case]:
    """All formats, each fixture at least once."""
    return [*_otlp(now), *_whole(now), *_jaeger(now), *_events(now), *_framed()]


def fixtures_used() -> set[str]:
    """The fixtures that ``cases`` reads."""
    return {case.name.partition(" ")[0] for case in cases(datetime.now(UTC))} | {_WITHOUT_CONTENT}


def _otlp(now: datetime) -> Iterator[Case]:
    """A span or log record a message; every fixture in JSON and in protobuf."""
    names = sorted(path.name for path in FOLDER.glob("otlp_*.json") if path.name != _WITHOUT_CONTENT)
    for place, name in enumerate(names):
        topic = LOGS if "_logs" in name else SPANS
        has_conversation = name not in _WITHOUT_CONVERSATION
        carried: dict[str, Any] = {
            "close_reason": CLOSED_BY_QUIET if topic == LOGS else CLOSED_BY_ROOT,
            "conversation": CONVERSATION if has_conversation else "",
            "intent": NO_INTENT if "_genai_1_3" in name or name in _WITHOUT_INTENT else INTENT,
        }
        trace_id, text = _fresh(name, 2 * place, now)
        parts = list(_split(json.loads(text)))
        yield Case(f"{name} json", trace_id, tuple((topic, json.dumps(one).encode()) for one in parts), **carried)
        trace_id, text = _fresh(name, 2 * place + 1, now)
        parts = list(_split(json.loads(text)))
        as_proto = tuple((topic, parsed(one).SerializeToString()) for one in parts)
        yield Case(f"{name} proto", trace_id, as_proto, **carried)
    trace_id, spans = _fresh(_WITHOUT_CONTENT, 60, now)
    _, logs = _fresh(_ITS_LOGS, 60, now)
    messages = [(SPANS, parsed(one).SerializeToString()) for one in _split(json.loads(spans))]
    messages += [(LOGS, gzip.compress(json.dumps(one).encode())) for one in _split(json.loads(logs))]
    yield Case(f"{_ITS_LOGS} and spans", trace_id, tuple(messages), intent=NO_INTENT)


def _whole(now: datetime) -> Iterator[Case]:
    """One message a trace, also packed with gzip."""
    for place, name in enumerate(
        ("native.json", "mlflow_trace_v2.json", "mlflow_trace_v3.json", "langfuse_export.json")
    ):
        topic = name.partition("_")[0].partition(".")[0]
        for packed in (False, True):
            trace_id, text = _fresh(name, 70 + 2 * place + packed, now)
            value = gzip.compress(text.encode(), mtime=0) if packed else text.encode()
            yield Case(f"{name} gzip" if packed else name, trace_id, ((topic, value),), CLOSED_WHOLE)


def _jaeger(now: datetime) -> Iterator[Case]:
    trace_id, text = _fresh("jaeger_openinference.jsonl", 80, now)
    yield Case("jaeger_openinference.jsonl", trace_id, tuple(("jaeger", line.encode()) for line in text.splitlines()))
    trace_id, text = _fresh("jaeger_query_openinference.json", 81, now)
    yield Case("jaeger_query_openinference.json", trace_id, (("jaeger", text.encode()),))


def _events(now: datetime) -> Iterator[Case]:
    """Events of SDKs: a Langfuse event a message, LangSmith's post and patch apart, one line a message elsewhere."""
    trace_id, text = _fresh("langfuse_batch.json", 90, now)
    batch = json.loads(text)
    events = [json.dumps({**batch, "batch": [event]}).encode() for event in batch["batch"]]
    yield Case("langfuse_batch.json", trace_id, tuple(("langfuse", value) for value in events))
    _, text = _fresh("langsmith_batch.json", 91, now)
    batch = json.loads(text)
    runs = [{"post": [run], "patch": []} for run in batch["post"]] + [{"post": [], "patch": batch["patch"]}]
    values = tuple(("langsmith", json.dumps(one).encode()) for one in runs)
    yield Case("langsmith_batch.json", _run_id(91), values)
    _, text = _fresh("langsmith_runs.json", 92, now)
    batch = json.loads(text)
    runs = [{**batch, "runs": [run]} for run in batch["runs"]]
    yield Case("langsmith_runs.json", _run_id(92), tuple(("langsmith", json.dumps(one).encode()) for one in runs))
    _, text = _fresh("langchain_events.jsonl", 93, now)
    yield Case("langchain_events.jsonl", _run_id(93), tuple(("langchain", line.encode()) for line in text.splitlines()))
    trace_id, text = _fresh("llamaindex_events.jsonl", 94, now)
    lines = tuple(("llamaindex", line.encode()) for line in text.splitlines())
    yield Case("llamaindex_events.jsonl", trace_id, lines)


def _framed() -> Iterator[Case]:
    """Avro behind a schema registry; its record has no time, so the broker's counts."""
    from io import BytesIO  # noqa: PLC0415

    import fastavro  # noqa: PLC0415 - an optional package

    record = {
        "id": "avro-1",
        "query": QUESTION,
        "answer": ANSWER,
        "session_id": CONVERSATION,
        "contexts": [TEXT],
        "metadata": {"intent": INTENT[0], "risk_tier": INTENT[1]},
    }
    body = BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(SCHEMA), record)
    yield Case("avro", "avro-1", (("avro", b"\0" + SCHEMA_ID.to_bytes(4, "big") + body.getvalue()),), CLOSED_WHOLE)


def _fresh(name: str, number: int, now: datetime) -> tuple[str, str]:
    """Trace id and text of a fixture, as if recorded yesterday at eight under the id of this number."""
    trace_id = f"{0xE2E00000 + number:08x}{TRACE_ID[8:]}"
    at = datetime.combine(now.date() - timedelta(days=1), time(8), UTC)
    changes = {
        TRACE_ID: trace_id,
        _base64(TRACE_ID): _base64(trace_id),
        _RUN: _run_id(number)[: len(_RUN)],
        _DAY: f"{at:%Y-%m-%d}",
        _DAY.replace("-", ""): f"{at:%Y%m%d}",
        _SECOND: f"{at.timestamp():.0f}",
    }
    text = (FOLDER / name).read_text()
    for old, new in changes.items():
        text = text.replace(old, new)
    return trace_id, text


def _run_id(number: int) -> str:
    return f"0196cda1-4a00-7000-{0x8000 + number:04x}-000000000010"


def _base64(digits: str) -> str:
    return b64encode(bytes.fromhex(digits)).decode()


def _split(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One document for each span or log record."""
    (outer, scopes, items) = next(
        names
        for names in (("resourceSpans", "scopeSpans", "spans"), ("resourceLogs", "scopeLogs", "logRecords"))
        if names[0] in document
    )
    for resource in document[outer]:
        for scope in resource[scopes]:
            for item in scope[items]:
                yield {outer: [{**resource, scopes: [{**scope, items: [item]}]}]}


_WITHOUT_CONTENT = "otlp_genai_1_37_spans_without_content.json"
_ITS_LOGS = "otlp_genai_1_37_logs.json"
_WITHOUT_INTENT = {"otlp_genai_content_events.json", "otlp_mlflow.json"}
_WITHOUT_CONVERSATION = {
    "otlp_genai_1_36_events.json", "otlp_genai_1_36_logs.json", "otlp_genai_content_events.json",
}  # fmt: skip
