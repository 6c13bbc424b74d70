"""What a caller gets: the decision, what to send in place of the answer, and what it rests on."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from schemas.base import Record
from schemas.claim import ClaimSource
from schemas.labels import ClaimLabel, Containment, FailureLabel, Layer, Outcome, Severity
from schemas.layers import LayerRun
from streams.inline.links import SourceLink

_CLAIM_SCORES = {"support", "contradiction", "confidence"}
_ANSWER_SCORES = {"score", "faithfulness"}


class Unchecked(StrEnum):
    """Why an answer was not judged."""

    OUT_OF_TIME = "out_of_time"
    """The time allowed ran out."""
    FAILED = "failed"
    """Judging failed; the log names the kind of error."""
    OVERLOADED = "overloaded"
    """More checks at a time than `inline.max_in_flight`."""


class ClaimEvidence(Record):
    """The span of a text that decided a claim; ``passage`` is its place in the request, null for other texts."""

    passage: int | None
    doc_id: str
    url: str = ""
    start: int
    end: int
    text: str


class CheckedClaim(Record):
    """One claim: ``answer[start:end]``, counted in code points."""

    text: str
    start: int
    end: int
    label: ClaimLabel
    critical_rule: str = Field(default="", description="The policy's rule that makes it critical; empty for none.")
    source: ClaimSource | None = None
    evidence: ClaimEvidence | None = None
    why: str = ""
    decided_by: Layer | None = None
    error: Outcome | None = Field(default=None, description="Why it could not be judged.")
    support: float | None = Field(default=None, description="Only with `include_scores`, as the next two.")
    contradiction: float | None = None
    confidence: float | None = None


class Fallback(Record):
    """What to show in place of an answer that is not sent; ``html`` is the text with its links, escaped."""

    text: str
    sources: tuple[SourceLink, ...] = ()
    html: str


class CheckReply(Record):
    """What should happen to the answer, and why."""

    trace_id: str
    decision: Containment
    text: str = Field(
        description="What the user may read: the answer, the answer without its bad claims, or a fallback."
    )
    checked: bool = Field(
        description="False: the decision is the policy's for failures (`on_failure`), not a judgement."
    )
    reason: Unchecked | None = Field(default=None, description="Why it was not judged; null where it was.")
    fallback: Fallback | None = Field(default=None, description="Where the decision is to hold back or to abstain.")
    outcome: Outcome | None = None
    passed: bool = False
    failures: tuple[FailureLabel, ...] = ()
    severity: Severity | None = None
    claims: tuple[CheckedClaim, ...] = ()
    layers: tuple[LayerRun, ...] = Field(default=(), description="What became of each layer, cheapest first.")
    dropped: tuple[Layer, ...] = Field(default=(), description="Layers left out, or cut short, for lack of time.")
    policy_id: str
    fingerprint: str = ""
    within_ms: int = Field(description="The time that was allowed.")
    took_ms: float = 0.0
    score: float | None = Field(default=None, description="Only with `include_scores`, as the next.")
    faithfulness: float | None = None


def to_json(reply: CheckReply, *, include_scores: bool) -> bytes:
    """The body; without scores the fields are not there at all, so that nobody comes to lean on them unasked."""
    left_out: Any = (
        None if include_scores else {**dict.fromkeys(_ANSWER_SCORES, True), "claims": {"__all__": _CLAIM_SCORES}}
    )
    return reply.model_dump_json(exclude=left_out).encode()
