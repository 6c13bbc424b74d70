"""The native trace format: one JSON object a message, described in docs/native-format.md."""

import json
import re
from datetime import datetime, timedelta

from pydantic import ValidationError

from schemas.codec import invalid_message
from schemas.errors import InvalidMessage
from schemas.trace import Source, Trace
from streams.messages import Message

DECODER = "native_json"
CLOCK_TOLERANCE = timedelta(minutes=5)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


def decode_native(message: Message) -> Trace:
    """The trace in ``message``, with its position and a checked event time.

    A time more than five minutes ahead of the broker's record time is a wrong clock: the record time is used and the
    trace is flagged. Raises InvalidMessage (tombstone, not_json, wrong_type, missing_field), naming the field.
    """
    trace = _parse(message.value)
    source = Source(
        topic=message.topic, partition=message.partition, offset=message.offset, recorded_at=message.recorded_at
    )
    ts, flags = _checked_time(trace.ts, message.recorded_at)
    return trace.model_copy(update={"source": source, "ts": ts, "decoder": DECODER, "flags": (*trace.flags, *flags)})


def _parse(value: bytes | None) -> Trace:
    if value is None:
        raise InvalidMessage("tombstone", "the value is null; send one JSON object a trace")
    try:
        return Trace.model_validate_json(value)
    except ValidationError as error:
        invalid = invalid_message(error)
        if invalid.reason == "not_json" and _SURROGATE_ESCAPE.search(value.decode("utf-8", "replace")):
            return _parse_with_surrogates(value, invalid)
        raise invalid from error


def _parse_with_surrogates(value: bytes, invalid: InvalidMessage) -> Trace:
    """JSON with lone surrogate escapes, which strict parsers refuse: each becomes U+FFFD, the rest stays."""
    try:
        text = json.dumps(json.loads(value.decode("utf-8")), ensure_ascii=False)
        return Trace.model_validate_json(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    except ValidationError as error:
        raise invalid_message(error) from error
    except (ValueError, RecursionError) as error:
        raise invalid from error


def _checked_time(ts: datetime, recorded_at: datetime) -> tuple[datetime, tuple[str, ...]]:
    if ts > recorded_at + CLOCK_TOLERANCE:
        return recorded_at, ("clock_ahead",)
    return ts, ()
