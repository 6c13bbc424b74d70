"""Makers of raw spans for tests of the conventions."""

from datetime import UTC, datetime, timedelta
from typing import Any

from schemas.span import Span
from streams.sources.conventions import to_span
from streams.sources.raw import Json, RawEvent, RawSpan

START = datetime(2026, 5, 14, 8, tzinfo=UTC)


def raw(attributes: dict[str, Json], **fields: Any) -> RawSpan:
    """A raw span of 40 ms with these attributes."""
    plain: dict[str, Any] = {
        "trace_id": "3c7f2a90d4e14b6f8a51c09e77b2d613",
        "span_id": "a1f0c3d2e4b59687",
        "name": "step",
        "start": START,
        "end": START + timedelta(milliseconds=40),
        "attributes": attributes,
    }
    return RawSpan(**{**plain, **fields})


def log(name: str, attributes: dict[str, Json] | None = None, body: Json = None) -> RawSpan:
    """A log record that belongs to the span."""
    return raw(attributes or {}, name=name, end=None, is_log=True, body=body)


def event(name: str, /, **attributes: Json) -> RawEvent:
    """An event on a span; double underscores in names stand for dots."""
    return RawEvent(name, START, {key.replace("__", "."): value for key, value in attributes.items()})


def span(attributes: dict[str, Json], **fields: Any) -> Span:
    """What the conventions make of such a raw span."""
    return to_span(raw(attributes, **fields))


def texts(one: Span) -> list[str]:
    """The texts of a span's documents."""
    return [passage.text for passage in one.documents or ()]


def said(one: Span) -> list[tuple[str, str]]:
    """The messages of a span."""
    return [(message.role, message.content) for message in one.messages]
