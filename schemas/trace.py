"""One question answered by the product: its passages, prompt and answer, as the monitored system reported it."""

from hashlib import blake2b
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from schemas.base import Record, UtcDatetime
from schemas.labels import RiskTier

T = TypeVar("T")
MAX_ITEMS = 10_000
"""Longest list in a trace: passages, tool calls and the like."""
MAX_TOKENS = 1_000_000
"""Most token log-probabilities of a trace."""
MAX_NAME_CHARS = 256
"""Longest id of a trace and of a tenant."""
UNMAPPED = "unmapped"
"""The intent of a trace that states none and that no rule gives one."""
MAX_COUNT = 2_147_483_647
"""Largest rank, revision and number of late spans."""
Items = Annotated[tuple[T, ...], Field(max_length=MAX_ITEMS, fail_fast=True)]
"""A list whose first wrong item ends the reading: a million wrong items must not cost a million error reports."""


def passage_hash(text: str) -> str:
    """Content hash of a passage's text: blake2b-128 as 32 hex digits; lone surrogates hash as U+FFFD's bytes."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


class Passage(Record):
    """A passage as the model saw it. ``cited`` is what the producer says; None when it says nothing."""

    doc_id: str = ""
    chunk_id: str = ""
    version: str = ""
    text: str
    score: float | None = None
    rank: int = Field(default=0, ge=0, le=MAX_COUNT)
    updated_at: UtcDatetime | None = None
    effective_from: UtcDatetime | None = None
    archived: bool = False
    superseded_by: str = ""
    allowed_roles: Items[str] = ()
    trust: Literal["trusted", "untrusted", "unknown"] = "unknown"
    cited: bool | None = None
    first_seen_at: UtcDatetime | None = None
    """When the document was first met in the corpus; None when nothing says so."""


class ToolCall(Record):
    """One call of a tool; ``arguments`` and ``output`` are kept as the text that was recorded."""

    name: str
    arguments: str = ""
    output: str | None = None


class Hop(Record):
    """One step of an answer made in several: what it was asked, what it was given, what came out.

    ``passages`` and ``tools`` are indices into the trace's own. The output of an earlier hop may be what a later one
    rests on; its sources are those of the earlier hop.
    """

    name: str = ""
    question: str = ""
    passages: Items[int] = ()
    tools: Items[int] = ()
    output: str = ""


class Versions(Record):
    """What was running; an empty string means that the trace does not say."""

    model: str = ""
    prompt: str = ""
    corpus: str = ""
    retriever: str = ""
    app: str = ""


class Timings(Record):
    """Durations in milliseconds; None where the trace does not say."""

    retrieval_ms: float | None = None
    generation_ms: float | None = None
    total_ms: float | None = None


class Source(Record):
    """Where the message was read: position on the source topic, and the broker's record time."""

    topic: str
    partition: int
    offset: int
    recorded_at: UtcDatetime


class Trace(Record):
    """One trace. ``passages`` is None when it does not show whether retrieval ran, empty when it gave nothing."""

    trace_id: str = Field(min_length=1, max_length=MAX_NAME_CHARS)
    ts: UtcDatetime
    question: str = ""
    rewrites: Items[str] = ()
    answer: str | None = None
    passages: Items[Passage] | None = None
    packed_prompt: str | None = None
    tool_calls: Items[ToolCall] = ()
    hops: Items[Hop] = ()
    """The steps of an answer made in several, the last one included; empty for an answer made in one."""
    alternatives: Items[str] = ()
    token_logprobs: Annotated[tuple[float, ...], Field(max_length=MAX_TOKENS, fail_fast=True)] = ()
    intent: str = UNMAPPED
    tier: RiskTier = RiskTier.MEDIUM
    conversation_id: str = ""
    user_id: str = ""
    tenant: str = Field(default="", max_length=MAX_NAME_CHARS)
    roles: Items[str] = ()
    locale: str = ""
    region: str = ""
    versions: Versions = Versions()
    timings: Timings = Timings()
    feedback: str = ""
    source: Source | None = None
    decoder: str = "native_json"
    close_reason: str = "whole"
    late_spans: int = Field(default=0, ge=0, le=MAX_COUNT)
    revision: int = Field(default=1, ge=1, le=MAX_COUNT)
    flags: Items[str] = ()
