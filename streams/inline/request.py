"""What a caller asks: one answer with its context; a mistake in it is named together with what would be right."""

import json
from datetime import datetime
from difflib import get_close_matches

from pydantic import ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from schemas.base import Record, UtcDatetime
from schemas.codec import invalid_message
from schemas.errors import InvalidMessage
from schemas.labels import RiskTier
from schemas.trace import MAX_NAME_CHARS, MAX_TOKENS, UNMAPPED, Hop, Items, Passage, ToolCall, Trace, Versions
from streams.sources.checked import checked
from streams.sources.json_text import clean, load

DECODER = "check"
"""The decoder that such a trace names."""
MAX_URL_CHARS = 2000
_FIXES = {
    "answer": "send the text that the user would read",
    "passages": "send what the model was given: a list of {doc_id, text, url}, [] when retrieval found nothing, "
    "null when it is not known",
    "passages.text": "send the text that the model saw",
    "tier": f"use one of {', '.join(RiskTier)}",
    "ts": "send a time with its zone, such as 2026-03-10T12:00:00Z, or leave it out",
    "within_ms": "send whole milliseconds, or leave it out; the policy's limit holds above",
}


class CheckPassage(Passage):
    """A passage as the model saw it, with what people may be shown of it."""

    model_config = ConfigDict(extra="forbid")

    url: str = Field(default="", max_length=MAX_URL_CHARS, description="Where people may read it; http or https.")
    title: str = Field(default="", max_length=MAX_NAME_CHARS, description="Its name for people; `doc_id` where empty.")


class CheckRequest(Record):
    """One answer that has not been sent yet. Its fields are those of a trace, and mean the same."""

    model_config = ConfigDict(extra="forbid")

    question: str = ""
    answer: str = Field(description="The text that the user would read.")
    passages: Items[CheckPassage] | None = Field(
        description="What the model was given. Empty: retrieval found nothing. Null: it is not known whether it ran."
    )
    packed_prompt: str | None = None
    tool_calls: Items[ToolCall] = ()
    hops: Items[Hop] = ()
    alternatives: Items[str] = ()
    token_logprobs: tuple[float, ...] = Field(default=(), max_length=MAX_TOKENS)
    intent: str = Field(default=UNMAPPED, description="Chooses the route and the rules of the policy.")
    tier: RiskTier = Field(default=RiskTier.MEDIUM, description="Chooses the route and the bar of the policy.")
    trace_id: str = Field(default="", max_length=MAX_NAME_CHARS, description="Given back; one is made when empty.")
    ts: UtcDatetime | None = Field(default=None, description="When the answer was made; now when left out.")
    conversation_id: str = ""
    user_id: str = ""
    tenant: str = Field(default="", max_length=MAX_NAME_CHARS)
    roles: Items[str] = ()
    locale: str = ""
    region: str = ""
    versions: Versions = Versions()
    flags: Items[str] = Field(default=(), description="`truncated`: the answer was cut off.")
    within_ms: int | None = Field(
        default=None, ge=10, description="Time allowed for this answer, where it is less than the policy's."
    )
    include_scores: bool = Field(default=False, description="Give support, contradiction and confidence of each claim.")

    def to_trace(self, now: datetime, made_id: str) -> Trace:
        """The trace that is judged; ``made_id`` names it where the request does not."""
        own = {name: getattr(self, name) for name in _SHARED}
        given = {**own, "ts": self.ts or now, "trace_id": self.trace_id or made_id, "decoder": DECODER}
        return checked(Trace(**given), now)


_SHARED = tuple(name for name in CheckRequest.model_fields if name in Trace.model_fields)


def read_request(body: bytes) -> CheckRequest:
    """The request in a body of JSON; lone surrogates and broken bytes in it become U+FFFD.

    Raises InvalidMessage: ``not_json`` or ``too_deep`` for what is no JSON, else another reason, with field and fix.
    """
    try:
        return CheckRequest.model_validate_json(body, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        if first["type"] != "json_invalid":
            raise _with_fix(invalid_message(error), first) from error
    document, is_dirty = load(body)
    mended = clean(document)[0] if is_dirty else document
    try:
        return CheckRequest.model_validate_json(json.dumps(mended), strict=True)
    except ValidationError as error:
        raise _with_fix(invalid_message(error), error.errors(include_url=False, include_input=False)[0]) from error


def _with_fix(invalid: InvalidMessage, first: ErrorDetails) -> InvalidMessage:
    names = [str(part) for part in first["loc"] if isinstance(part, str)]
    fix = _FIXES.get(".".join(names), "")
    if first["type"] == "extra_forbidden":
        known = list(CheckRequest.model_fields if len(names) == 1 else CheckPassage.model_fields)
        near = get_close_matches(names[-1], known, 1)
        detail = f"{'.'.join(names)[:MAX_NAME_CHARS]}: no such field"
        return InvalidMessage("unknown_field", f"{detail}; {f'did you mean {near[0]}?' if near else _known(known)}")
    return InvalidMessage(invalid.reason, f"{invalid.detail}; {fix}") if fix else invalid


def _known(names: list[str]) -> str:
    return f"known: {', '.join(names)}"
