"""A golden case: a question whose good answer people agreed on, and optionally a recorded answer with its labels.

A set of cases is a JSONL file, one case a line; labels are never overwritten, the earlier ones stay in their history.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Generic, Self, TypeVar

from pydantic import Field, model_validator

from schemas.base import Record, UtcDatetime
from schemas.labels import ClaimLabel, Outcome, RiskTier

FORMAT_VERSION = 1
ANSWER_LABELS = frozenset({Outcome.GROUNDED, Outcome.HALLUCINATED, Outcome.UNCLEAR, Outcome.ABSTAINED})
"""What a person may call an answer; the other outcomes are things that a machine sees."""
WRONG_CLAIMS = frozenset({ClaimLabel.CONTRADICTED, ClaimLabel.UNSUPPORTED})
"""Labels that make a claim, and with it its answer, a hallucination."""
Label = TypeVar("Label", ClaimLabel, Outcome)


class Split(StrEnum):
    """Which part of the set a case belongs to; ``holdout`` is locked: it is measured on, never tuned on."""

    TRAIN = "train"
    DEV = "dev"
    HOLDOUT = "holdout"


class Labelled(Record, Generic[Label]):
    """One label with who gave it and when; ``at`` and ``author`` stay when somebody else changes it later."""

    label: Label
    author: str = Field(min_length=1)
    at: UtcDatetime
    note: str = ""


class GoldenPassage(Record):
    """A passage of a document, or the document alone where ``text`` is empty."""

    doc_id: str = Field(min_length=1)
    text: str = ""
    chunk_id: str = ""
    version: str = ""


class GoldenClaim(Record):
    """One claim of the recorded answer; ``labels`` oldest first, the last one holds. Empty: not labelled yet."""

    text: str = Field(min_length=1)
    labels: tuple[Labelled[ClaimLabel], ...] = ()
    evidence: tuple[str, ...] = ()
    """Document ids of the passages that decide it."""

    @property
    def label(self) -> ClaimLabel | None:
        """The label that holds."""
        return self.labels[-1].label if self.labels else None


class GoldenCase(Record):
    """One question with what a good answer must and must not rest on.

    ``answer`` is a recorded answer that ``claims`` and ``answer_labels`` are about, empty when the case only asks.
    ``passages`` are those that a good answer rests on; ``given`` those that the model had before it when it wrote
    ``answer``, in its order. ``source_id`` groups cases that share pages or wording: a split never tears a group.
    """

    format_version: int = Field(default=FORMAT_VERSION, ge=1)

    case_id: str = Field(min_length=1, max_length=200)
    question: str = Field(min_length=1)
    is_answerable: bool = True
    reference_answer: str = ""
    required_sources: tuple[str, ...] = ()
    forbidden_sources: tuple[str, ...] = ()
    passages: tuple[GoldenPassage, ...] = ()
    given: tuple[GoldenPassage, ...] = ()
    answer: str = ""
    answer_labels: tuple[Labelled[Outcome], ...] = ()
    claims: tuple[GoldenClaim, ...] = ()
    intent: str = "unmapped"
    tier: RiskTier = RiskTier.MEDIUM
    locale: str = ""
    corpus_version: str = ""
    owner: str = ""
    source_id: str = ""
    split: Split = Split.DEV
    trace_id: str = ""
    """The trace that the case was made from, where there is one."""

    @property
    def answer_label(self) -> Outcome | None:
        """The label of the recorded answer that holds."""
        return self.answer_labels[-1].label if self.answer_labels else None

    @property
    def seen(self) -> tuple[GoldenPassage, ...]:
        """The passages with a text that the recorded answer is judged against: those given, else those it needs."""
        return tuple(passage for passage in self.given or self.passages if passage.text)

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if self.format_version > FORMAT_VERSION:
            message = f"format_version {self.format_version} is newer than {FORMAT_VERSION}; update Groundwatch"
            raise ValueError(message)
        both = set(self.required_sources) & set(self.forbidden_sources)
        if both:
            message = f"required_sources and forbidden_sources both name {min(both)!r}; remove one"
            raise ValueError(message)
        wrong = next((given.label for given in self.answer_labels if given.label not in ANSWER_LABELS), None)
        if wrong is not None:
            allowed = ", ".join(sorted(label.value for label in ANSWER_LABELS))
            message = f"answer_labels: {wrong.value!r} is not a label that people give; use one of {allowed}"
            raise ValueError(message)
        if (self.claims or self.answer_labels) and not self.answer:
            message = "claims and answer_labels are about a recorded answer, and answer is empty; add it"
            raise ValueError(message)
        return self


def answer_label_of(labels: Sequence[ClaimLabel | None]) -> Outcome | None:
    """What the labels of its claims make of an answer, by the rule of docs/labelling.md; None where they do not tell.

    One contradicted or unsupported claim: hallucinated, whatever the others are. Else all claims must be labelled: one
    unclear: unclear; one supported: grounded; nothing factual: None.
    """
    if any(label in WRONG_CLAIMS for label in labels):
        return Outcome.HALLUCINATED
    if None in labels:
        return None
    if ClaimLabel.UNCLEAR in labels:
        return Outcome.UNCLEAR
    return Outcome.GROUNDED if ClaimLabel.SUPPORTED in labels else None
