"""Messages of source topics for tests, and what the decoder and assembly make of them."""

import asyncio
import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from schemas.span import Span
from schemas.trace import Trace
from streams.assembly import assemble
from streams.messages import Message
from streams.settings import SourceSettings
from streams.sources.decode import SourceDecoder
from streams.sources.raw import Decoded

FOLDER = Path(__file__).parent / "data" / "sources"
RECORDED_AT = datetime(2026, 5, 14, 9, tzinfo=UTC)
MAX_BYTES = 1_000_000


def message(value: bytes | None, offset: int = 0, topic: str = "traces") -> Message:
    """A message recorded one millisecond after the one before it."""
    return Message(topic, 0, offset, None, value, (), RECORDED_AT + timedelta(milliseconds=offset))


def decoder(**settings: Any) -> SourceDecoder:
    """A decoder with these settings for the topic ``traces``."""
    return SourceDecoder.of([SourceSettings(topic="traces", **settings)], max_message_bytes=MAX_BYTES)


def decode(*values: bytes | Any, using: SourceDecoder | None = None) -> Decoded:
    """What messages hold together; values that are no bytes are sent as JSON."""
    own = using or decoder()
    encoded = (value if isinstance(value, bytes) else json.dumps(value).encode() for value in values)
    found = [asyncio.run(own.decode(message(value, offset))) for offset, value in enumerate(encoded)]
    return Decoded(
        spans=tuple(span for one in found for span in one.spans),
        traces=tuple(trace for one in found for trace in one.traces),
        problems=tuple(problem for one in found for problem in one.problems),
        evaluators=sum(one.evaluators for one in found),
        ignored=sum(one.ignored for one in found),
    )


def assembled(spans: Iterable[Span], using: SourceDecoder | None = None) -> Trace:
    """The one trace of these spans."""
    trace = assemble(spans, (using or decoder()).rules("traces"), RECORDED_AT)
    assert trace is not None
    return trace


def trace_of(*values: bytes | Any, using: SourceDecoder | None = None) -> Trace:
    """The one trace in these messages, in which nothing is wrong."""
    found = decode(*values, using=using)
    assert () == found.problems
    (trace,) = found.traces or (assembled(found.spans, using),)
    return trace


def fixture(name: str) -> list[bytes]:
    """The messages of a fixture: its lines, or the file."""
    content = (FOLDER / name).read_bytes()
    return content.splitlines() if name.endswith(".jsonl") else [content]


def document(name: str) -> Any:
    """A fixture as parsed JSON."""
    return json.loads((FOLDER / name).read_bytes())
