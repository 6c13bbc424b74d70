"""What is known about a document of the corpus beyond one trace; a snapshot is a collection of these."""

from typing import Literal

from pydantic import Field

from schemas.base import Record, UtcDatetime


class DocumentVersion(Record):
    """One version of a document, as the corpus knows it.

    ``superseded_by`` names the version or document that took its place, from ``superseded_at`` on (None: since ever);
    ``archived`` likewise from ``archived_at`` on.
    """

    doc_id: str = Field(min_length=1, max_length=1024)
    version: str = ""
    effective_from: UtcDatetime | None = None
    updated_at: UtcDatetime | None = None
    first_seen_at: UtcDatetime | None = None
    archived: bool = False
    archived_at: UtcDatetime | None = None
    superseded_by: str = ""
    superseded_at: UtcDatetime | None = None
    allowed_roles: tuple[str, ...] = ()
    trust: Literal["trusted", "untrusted", "unknown"] = "unknown"
