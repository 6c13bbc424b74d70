"""Makers of spans for tests: one small request, as a chain with a retriever and a model call, overridden by keyword."""

from datetime import timedelta
from typing import Any

from schemas.span import ChatMessage, Span, SpanKind
from schemas.trace import Passage, Source
from tests.builders import NOW

TRACE_ID = "3c7f2a90d4e14b6f"
QUESTION = "Does standard parcel insurance cover a camera worth 700 euros?"
ANSWER = "Yes, standard insurance covers goods up to 750 euros [1]."
PASSAGE = Passage(doc_id="tariff-8", text="Standard parcel insurance covers goods up to a value of 500 euros.")


def span(span_id: str, kind: SpanKind, *, begin: int = 0, lasts: int = 10, **fields: Any) -> Span:
    """A span that begins ``begin`` milliseconds after the trace and lasts ``lasts``; child of ``root`` unless told."""
    plain: dict[str, Any] = {
        "trace_id": TRACE_ID,
        "parent_id": "" if span_id == "root" else "root",
        "name": span_id,
        "start": NOW + timedelta(milliseconds=begin),
        "end": NOW + timedelta(milliseconds=begin + lasts),
        "source": Source(topic="gw.spans", partition=0, offset=begin, recorded_at=NOW + timedelta(seconds=2)),
        "decoder": "test",
    }
    return Span(**{**plain, **fields, "span_id": span_id, "kind": kind})


def root(**fields: Any) -> Span:
    """The chain around the request, 900 ms long."""
    plain: dict[str, Any] = {"kind": SpanKind.CHAIN, "lasts": 900, "input": QUESTION, "output": ANSWER}
    return span("root", **{**plain, **fields})


def retriever(span_id: str = "retriever", *documents: Passage, begin: int = 10, **fields: Any) -> Span:
    """A retriever that found the tariff, or ``documents``."""
    found = {"lasts": 40, "documents": documents or (PASSAGE,), "query": QUESTION}
    return span(span_id, SpanKind.RETRIEVER, begin=begin, **{**found, **fields})


def call(span_id: str = "call", *, begin: int = 60, **fields: Any) -> Span:
    """The model call that wrote the answer from a packed prompt."""
    prompt = f"Context: [1] {PASSAGE.text}\nQuestion: {QUESTION}"
    said = {"lasts": 800, "messages": (ChatMessage(role="user", content=prompt),), "completions": (ANSWER,)}
    return span(span_id, SpanKind.LLM, begin=begin, **{**said, **fields})


def request() -> list[Span]:
    """The whole request in the order in which exporters send it: children first, the root last."""
    return [retriever(), call(), root()]
