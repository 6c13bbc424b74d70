"""The one vocabulary of labels, outcomes and states; the store's CHECK constraints are generated from it."""

from enum import StrEnum


class RiskTier(StrEnum):
    """How much harm an error does here; sets the draw, the bars and the route."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class ClaimLabel(StrEnum):
    """What a claim was found to be. Only the first three are scorable; ``unclear`` goes to review."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNSUPPORTED = "unsupported"
    UNCLEAR = "unclear"
    NOT_FACTUAL = "not_factual"


class Outcome(StrEnum):
    """What an answer was found to be. The order is part of the store's format (tally arrays): append only."""

    GROUNDED = "grounded"
    HALLUCINATED = "hallucinated"
    UNCLEAR = "unclear"
    ABSTAINED = "abstained"
    CLARIFIED = "clarified"
    NO_CLAIMS = "no_claims"
    UNRESOLVED_NO_ANSWER = "unresolved:no_answer"
    UNRESOLVED_NO_CONTEXT = "unresolved:no_context"
    UNRESOLVED_REDACTED = "unresolved:redacted"
    UNRESOLVED_TRUNCATED = "unresolved:truncated"
    UNRESOLVED_NO_CONTENT = "unresolved:no_content"
    UNRESOLVED_EXPIRED = "unresolved:expired"
    ERROR_JUDGE_PARSE = "error:judge_parse"
    ERROR_TIMEOUT = "error:timeout"
    ERROR_TOO_LONG = "error:too_long"
    ERROR_MODEL = "error:model"
    ERROR_BUDGET = "error:budget"
    ERROR_INTERNAL = "error:internal"

    @property
    def is_error(self) -> bool:
        """True for every ``error:<reason>``."""
        return self.value.startswith("error:")

    @property
    def is_unresolved(self) -> bool:
        """True for every ``unresolved:<reason>``."""
        return self.value.startswith("unresolved:")

    @property
    def is_judged(self) -> bool:
        """True for the two outcomes that make up the answer rate: hallucinated / (hallucinated + grounded)."""
        return self in {Outcome.GROUNDED, Outcome.HALLUCINATED}


class FailureLabel(StrEnum):
    """Kinds of failure for triage; owner, likely fix and runbook text of each are configuration."""

    UNSUPPORTED_CLAIM = "unsupported_claim"
    CONTRADICTED_CLAIM = "contradicted_claim"
    CONFLICTING_SOURCES = "conflicting_sources"
    CITATION_MISSING = "citation_missing"
    CITATION_UNKNOWN = "citation_unknown"
    CITATION_MISMATCH = "citation_mismatch"
    STALE_SOURCE = "stale_source"
    UNTRUSTED_SOURCE = "untrusted_source"
    SHOULD_HAVE_ABSTAINED = "should_have_abstained"
    OVER_REFUSAL = "over_refusal"
    TOOL_CLAIM_UNPROVEN = "tool_claim_unproven"
    FOLLOWS_INJECTED_INSTRUCTION = "follows_injected_instruction"
    FORBIDDEN_SOURCE = "forbidden_source"


class Severity(StrEnum):
    """How much harm a failure may do, mildest first; what sets it is in ``detectors.severity``."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Layer(StrEnum):
    """Layers of detection, cheapest first."""

    L0 = "L0"
    L1 = "L1"
    L2 = "L2"
    L3 = "L3"
    L4 = "L4"


class Containment(StrEnum):
    """What should happen to an answer before it is sent."""

    DELIVER = "deliver"
    DELIVER_TRIMMED = "deliver_trimmed"
    HOLD_FOR_REVIEW = "hold_for_review"
    ABSTAIN = "abstain"


class AlertState(StrEnum):
    """States of an alert. ``learning``: baseline still young; ``stale``: no data, which is never recovery."""

    LEARNING = "learning"
    INACTIVE = "inactive"
    PENDING = "pending"
    FIRING = "firing"
    RESOLVED = "resolved"
    STALE = "stale"
