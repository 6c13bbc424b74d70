"""What the structure of a trace shows, check by check; each finding says what it found and where."""

from enum import StrEnum

from pydantic import Field, field_validator

from schemas.base import Record
from schemas.labels import ClaimLabel, FailureLabel


class StructuralRule(StrEnum):
    """The checks of L0 by name; verify finds ``CITATION_MISMATCH`` and ``CITATION_IRRELEVANT``, with a detector."""

    CITATION_MISSING = "citation_missing"
    """Citations are required and the answer has none."""
    CITATION_UNKNOWN = "citation_unknown"
    """An id that no passage has."""
    CITATION_URL_UNKNOWN = "citation_url_unknown"
    """A link to something that is not among the passages, nor in their texts."""
    CITATION_FAR = "citation_far"
    """Sources stand in a list at the end only, so no claim says which of them it rests on. Not a failure."""
    CITATION_MISMATCH = "citation_mismatch"
    """The context supports the claim, the passages that it cites do not."""
    CITATION_IRRELEVANT = "citation_irrelevant"
    """A cited passage that does not support its claim beside another cited one that does. Not a failure."""
    QUOTE_NOT_FOUND = "quote_not_found"
    """A quotation of three words or more that nothing the model was given holds."""
    QUOTE_TOO_SHORT = "quote_too_short"
    """A quotation of one or two words that is not found: too little to decide on."""
    SOURCE_ARCHIVED = "source_archived"
    SOURCE_SUPERSEDED = "source_superseded"
    SOURCE_OUTDATED = "source_outdated"
    """A newer version of the document, in force, is among the passages."""
    SOURCE_NOT_IN_FORCE = "source_not_in_force"
    """The cited version takes effect after the answer was given."""
    SOURCE_UNTRUSTED = "source_untrusted"
    SOURCE_FIRST_SEEN = "source_first_seen"
    """Rests only on documents seen for the first time shortly before the answer."""
    SOURCE_FORBIDDEN = "source_forbidden"
    """A document that this tenant or these roles may not see reached the model or the answer."""
    TOOL_CLAIM_UNPROVEN = "tool_claim_unproven"
    """The answer says that something was done or looked up, and no tool result shows it."""
    CANARY_REPEATED = "canary_repeated"
    """A phrase that no answer may hold."""
    INSTRUCTION_OBEYED = "instruction_obeyed"
    """An instruction inside a passage shows its effect in the answer."""
    CONTEXT_TRUNCATED = "context_truncated"
    """A retrieved passage is not, or not whole, in the packed prompt. Not a failure of the answer."""
    ASSERTED_WITHOUT_CONTEXT = "asserted_without_context"
    REFUSED_ALTHOUGH_ANSWERABLE = "refused_although_answerable"

    @property
    def failure(self) -> FailureLabel | None:
        """The failure label under which triage sees it; None for what is worth knowing but no failure."""
        return _FAILURES.get(self)

    @property
    def claim_label(self) -> ClaimLabel | None:
        """The label that a claim gets from this finding alone; None where the detector decides."""
        return _CLAIM_LABELS.get(self)


_FAILURES = {
    StructuralRule.CITATION_MISSING: FailureLabel.CITATION_MISSING,
    StructuralRule.CITATION_UNKNOWN: FailureLabel.CITATION_UNKNOWN,
    StructuralRule.CITATION_URL_UNKNOWN: FailureLabel.CITATION_UNKNOWN,
    StructuralRule.CITATION_MISMATCH: FailureLabel.CITATION_MISMATCH,
    StructuralRule.QUOTE_NOT_FOUND: FailureLabel.UNSUPPORTED_CLAIM,
    StructuralRule.SOURCE_ARCHIVED: FailureLabel.STALE_SOURCE,
    StructuralRule.SOURCE_SUPERSEDED: FailureLabel.STALE_SOURCE,
    StructuralRule.SOURCE_OUTDATED: FailureLabel.STALE_SOURCE,
    StructuralRule.SOURCE_NOT_IN_FORCE: FailureLabel.STALE_SOURCE,
    StructuralRule.SOURCE_UNTRUSTED: FailureLabel.UNTRUSTED_SOURCE,
    StructuralRule.SOURCE_FIRST_SEEN: FailureLabel.UNTRUSTED_SOURCE,
    StructuralRule.SOURCE_FORBIDDEN: FailureLabel.FORBIDDEN_SOURCE,
    StructuralRule.TOOL_CLAIM_UNPROVEN: FailureLabel.TOOL_CLAIM_UNPROVEN,
    StructuralRule.CANARY_REPEATED: FailureLabel.FOLLOWS_INJECTED_INSTRUCTION,
    StructuralRule.INSTRUCTION_OBEYED: FailureLabel.FOLLOWS_INJECTED_INSTRUCTION,
    StructuralRule.ASSERTED_WITHOUT_CONTEXT: FailureLabel.SHOULD_HAVE_ABSTAINED,
    StructuralRule.REFUSED_ALTHOUGH_ANSWERABLE: FailureLabel.OVER_REFUSAL,
}
_CLAIM_LABELS = {
    StructuralRule.QUOTE_NOT_FOUND: ClaimLabel.UNSUPPORTED,
    StructuralRule.QUOTE_TOO_SHORT: ClaimLabel.UNCLEAR,
    StructuralRule.TOOL_CLAIM_UNPROVEN: ClaimLabel.UNSUPPORTED,
}
MAX_DETAIL_CHARS = 200


class Finding(Record):
    """One finding. ``claim`` is the index of the claim, ``passage`` that of the trace's passage, where there is one.

    ``detail`` may repeat up to 200 characters of the answer or of a document id: untrusted text.
    """

    rule: StructuralRule
    claim: int | None = Field(default=None, ge=0)
    passage: int | None = Field(default=None, ge=0)
    detail: str = Field(default="", max_length=MAX_DETAIL_CHARS)

    @field_validator("detail", mode="before")
    @classmethod
    def _can_be_stored(cls, value: object) -> object:
        """Half a surrogate pair, as untrusted text may hold, would fail the whole record."""
        return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
