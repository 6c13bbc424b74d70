"""OTLP/JSON messages with OpenInference spans, made by hand for tests of whole flows."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

QUESTION = "How long can I return a lamp?"
ANSWER = "You can return a lamp within 30 days of delivery."
TEXT = "Lamps may be returned within 30 days of delivery."
SCOPE = "openinference.instrumentation.langchain"
ROOT = "root"


def hex_id(text: str, length: int) -> str:
    """An id for OTLP out of a readable name of at most so many bytes."""
    return text.encode().hex().rjust(2 * length, "0")


def span(trace: str, name: str, at: datetime, *, parent: str = ROOT, lasts_ms: int = 40, **said: Any) -> dict[str, Any]:
    """A span that begins at ``at``; double underscores in names of attributes stand for dots."""
    found: dict[str, Any] = {
        "traceId": hex_id(trace, 16),
        "spanId": hex_id(name, 8),
        "name": name,
        "startTimeUnixNano": str(_nanos(at)),
        "endTimeUnixNano": str(_nanos(at + timedelta(milliseconds=lasts_ms))),
        "attributes": [_attribute(key.replace("__", "."), value) for key, value in said.items()],
    }
    return found if name == ROOT else {**found, "parentSpanId": hex_id(parent, 8)}


def root(trace: str, at: datetime, **said: Any) -> dict[str, Any]:
    """The chain around a request, with question and answer."""
    plain = {"openinference__span__kind": "CHAIN", "input__value": QUESTION, "output__value": ANSWER}
    return span(trace, ROOT, at, lasts_ms=900, **{**plain, **said})


def retriever(trace: str, at: datetime, *texts: str, name: str = "find", kind: str = "RETRIEVER") -> dict[str, Any]:
    """A retriever (or reranker) that gave these texts, which have neither ids nor scores."""
    where = "reranker.output_documents" if kind == "RERANKER" else "retrieval.documents"
    documents: dict[str, Any] = {
        f"{where}.{place}.document.content": text for place, text in enumerate(texts or (TEXT,))
    }
    return span(trace, name, at, openinference__span__kind=kind, **documents)


def call(trace: str, at: datetime, answer: str = ANSWER, name: str = "model", **said: Any) -> dict[str, Any]:
    """A model call that wrote ``answer``."""
    messages = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": QUESTION,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": answer,
    }
    return span(trace, name, at, **{**messages, **said})


def request(trace: str, at: datetime) -> list[dict[str, Any]]:
    """A small request as exporters send it: children first, the root last."""
    milliseconds = timedelta(milliseconds=1)
    return [retriever(trace, at + 10 * milliseconds), call(trace, at + 60 * milliseconds), root(trace, at)]


def message(spans: Sequence[dict[str, Any]], scope: str = SCOPE) -> bytes:
    """One message of a collector."""
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"scope": {"name": scope}, "spans": list(spans)}]}]}).encode()


def _attribute(key: str, value: Any) -> dict[str, Any]:
    kind = "doubleValue" if isinstance(value, float) else "stringValue"
    return {"key": key, "value": {kind: value}}


def _nanos(at: datetime) -> int:
    return round(at.timestamp() * 1_000_000) * 1_000
