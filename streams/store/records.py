"""What the store hands out or takes beside the shared schemas; value objects, equal by value."""

from datetime import datetime
from enum import Enum, StrEnum
from typing import Literal

from pydantic import Field

from schemas.base import Record, UtcDatetime
from schemas.draw import Draw, DrawnTrace
from schemas.labels import Outcome, RiskTier
from schemas.span import Span
from schemas.trace import Trace
from schemas.verdict import Verdict


class AllTenants(Enum):
    """The reader may see every tenant; a type of its own, so that no empty or missing value can mean it."""

    ALL = "all"


ALL_TENANTS = AllTenants.ALL
Tenants = AllTenants | frozenset[str]
"""Who the reader is: ``ALL_TENANTS`` or the names that the reader's token allows (an empty set reads nothing)."""


class SourceFate(StrEnum):
    """What became of a source message; of several that fit, the first here. ``groundwatch coverage`` counts them."""

    DEAD_LETTER = "dead_letter"
    """It, or a part of it, is in ``gw.deadletter``."""
    STORED = "stored"
    """A whole trace of it is stored."""
    SPANS = "spans"
    """Its spans are on ``gw.spans``."""
    DUPLICATE = "duplicate"
    """All its traces were stored from another message before."""
    EXPIRED = "expired"
    """Its traces are older than retention and only counted by day."""
    EVALUATOR = "evaluator"
    """It holds a judge's own calls, ours among them, and nothing else."""
    IGNORED = "ignored"
    """It holds nothing of an answer: other spans, or no content at all."""
    SKIPPED = "skipped"
    """A person had ingest go on behind it; offsets, so an upper bound."""


class MessageFate(Record):
    """One source message and what became of it and of the whole traces in it; ``refused`` ones are dead letters.

    ``oldest_ts`` is the earliest event time of its stored traces.
    """

    topic: str
    partition: int
    offset: int
    recorded_at: UtcDatetime
    fate: SourceFate
    stored: int = 0
    duplicates: int = 0
    expired: int = 0
    refused: int = 0
    spans: int = 0
    oldest_ts: UtcDatetime | None = None


class UnstoredTrace(Record):
    """A trace of spans that closed and is not stored: ``no_answer`` or ``dead_letter``."""

    trace_id: str
    topic: str
    fate: Literal["no_answer", "dead_letter"]


class TraceHead(Record):
    """What is fixed at a trace's first emission, whatever late spans bring, and the message that it came from.

    Heads of older versions name no message: partition and offset are -1.
    """

    trace_id: str
    ts: UtcDatetime
    content_hash: str
    stratum: str
    inclusion_probability: float = Field(gt=0, le=1)
    policy_id: str
    revision: int = Field(default=1, ge=1)
    source_topic: str = ""
    source_partition: int = -1
    source_offset: int = -1

    @property
    def position(self) -> tuple[str, int, int] | None:
        """Topic, partition and offset of the message that brought it; None in an older version's head."""
        return (self.source_topic, self.source_partition, self.source_offset) if self.source_offset >= 0 else None


class StoredSpan(Record):
    """One copy of a span of an assembled trace; ``is_late``: it came after the trace had been emitted."""

    span: Span
    content_hash: str
    is_late: bool = False


class Watermark(Record):
    """How far ingest is on one partition: every trace that ended before ``event_time`` is stored.

    ``next_offset`` is where reading goes on, -1 where nothing was read yet.
    """

    topic: str
    partition: int
    event_time: UtcDatetime
    is_idle: bool = False
    next_offset: int = -1
    at: UtcDatetime
    """When this was written; the newest counts."""


class Deploy(Record):
    """A change of a version, marked by a person or detected; ``intent`` may be ``*``."""

    at: UtcDatetime
    intent: str = "*"
    field: str
    value: str
    note: str = ""
    source: Literal["mark", "detected"] = "mark"
    author: str = ""


class Suspect(Record):
    """A death of a process while it was reading this message; ``death`` names it, ``recorded_ms`` is since 1970."""

    topic: str
    partition: int
    offset: int
    recorded_ms: int
    death: str


class AlertAction(Record):
    """What a person did to an alert; ``until`` ends a silence, None keeps it until the alert resolves."""

    at: UtcDatetime
    kind: Literal["ack", "silence", "close", "reanchor"]
    alert_id: str
    author: str = ""
    note: str = ""
    until: UtcDatetime | None = None


class ExpiredCount(Record):
    """One trace older than retention; the store keeps no trace row and counts distinct ids by day of ``ts``."""

    trace_id: str
    ts: UtcDatetime
    intent: str = "unmapped"
    tier: RiskTier = RiskTier.MEDIUM


class FlaggedAnswer(Record):
    """An answer found hallucinated, with what was seen and what was concluded."""

    trace: Trace
    draw: Draw
    verdict: Verdict


class StoredTrace(Record):
    """A trace with its draw and every detector's newest verdict on it, newest first."""

    drawn: DrawnTrace
    verdicts: list[Verdict]


class RebuildReport(Record):
    """One run of the tally job: ``cells`` counts the 5-minute cells whose numbers changed."""

    generation: int
    buckets: int
    cells: int
    took_seconds: float


class MigrationReport(Record):
    """Statements that this run applied, by file."""

    applied: dict[str, int]


class StoreCounts(Record):
    """How much is stored; ``drawn`` and ``verdicts`` count distinct traces and (trace, fingerprint) pairs."""

    traces: int = 0
    drawn: int = 0
    verdicts: int = 0
    outcomes: dict[Outcome, int] = Field(default_factory=dict)
    first_ts: datetime | None = None
    last_ts: datetime | None = None
    alerts_firing: int = 0
    generation: int = 0
