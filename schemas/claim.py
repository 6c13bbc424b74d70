"""One checkable statement in an answer, and the item that a detector is asked to judge."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import Field

from schemas.base import Record
from schemas.trace import Passage


class ClaimSource(StrEnum):
    """Where a claim comes from, as far as the trace shows it."""

    DOCUMENT = "document"
    """A retrieved passage supports it."""
    TOOL = "tool"
    """The output of a tool call supports it."""
    MEMORY = "memory"
    """Nothing that the model was given supports it: it comes from the model itself."""
    USER = "user"
    """Only what the user said supports it."""


class Claim(Record):
    """A statement of the answer: ``answer[start:end] == text``, offsets in code points.

    ``critical_rule`` names the rule that makes the claim critical, empty when none does; ``citations`` are the
    citation ids that belong to it as written, without brackets.

    A part of a sentence has the sentence's offsets too, ``split_by`` (the rule that parted it, or ``llm``), and as
    ``subject`` the words of its sentence without which it says nothing: ``subject`` and ``text`` together are to be
    judged. All three are empty for a whole sentence.
    """

    index: int = Field(ge=0)
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str
    is_factual: bool = True
    critical_rule: str = ""
    citations: tuple[str, ...] = ()
    subject: str = ""
    sentence_start: int | None = Field(default=None, ge=0)
    sentence_end: int | None = Field(default=None, ge=0)
    split_by: str = ""

    @property
    def statement(self) -> str:
        """What is to be judged: the text, behind the words of its sentence that it leaves out."""
        return f"{self.subject} {self.text}" if self.subject else self.text


@dataclass(frozen=True, slots=True)
class CheckItem:
    """What a detector judges: claims of one answer against the passages that the model saw."""

    question: str
    passages: Sequence[Passage]
    answer: str
    claims: Sequence[Claim]
