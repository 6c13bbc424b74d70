"""What ``attach`` found, as records: what ``--json`` prints and the terminal shows. Shares are 0 to 1.

Texts of users and documents are as recorded, or redacted; whoever shows them escapes them.
"""

from typing import Any

from schemas.base import Record, UtcDatetime


class Topic(Record):
    """A topic, or a file. What the broker does not say is null."""

    name: str
    partitions: int
    available: int
    read: int
    messages_per_second: float | None = None
    busiest_partition_per_second: float | None = None
    max_message_bytes: int | None = None
    compression: str = ""
    retention_seconds: float | None = None


class Form(Record):
    """Messages of one kind: how they are encoded and which conventions their spans follow."""

    encoding: str
    conventions: tuple[str, ...]
    layer: str
    is_read: bool
    messages: int
    share: float
    spans: int
    traces: int
    ignored: int
    example: str
    """Position of the first one, topic/partition/offset."""


class Problem(Record):
    """Messages, or parts of messages, that cannot be read for one reason."""

    reason: str
    messages: int
    share: float
    detail: str
    example: str
    fix: str


class FieldFound(Record):
    """One thing that a trace may hold: how many do, what it costs where it is missing, what would add it."""

    field: str
    title: str
    need: str
    """``needed`` (nothing is verified without), ``useful`` or ``optional``."""
    share: float
    cost: str
    fixes: tuple[str, ...] = ()
    """Empty where the field is there."""


class Coverage(Record):
    """What of the traffic can be seen, and how it is laid out."""

    value_bytes: int
    largest_bytes: int
    median_bytes: int
    over_1_mb_share: float
    size_limit_bytes: int | None = None
    near_limit_share: float = 0.0
    """Messages above 90 % of the topic's limit: larger ones may have been dropped by the producer."""
    no_key_share: float | None = None
    spread_share: float | None = None
    """Traces with spans on several partitions."""
    repeated_span_share: float
    changed_span_share: float
    """Spans of which several different copies came."""
    late_span_share: float
    repeated_traces: int
    first_recorded_at: UtcDatetime | None = None
    last_recorded_at: UtcDatetime | None = None
    messages_per_second: float | None = None
    bytes_per_second: float | None = None
    rate_over_seconds: float | None = None
    """How long a stretch the rates were counted over; a short one says little of a day."""
    skew_median_seconds: float | None = None
    """Event time behind the broker's record time; negative where it is ahead."""
    skew_p95_seconds: float | None = None
    ahead_share: float = 0.0
    notes: tuple[str, ...] = ()


class Example(Record):
    """One assembled trace, shortened."""

    trace_id: str
    intent: str
    tier: str
    question: str
    answer: str | None
    passages: tuple[str, ...] | None
    tools: tuple[str, ...]
    spans: int
    flags: tuple[str, ...]
    decoder: str


class Candidate(Record):
    """A place where a field may be found: the share of traces that have it, and its most frequent values."""

    path: str
    share: float
    distinct: int
    values: tuple[str, ...]
    gain: float = 0.0
    """Share of traces that have the place and lack the field."""
    is_default: bool = False
    """Looked at without a rule."""


class Proposal(Record):
    """``config`` is what belongs into groundwatch.yaml; ``candidates`` by field, the best first."""

    config: dict[str, Any]
    candidates: dict[str, tuple[Candidate, ...]]
    home_made: tuple[str, ...] = ()
    """Paths with an example's type, in JSON that no decoder knows: what a mapping file can name."""
    notes: tuple[str, ...] = ()


class OutcomeRow(Record):
    """Traces of one intent and tier, judged in full by the shipped detector."""

    intent: str
    tier: str
    traces: int
    grounded: int
    hallucinated: int
    unclear: int
    other: int
    unresolved: int


class Flagged(Record):
    """An answer that would be flagged, with its worst claim."""

    trace_id: str
    intent: str
    tier: str
    outcome: str
    failures: tuple[str, ...]
    claim: str
    evidence: str


class Unresolved(Record):
    """Why answers of the sample cannot be judged, and what would change that."""

    reason: str
    traces: int
    share: float
    fix: str


class DryRun(Record):
    """The pipeline on the sample, in memory. ``torn`` traces, which the edges of the sample cut, were left out.

    ``skipped`` are too large for a quick look, or the time for it was up.
    """

    judged: int
    torn: int
    skipped: int
    outcomes: tuple[OutcomeRow, ...]
    flagged: tuple[Flagged, ...]
    unresolved: tuple[Unresolved, ...]


class TierDraw(Record):
    """What the policy would draw of a tier, given what screening says of the sample."""

    tier: str
    traces: int
    drawn_share: float
    strata: dict[str, int]


class Cost(Record):
    """Of verifying under the policy; milliseconds are one core of this machine."""

    policy: str
    tiers: tuple[TierDraw, ...]
    drawn_share: float
    traces_per_day: float | None
    drawn_per_day: float | None
    decode_ms: float
    """A message."""
    assemble_ms: float
    screen_ms: float
    """A trace."""
    verify_ms: float
    """A drawn trace."""
    cpu_seconds_per_day: float | None
    left_out: tuple[str, ...]
    """Layers that the settings add when it verifies, and that neither these times nor a dry run contain."""
    judge: str


class Load(Record):
    """What a running deployment asks of the source brokers."""

    connections: str
    fetch: str
    groups: tuple[str, ...]
    bytes_per_second: float | None
    notes: tuple[str, ...] = ()


class Attached(Record):
    """What ``attach`` prints: topics, what decodes, fields, coverage, examples, the mapping, rights and cost."""

    topics: tuple[Topic, ...]
    is_file: bool
    messages: int
    spans: int
    traces: int
    whole_traces: int
    judge_traces: int
    decoded_share: float
    forms: tuple[Form, ...]
    problems: tuple[Problem, ...]
    fields: tuple[FieldFound, ...]
    coverage: Coverage
    examples: tuple[Example, ...]
    proposal: Proposal
    dry_run: DryRun | None
    cost: Cost
    acls: tuple[str, ...]
    load: Load
    notes: tuple[str, ...]
    seconds: float
