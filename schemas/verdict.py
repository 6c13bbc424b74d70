"""What one detector version concluded: per claim, and for the answer."""

from pydantic import Field

from schemas.base import Record, UtcDatetime
from schemas.claim import Claim, ClaimSource
from schemas.finding import Finding
from schemas.labels import ClaimLabel, Containment, FailureLabel, Layer, Outcome, RiskTier, Severity
from schemas.layers import Consistency, LayerRun
from schemas.trace import Versions


class Evidence(Record):
    """The span of a passage that decided a claim; ``passage`` indexes the trace's passages, offsets in code points."""

    passage: int = Field(ge=0)
    doc_id: str
    passage_hash: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str


class ClaimJudgement(Record):
    """A detector's answer for one claim: probabilities in [0, 1], or an error reason, never both.

    ``support`` is the maximum over passages that the claim is supported, ``contradiction`` the maximum that it is
    contradicted; they are kept apart and need not sum to one. ``why`` is a short explanation without user text limits.

    A judge gives a ``label``, which holds over the thresholds, with the ``confidence`` that it states; the scores stay
    those of the layer below. ``layer`` is the one whose word this is; None where a detector alone was asked.
    """

    support: float | None = Field(default=None, ge=0, le=1)
    contradiction: float | None = Field(default=None, ge=0, le=1)
    evidence: Evidence | None = None
    why: str = ""
    error: Outcome | None = None
    label: ClaimLabel | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)
    layer: Layer | None = None


class ClaimVerdict(Record):
    """A claim with its label; scores are None for claims that were not scored (not factual, or in error).

    ``layers`` saw it; ``decided_by`` is the one whose word its label is. ``source`` says what the claim rests on; None
    where that is not known: not factual, unclear or in error, and an answer whose context the trace does not show.
    """

    claim: Claim
    label: ClaimLabel
    support: float | None = None
    contradiction: float | None = None
    evidence: Evidence | None = None
    why: str = ""
    layers: tuple[Layer, ...] = ()
    decided_by: Layer | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)
    """What the judge that decided states; None where no judge did."""
    error: Outcome | None = None
    source: ClaimSource | None = None
    hop: int | None = Field(default=None, ge=0)
    """Which hop of the trace brought the evidence, or the claim where nothing supports it; None where none did."""


class HopVerdict(Record):
    """One hop of an answer made in several, on its own context; not the hop that wrote the answer.

    ``hop`` is its place in the trace's hops. Claims are factual ones; those in error are not among the unclear.
    ``outcome`` is what an answer with these claims would be found to be, or why none was judged.
    """

    hop: int = Field(ge=0)
    name: str = ""
    outcome: Outcome
    claims: int = Field(default=0, ge=0)
    supported: int = Field(default=0, ge=0)
    unsupported: int = Field(default=0, ge=0)
    contradicted: int = Field(default=0, ge=0)
    unclear: int = Field(default=0, ge=0)
    errors: int = Field(default=0, ge=0)
    derived: int = Field(default=0, ge=0)
    """Claims, whatever their label, that rest on what an earlier hop said."""
    left_out: int = Field(default=0, ge=0)
    """Claims beyond those that are judged of one hop."""
    worst_label: ClaimLabel | None = None
    """Of the claim that fares worst; None without a judged claim."""
    worst: str = ""
    """Its words, shortened."""
    worst_why: str = ""
    evidence_doc: str = ""
    evidence: str = ""
    """What comes nearest to it in the sources, shortened."""


class SeenText(Record):
    """One text that the claims were judged against, whole; ``Evidence.passage`` is its place in the list."""

    source: ClaimSource
    doc_id: str = ""
    content_hash: str
    chars: int = Field(ge=0)


class Verdict(Record):
    """The verdict on one answer by one detector fingerprint; replaces any earlier one of the same fingerprint."""

    trace_id: str
    ts: UtcDatetime
    revision: int = 1
    intent: str
    tier: RiskTier
    versions: Versions = Versions()
    fingerprint: str
    outcome: Outcome
    failures: tuple[FailureLabel, ...] = ()
    severities: tuple[Severity, ...] = ()
    """How severe each of ``failures`` is, in their order."""
    severity: Severity | None = None
    """The worst of ``severities``; None without a failure."""
    findings: tuple[Finding, ...] = ()
    """What the structure showed, in the order in which it was found."""
    citation_precision: float | None = Field(default=None, ge=0, le=1)
    """Share of the citations that name a passage which supports their claim; None without citations."""
    citation_recall: float | None = Field(default=None, ge=0, le=1)
    """Share of the supported claims that cite a passage which supports them; None without supported claims."""
    score: float | None = Field(default=None, ge=0, le=1)
    """Support of the weakest factual claim; None when nothing was scored."""
    faithfulness: float | None = Field(default=None, ge=0, le=1)
    """Supported claims over scorable ones (supported, contradicted, unsupported); None without a scorable claim."""
    passed: bool = False
    containment: Containment
    claims: tuple[ClaimVerdict, ...] = ()
    layers: tuple[Layer, ...] = ()
    routing: tuple[LayerRun, ...] = ()
    """What became of each layer, cheapest first; empty in verdicts of older versions."""
    consistency: Consistency | None = None
    """What comparing several answers of the model showed; None where it was not done."""
    took_ms: float = 0.0
    timings_ms: dict[str, float] = Field(default_factory=dict)
    """Milliseconds by step (``split``, ``L0``, ``L1``, …); a step over a batch counts each answer's equal part."""
    splitter: str = ""
    """How the answer was split; names the reason where the wanted way failed and the rules took over."""
    fingerprint_parts: dict[str, str] = Field(default_factory=dict)
    """What ``fingerprint`` was made of, by name; empty in verdicts of older versions."""
    answer_hash: str = ""
    """Content hash of the answer as it was judged, which is never cut; compare it with the stored answer's."""
    seen: tuple[SeenText, ...] = ()
    """What the claims were judged against."""
    hops: tuple[HopVerdict, ...] = ()
    """The hops before the answer, in order; empty for an answer made in one, and where its structure settled it."""
    hops_left_out: int = Field(default=0, ge=0)
    """Hops beyond those that are checked of one answer."""
    cost_usd: float = 0.0
    verified_at: UtcDatetime
