"""What an envelope holds before a convention is applied, and what a decoder returns: spans, traces, problems."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from schemas.errors import InvalidMessage
from schemas.span import Span
from schemas.trace import Trace

Json = Any
"""None, bool, int, float, str, list or dict with text keys."""


@dataclass(frozen=True, slots=True)
class RawEvent:
    """An event on a span."""

    name: str
    at: datetime | None = None
    attributes: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RawSpan:
    """A span, or a log record that belongs to one, with attributes as the envelope gave them; ids as lower-case hex.

    ``attributes`` are flat for OTLP and Jaeger (dotted keys), values already plain JSON (arrays and maps decoded).
    """

    trace_id: str
    span_id: str
    parent_id: str = ""
    name: str = ""
    start: datetime | None = None
    end: datetime | None = None
    attributes: Mapping[str, Json] = field(default_factory=dict)
    events: tuple[RawEvent, ...] = ()
    resource: Mapping[str, Json] = field(default_factory=dict)
    scope: str = ""
    is_error: bool = False
    is_log: bool = False
    dropped: int = 0
    """Attributes and events that the producer's limits dropped."""
    body: Json = None
    """What a log record carries beside its attributes: text, or a map; None on spans."""
    flags: tuple[str, ...] = ()
    """Repairs of this span: ``repaired_text``, ``cut_values``, ``bad_number``, ``bad_time``."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """The spans of one message, and what was wrong with single ones; a bad span costs no neighbour."""

    spans: tuple[RawSpan, ...] = ()
    problems: tuple[InvalidMessage, ...] = ()
    ignored: int = 0
    """Log records that belong to no model call: most of a logs topic."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """What one message holds. With ``problems`` its bytes also go to the dead letter, while the rest goes on."""

    spans: tuple[Span, ...] = ()
    traces: tuple[Trace, ...] = ()
    problems: tuple[InvalidMessage, ...] = ()
    evaluators: int = 0
    """Spans of judges and of our own calls: the guard against judging ourselves. They stay among ``spans``, since
    assembly leaves out what is below them; whole traces of judges are left out here."""
    ignored: int = 0
    """What belongs to no answer: other log records, stream chunks, events of an SDK about itself."""
