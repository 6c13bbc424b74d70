"""Whether a passage was out of date when the answer was given."""

import re
from collections.abc import Sequence
from datetime import datetime

from schemas.finding import StructuralRule
from schemas.trace import Passage

_VERSION_PART = re.compile(r"\d+|[^\d.\s_-]+")


def is_stale(position: int, passages: Sequence[Passage], at: datetime) -> bool:
    """True when the passage was out of date at ``at``, for whatever reason."""
    return stale_rule(position, passages, at) is not None


def stale_rule(position: int, passages: Sequence[Passage], at: datetime) -> StructuralRule | None:
    """Why the passage was out of date at ``at``: archived, superseded, or a newer version is among the passages.

    A version whose ``effective_from`` lies after ``at`` is not yet newer. None when it was in date.
    """
    passage = passages[position]
    if passage.archived:
        return StructuralRule.SOURCE_ARCHIVED
    if passage.superseded_by:
        return StructuralRule.SOURCE_SUPERSEDED
    return StructuralRule.SOURCE_OUTDATED if is_outdated(position, passages, at) else None


def is_outdated(position: int, passages: Sequence[Passage], at: datetime) -> bool:
    """True when a newer version of the document, in force at ``at``, is among the passages."""
    passage = passages[position]
    return any(_is_newer(other, passage) and _is_in_force(other, at) for other in passages)


def _is_in_force(passage: Passage, at: datetime) -> bool:
    return not passage.archived and (passage.effective_from is None or passage.effective_from <= at)


def _is_newer(other: Passage, passage: Passage) -> bool:
    if not passage.doc_id or other.doc_id != passage.doc_id or other.version == passage.version:
        return False
    if other.effective_from and passage.effective_from and other.effective_from != passage.effective_from:
        return other.effective_from > passage.effective_from
    if other.updated_at and passage.updated_at and other.updated_at != passage.updated_at:
        return other.updated_at > passage.updated_at
    return _version_key(other.version) > _version_key(passage.version)


def _version_key(version: str) -> list[tuple[int, int, str]]:
    """Natural order: 2 before 10, numbers before words, an empty version first."""
    parts = _VERSION_PART.findall(version.lower())
    return [(0, int(part[:18]), "") if part.isdecimal() else (1, 0, part) for part in parts]
