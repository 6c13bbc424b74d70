"""One step of a trace as it travels on ``gw.spans``: what its convention said, in our words, already redacted.

Envelopes and conventions are read at ingest, so that nothing of a stranger's format lives beyond the source's decoder.
"""

from enum import StrEnum
from hashlib import blake2b
from typing import Literal

from pydantic import Field

from schemas.base import Record, UtcDatetime
from schemas.trace import Passage, Source, ToolCall, Versions


class SpanKind(StrEnum):
    """What a span did; ``other`` for kinds that no convention knows, which are treated as chains."""

    CHAIN = "chain"
    AGENT = "agent"
    RETRIEVER = "retriever"
    RERANKER = "reranker"
    LLM = "llm"
    TOOL = "tool"
    EMBEDDING = "embedding"
    GUARDRAIL = "guardrail"
    EVALUATOR = "evaluator"
    """Somebody's judge; never part of an answer, and our own judge calls are such spans too."""
    FEEDBACK = "feedback"
    OTHER = "other"


class ChatMessage(Record):
    """One message of a model's input; parts that are text are joined by line feeds, other parts are left out."""

    role: str
    content: str


class MappedValue(Record):
    """What a mapping rule found on this span; ``rank`` is the place of the rule in its list, smaller wins."""

    field: Literal[
        "intent", "tier", "tenant", "roles", "locale", "region", "model", "prompt", "corpus", "retriever", "app"
    ]
    rank: int = Field(ge=0)
    value: str


class Feedback(Record):
    """What a user or a foreign evaluator said; a lead for review, never a label. ``value`` as it was recorded."""

    name: str
    value: str
    comment: str = ""
    is_from_user: bool = True


class Span(Record):
    """One copy of one span. None means that this copy does not say; another copy of the same span may.

    ``input`` and ``output`` are texts as people would read them: unwrapped from JSON where the convention wraps them.
    ``documents`` is None unless the span retrieved or reranked; empty when it did and got nothing. An update of kind
    ``other`` may hold its content in the shape of several kinds: another copy says which of them it is.
    """

    trace_id: str = Field(min_length=1, max_length=256)
    span_id: str = Field(min_length=1, max_length=256)
    parent_id: str = Field(default="", max_length=256)
    name: str = ""
    kind: SpanKind = SpanKind.OTHER
    start: UtcDatetime | None = None
    end: UtcDatetime | None = None
    said_at: UtcDatetime | None = None
    """When this copy was written, where the format says so: later copies win field by field."""
    is_update: bool = False
    """A part of a span that does not say where in the tree it stands (a log record, an update): it closes no trace."""
    is_error: bool = False
    input: str | None = None
    output: str | None = None
    query: str | None = None
    documents: tuple[Passage, ...] | None = None
    messages: tuple[ChatMessage, ...] = ()
    completions: tuple[str, ...] = ()
    """What the model wrote, one text a choice."""
    finish_reason: str = ""
    token_logprobs: tuple[float, ...] = ()
    tool: ToolCall | None = None
    conversation_id: str = ""
    user_id: str = ""
    tenant: str = ""
    roles: tuple[str, ...] = ()
    locale: str = ""
    region: str = ""
    versions: Versions = Versions()
    mapped: tuple[MappedValue, ...] = ()
    feedback: tuple[Feedback, ...] = ()
    flags: tuple[str, ...] = ()
    """``no_content``, ``redacted``, ``truncated`` and repairs, as on a trace."""
    decoder: str = ""
    source: Source | None = None

    @property
    def content_hash(self) -> str:
        """blake2b-128 over everything but the position: equal for a redelivered copy."""
        text = self.model_dump_json(exclude={"source"}, exclude_none=True)
        return blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()
