"""One checkable statement in an answer, and the item that a detector is asked to judge."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from schemas.base import Record
from schemas.trace import Passage


class Claim(Record):
    """A statement of the answer: ``answer[start:end] == text``, offsets in code points.

    ``critical_rule`` names the rule that makes the claim critical, empty when none does; ``citations`` are the
    citation ids that belong to it as written, without brackets.
    """

    index: int = Field(ge=0)
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str
    is_factual: bool = True
    critical_rule: str = ""
    citations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckItem:
    """What a detector judges: claims of one answer against the passages that the model saw."""

    question: str
    passages: Sequence[Passage]
    answer: str
    claims: Sequence[Claim]
