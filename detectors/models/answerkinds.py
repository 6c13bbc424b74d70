"""The kind of an answer, as far as an item shows it: scores mean something else over a summary than over a record."""

import re
from enum import StrEnum

from detectors.evidence.keyvalue import key_value_spans
from schemas.claim import CheckItem

_SUMMARY = re.compile(r"\b(?:summar(?:y|ies|i[sz]e\w*)|overview|tl;?dr|abstract of|key points)\b", re.IGNORECASE)


class AnswerKind(StrEnum):
    """What is asked for, and of what."""

    RECORDS = "records"
    """Told from records: every passage is JSON."""
    SUMMARY = "summary"
    """A text made shorter."""
    QUESTION = "question"
    """An answer to a question."""
    STATEMENT = "statement"
    """Statements without a question."""


def kind_of(item: CheckItem) -> AnswerKind:
    """The kind of ``item``, by its passages first, then by its question."""
    if item.passages and all(next(key_value_spans(passage.text), None) for passage in item.passages):
        return AnswerKind.RECORDS
    if not item.question.strip():
        return AnswerKind.STATEMENT
    return AnswerKind.SUMMARY if _SUMMARY.search(item.question) else AnswerKind.QUESTION
