"""What the store says of itself and of its traces when a person asks; value objects, equal by value."""

from enum import StrEnum

from pydantic import Field

from schemas.base import Record, UtcDatetime
from schemas.labels import FailureLabel, Outcome, RiskTier
from streams.store.records import StoredTrace


class TableStats(Record):
    """One table. ``rows`` as they lie on disk: copies that no merge has removed yet count.

    ``oldest`` and ``newest`` are None for an empty table and for one without times; ``keeps_days`` is None for ever.
    """

    name: str
    rows: int = 0
    parts: int = 0
    disk_bytes: int = 0
    compressed_bytes: int = 0
    uncompressed_bytes: int = 0
    oldest: UtcDatetime | None = None
    newest: UtcDatetime | None = None
    keeps_days: int | None = None


class StoreStats(Record):
    """Size and growth. Means over the ``days`` between the oldest and the newest trace, at least one.

    ``bytes_per_trace`` spreads all tables over the traces. ``deduplicated_share`` is the share of passages whose text
    was stored already for another trace; None without passages.
    """

    tables: tuple[TableStats, ...] = ()
    traces: int = 0
    verdicts: int = 0
    days: float = 0.0
    bytes_per_trace: float | None = None
    traces_per_day: float | None = None
    bytes_per_day: float | None = None
    passages: int = 0
    passage_texts: int = 0
    deduplicated_share: float | None = None
    free_bytes: int | None = None
    """Free space of the disk that holds the tables; None where the server does not say."""
    days_until_full: float | None = None


class CheckName(StrEnum):
    """What ``groundwatch store verify`` looks at, in order."""

    MIGRATIONS = "migrations"
    LABELS = "labels"
    TIMES = "times"
    DUPLICATES = "duplicates"
    DRAWS_JUDGED = "draws_judged"
    VERDICTS_TRACED = "verdicts_traced"
    VERDICTS_DRAWN = "verdicts_drawn"
    HEADS_TRACED = "heads_traced"
    PASSAGES_STORED = "passages_stored"
    TALLIES_5M = "tallies_5m"
    TALLIES_1H = "tallies_1h"
    POLICIES_KNOWN = "policies_known"
    DRAWS_AGREE = "draws_agree"


class CheckResult(Record):
    """One finished check: how many things it ``checked``, how many are at fault, and the first of them.

    ``examples`` hold ids of traces: untrusted text. ``note`` says what was found, ``fix`` what to do about faults.
    """

    name: CheckName
    checked: int = 0
    faults: int = 0
    examples: tuple[str, ...] = ()
    note: str = ""
    fix: str = ""


class CheckProgress(Record):
    """A check that is at work: ``done`` of ``total`` stretches of time."""

    name: CheckName
    done: int
    total: int


class TraceSummary(Record):
    """One line of a list of traces. ``outcome`` is that of the newest verdict, None while there is none."""

    trace_id: str
    ts: UtcDatetime
    intent: str
    tier: RiskTier
    tenant: str = ""
    is_drawn: bool
    outcome: Outcome | None = None
    failures: tuple[FailureLabel, ...] = ()
    question: str = ""
    """The first 200 characters."""
    feedback: str = ""
    """What somebody said of it, the first 200 characters."""


class Lead(Record):
    """A trace that somebody said something about: a reason to look, never a label. ``feedback`` up to 1,000 characters.

    ``is_negative``: the configured pattern is in the feedback.
    """

    trace: TraceSummary
    feedback: str
    is_negative: bool = False


class IntentTraffic(Record):
    """One intent at one tier: its traffic in the time asked for and its share of all; first and last seen at all."""

    intent: str
    tier: RiskTier
    traffic: int
    share: float
    first_seen: UtcDatetime
    last_seen: UtcDatetime


class UnmappedShare(Record):
    """Traces of one source topic in one hour, and what of them has no intent."""

    topic: str
    hour: UtcDatetime
    traffic: int
    unmapped: int
    share: float


class FoundTrace(Record):
    """What an id, or the beginning of one, leads to: the trace, or every candidate (newest first) when it is open."""

    trace: StoredTrace | None = None
    candidates: tuple[str, ...] = Field(default=(), description="Ids that begin with what was asked for.")


class FateCounts(Record):
    """Source messages of one fate, and the whole traces and spans in them.

    ``kept`` are stored traces that retention has not reached, and of messages recorded since the moment asked for.
    """

    messages: int = 0
    stored: int = 0
    kept: int = 0
    duplicates: int = 0
    expired: int = 0
    refused: int = 0
    spans: int = 0


class TraceStates(Record):
    """Traces of one source topic: ``stored`` = drawn + the rest, ``drawn`` = judged + errors + unresolved + pending.

    ``no_answer`` and ``dead_letter`` are traces of spans that closed without being stored; ``kept`` those that
    retention has not reached.
    """

    stored: int = 0
    kept: int = 0
    drawn: int = 0
    judged: int = 0
    errors: int = 0
    unresolved: int = 0
    pending: int = 0
    no_answer: int = 0
    dead_letter: int = 0

    def plus(self, other: "TraceStates") -> "TraceStates":
        """Both together."""
        return TraceStates(**{name: value + getattr(other, name) for name, value in self.model_dump().items()})
