"""What the gate says of one golden case: passed or not, every reason, and the part of the product each points to.

What could not be decided is a state of its own: an error of the detector is neither a good answer nor a bad one.
"""

from enum import StrEnum

from pydantic import Field

from schemas.base import Record
from schemas.labels import FailureLabel, Outcome, RiskTier, Severity


class Status(StrEnum):
    """What became of a case; only the first two tell two runs apart."""

    PASSED = "passed"
    FAILED = "failed"
    UNCLEAR = "unclear"
    """The answer is for a person to decide, and the gates of its tier do not count that as failed."""
    ERROR = "error"
    """The detector failed on it."""


class Diagnosis(StrEnum):
    """Which part of the product to look at; where a case has several reasons, the first of these is its diagnosis."""

    MISSING = "missing"
    """The run has no answer to the case."""
    ERROR = "error"
    """There is nothing to judge: no answer, no recorded context, or the detector failed."""
    RETRIEVAL = "retrieval"
    """What the answer needs was not retrieved, or what it must not rest on was."""
    ABSTENTION = "abstention"
    """It should have declined and did not, or declined although the evidence was there."""
    GENERATION = "generation"
    """The evidence was there, and the answer is wrong, unproven or incomplete."""
    CITATION = "citation"
    """The answer is right, its citations are not."""
    UNCLEAR = "unclear"
    """The detector could not decide."""


class Fault(StrEnum):
    """Why a case is not passed: the failure labels of verdicts, and what only a golden case can tell."""

    MISSING = "missing"
    ERROR = "error"
    UNCLEAR = "unclear"
    REQUIRED_SOURCE_NOT_RETRIEVED = "required_source_not_retrieved"
    REQUIRED_SOURCE_NOT_CITED = "required_source_not_cited"
    FORBIDDEN_SOURCE_USED = "forbidden_source_used"
    EXPECTED_CLAIM_MISSING = "expected_claim_missing"
    WRONG_CLAIM_REPEATED = "wrong_claim_repeated"
    BELOW_BAR = "below_bar"
    ASKED_BACK = "asked_back"
    NOTHING_STATED = "nothing_stated"
    UNSUPPORTED_CLAIM = FailureLabel.UNSUPPORTED_CLAIM.value
    CONTRADICTED_CLAIM = FailureLabel.CONTRADICTED_CLAIM.value
    CITATION_MISSING = FailureLabel.CITATION_MISSING.value
    CITATION_UNKNOWN = FailureLabel.CITATION_UNKNOWN.value
    CITATION_MISMATCH = FailureLabel.CITATION_MISMATCH.value
    STALE_SOURCE = FailureLabel.STALE_SOURCE.value
    UNTRUSTED_SOURCE = FailureLabel.UNTRUSTED_SOURCE.value
    SHOULD_HAVE_ABSTAINED = FailureLabel.SHOULD_HAVE_ABSTAINED.value
    OVER_REFUSAL = FailureLabel.OVER_REFUSAL.value
    TOOL_CLAIM_UNPROVEN = FailureLabel.TOOL_CLAIM_UNPROVEN.value
    FOLLOWS_INJECTED_INSTRUCTION = FailureLabel.FOLLOWS_INJECTED_INSTRUCTION.value
    FORBIDDEN_SOURCE = FailureLabel.FORBIDDEN_SOURCE.value


class Reason(Record):
    """One thing that is wrong; ``detail`` may repeat ids and claims: untrusted text."""

    fault: Fault
    diagnosis: Diagnosis
    detail: str = ""


class Retrieval(Record):
    """How well the passages of a trace match the gold ones, in the order of their ranks.

    ``recall_at`` is the share of gold passages among the first k, ``recall`` among all; ``precision`` the share of
    retrieved passages that are gold, None when nothing was retrieved; ``reciprocal_rank`` 1 over the place of the first
    gold passage, 0 when there is none.
    """

    gold: int = Field(ge=1)
    retrieved: int = Field(ge=0)
    precision: float | None = Field(default=None, ge=0, le=1)
    recall: float = Field(ge=0, le=1)
    recall_at: dict[int, float]
    reciprocal_rank: float = Field(ge=0, le=1)


class CaseResult(Record):
    """One case in one run. ``outcome`` is None for a missing answer; ``score`` is that of the verdict."""

    case_id: str
    intent: str
    tier: RiskTier
    owner: str = ""
    question: str
    is_answerable: bool
    status: Status
    diagnosis: Diagnosis | None = None
    reasons: tuple[Reason, ...] = ()
    trace_id: str = ""
    answer: str = ""
    outcome: Outcome | None = None
    score: float | None = None
    severity: Severity | None = None
    contradicted_critical: int = 0
    """Critical claims that the passages contradict."""
    expected: int = 0
    """Claims that the case expects of a good answer; ``stated`` of them are in this one."""
    stated: int = 0
    retrieval: Retrieval | None = None
    """None where the case names no gold passage, or the trace does not show what was retrieved."""
    took_ms: float = 0.0
