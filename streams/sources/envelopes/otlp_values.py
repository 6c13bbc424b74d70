"""What both encodings of OTLP share: ids, times, limits and what is gathered from a message.

Ids are told by their length, never by the setting, because producers mix the encodings up: OTLP/JSON wants hex, a
generic protobuf printer writes base64, and a generic protobuf parser takes the hex for base64.
"""

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from schemas.errors import InvalidMessage
from streams.sources.raw import Envelope, RawSpan

TRACE_ID_BYTES = 16
SPAN_ID_BYTES = 8
MAX_SPANS = 50_000
"""Spans read from one message; a message within the broker's usual limit holds fewer."""
MAX_ITEMS = 10_000
"""Attributes of a span, items of a list or map: the rest is cut and the span is flagged ``cut_values``."""
MAX_VALUE_DEPTH = 32
"""Lists and maps within an attribute; what is deeper becomes None, flagged ``cut_values``."""
MAX_PROBLEMS = 100
"""Problems told one by one; the rest of a message's problems are told as a number."""
MAX_ID_CHARS = 64
STATUS_ERROR = 2
SEVERITY_ERROR = 17
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_NANOSECONDS = 2**63 - 1
_HEX = re.compile("[0-9a-f]*")
_MODEL_CALL_PREFIXES = ("gen_ai.", "llm.", "openinference.", "traceloop.", "langfuse.", "mlflow.")


def required_id(raw: object, size: int, name: str) -> str:
    """The id in bytes, or in hex or base64 text, as lower-case hex. Raises InvalidMessage naming the field."""
    try:
        found = _id(raw, size)
    except ValueError as error:
        raise InvalidMessage("wrong_type", f"{name}: {error}") from error
    if not found:
        raise InvalidMessage("missing_field", f"{name}: a span without it belongs to no trace")
    return found


def parent_id(raw: object) -> str:
    """The parent's id, empty for a root. One that is no id stays as it came: its span must not look like a root."""
    try:
        return _id(raw, SPAN_ID_BYTES)
    except ValueError:
        return (raw.hex() if isinstance(raw, bytes) else str(raw))[:MAX_ID_CHARS]


def _id(raw: object, size: int) -> str:
    return _id_from_bytes(raw, size) if isinstance(raw, bytes) else _id_from_text(raw, size)


def _id_from_bytes(raw: bytes, size: int) -> str:
    """An id as lower-case hex; empty when it is absent or all zeros.

    64-bit trace ids get leading zeros. An id that was hex and was parsed as base64 is turned back. Raises ValueError.
    """
    if not raw.strip(b"\0"):
        return ""
    if len(raw) == size:
        return raw.hex()
    if len(raw) * 2 == size * 3:
        text = b64encode(raw).decode("ascii").lower()
        if _HEX.fullmatch(text):
            return text if text.strip("0") else ""
    if size == TRACE_ID_BYTES and len(raw) == SPAN_ID_BYTES:
        return raw.hex().zfill(2 * size)
    raise ValueError(f"{len(raw)} bytes, where an id has {size}")


def _id_from_text(text: object, size: int) -> str:
    """An id that came as hex in any case, with or without ``0x``, or as base64; else as above."""
    if text is None or text == "":
        return ""
    if not isinstance(text, str):
        raise ValueError("not text, where an id is hex digits")  # noqa: TRY004  one kind of failure for the caller
    digits = text.lower().removeprefix("0x")
    if len(digits) in {2 * size, 2 * SPAN_ID_BYTES} and _HEX.fullmatch(digits):
        return digits.zfill(2 * size) if digits.strip("0") else ""
    raw = bytes_from_base64(text)
    if raw is None:
        raise ValueError(f"{len(text)} characters that are neither hex nor base64 of {size} bytes")
    return _id_from_bytes(raw, size)


def bytes_from_base64(text: str) -> bytes | None:
    """The bytes behind base64 in the usual or the URL alphabet, padded or not; None when it is neither."""
    usual = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return b64decode(usual + "=" * (-len(usual) % 4), validate=True)
    except (Base64Error, ValueError):
        return None


def time_from_nanoseconds(nanoseconds: int | None, flags: set[str]) -> datetime | None:
    """Time since 1970, to the microsecond; None for 0, and for what no 64-bit clock can say, flagged ``bad_time``."""
    if not nanoseconds:
        return None
    if 0 < nanoseconds <= _MAX_NANOSECONDS:
        return _EPOCH + timedelta(microseconds=nanoseconds // 1000)
    flags.add("bad_time")
    return None


def log_name(event_name: str, attributes: Mapping[str, Any]) -> str:
    """A log record's event name; before it was a field of its own it was the attribute ``event.name``."""
    older = attributes.get("event.name")
    return event_name or (older if isinstance(older, str) else "")


def is_model_call(name: str, attributes: Mapping[str, Any]) -> bool:
    """Whether a log record tells of a model call: most of a logs topic does not, and must not become spans."""
    return name.startswith("gen_ai.") or any(key.startswith(_MODEL_CALL_PREFIXES) for key in attributes)


@dataclass(slots=True)
class Gathered:
    """What was found in one message so far."""

    spans: list[RawSpan] = field(default_factory=list)
    problems: list[InvalidMessage] = field(default_factory=list)
    ignored: int = 0
    read: int = 0
    _untold: int = 0

    def has_room(self) -> bool:
        """Whether another span or record may be read; says so once when the limit is passed."""
        self.read += 1
        if self.read == MAX_SPANS + 1:
            self.problems.append(InvalidMessage("too_many_spans", f"only the first {MAX_SPANS} spans were read"))
        return self.read <= MAX_SPANS

    def add(self, span: RawSpan | None) -> None:
        """Keep a span; None stands for a log record that is of no use."""
        if span is None:
            self.ignored += 1
        else:
            self.spans.append(span)

    def refuse(self, error: InvalidMessage) -> None:
        """Note what is wrong with the span that is being read."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(InvalidMessage(error.reason, f"span {self.read} of the message: {error.detail}"))
        else:
            self._untold += 1

    def envelope(self) -> Envelope:
        """All of it."""
        problems = self.problems
        if self._untold:
            problems = [*problems, InvalidMessage("more_problems", f"{self._untold} more spans cannot be read")]
        return Envelope(tuple(self.spans), tuple(problems), self.ignored)
