"""What the corpus knows of its documents, and what a trace is told of them as of the moment of its answer.

A snapshot is a plain value that is passed as an argument, so the same trace and snapshot give the same findings.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from detectors.structural.staleness import VersionKey, is_newer, version_key
from schemas.document import DocumentVersion
from schemas.errors import ConfigError
from schemas.trace import Passage, Trace

_EVER = datetime.min.replace(tzinfo=UTC)
_UNNAMED = "(unnamed)"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Document versions by document id and version; the order in which they were given is no matter."""

    documents: Mapping[str, Mapping[str, DocumentVersion]] = field(default_factory=dict)

    @classmethod
    def of(cls, documents: Iterable[DocumentVersion]) -> "Snapshot":
        """A snapshot of these versions. Raises ConfigError when one is given twice with different content."""
        known: dict[str, dict[str, DocumentVersion]] = {}
        for document in documents:
            first = known.setdefault(document.doc_id, {}).setdefault(document.version, document)
            if first != document:
                name = f"{document.doc_id!r}, version {document.version!r}"
                raise ConfigError(f"document {name} is given twice with different content; keep one of them")
        return cls(MappingProxyType({doc_id: MappingProxyType(versions) for doc_id, versions in known.items()}))

    def find(self, doc_id: str, version: str = "") -> DocumentVersion | None:
        """Exactly this version, None when the snapshot does not have it."""
        return self.documents.get(doc_id, {}).get(version)

    def in_force(self, doc_id: str, at: datetime) -> DocumentVersion | None:
        """The version that holds at ``at``: the newest that is in force and not archived, else the newest of all."""
        versions = self.documents.get(doc_id, {}).values()
        holding = [document for document in versions if _holds(document, at)]
        return max(holding or versions, key=_age, default=None)


def annotate(trace: Trace, snapshot: Snapshot) -> Trace:
    """The trace with what its passages do not say of their documents, as of ``trace.ts``.

    What a passage says wins, but archived or superseded is enough from either. A version that the snapshot does not
    have gets only what holds for the document: trust, roles, first seen, and whether a newer version is in force. A
    passage without a version is taken for the version in force. Doing it twice changes nothing.
    """
    if not trace.passages or not snapshot.documents:
        return trace
    passages = tuple(_annotated(passage, snapshot, trace.ts) for passage in trace.passages)
    is_same = all(new is old for new, old in zip(passages, trace.passages, strict=True))
    return trace if is_same else trace.model_copy(update={"passages": passages})


def _annotated(passage: Passage, snapshot: Snapshot, at: datetime) -> Passage:
    versions = snapshot.documents.get(passage.doc_id)
    current = snapshot.in_force(passage.doc_id, at)
    if not versions or current is None:
        return passage
    own = versions.get(passage.version) or (None if passage.version else current)
    changes = _document_facts(passage, own or current, versions.values())
    if own is not None:
        changes |= _version_facts(passage, own, at)
    dated = passage.model_copy(update=changes) if changes else passage
    if not dated.superseded_by and passage.version and _is_replaced(dated, current, at):
        changes["superseded_by"] = current.version or _UNNAMED
    return passage.model_copy(update=changes) if changes else passage


def _document_facts(passage: Passage, document: DocumentVersion, versions: Iterable[DocumentVersion]) -> dict[str, Any]:
    seen = min((one.first_seen_at for one in versions if one.first_seen_at is not None), default=None)
    changes: dict[str, Any] = {}
    if passage.trust == "unknown" and document.trust != "unknown":
        changes["trust"] = document.trust
    if not passage.allowed_roles and document.allowed_roles:
        changes["allowed_roles"] = document.allowed_roles
    if passage.first_seen_at is None and seen is not None:
        changes["first_seen_at"] = seen
    return changes


def _version_facts(passage: Passage, own: DocumentVersion, at: datetime) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if passage.effective_from is None and own.effective_from is not None:
        changes["effective_from"] = own.effective_from
    if passage.updated_at is None and own.updated_at is not None:
        changes["updated_at"] = own.updated_at
    if not passage.archived and _is_archived(own, at):
        changes["archived"] = True
    is_superseded = bool(own.superseded_by or own.superseded_at) and (own.superseded_at or _EVER) <= at
    if not passage.superseded_by and is_superseded:
        changes["superseded_by"] = own.superseded_by or _UNNAMED
    return changes


def _is_replaced(passage: Passage, current: DocumentVersion, at: datetime) -> bool:
    """Whether the version in force is a later one; by the same order as among the passages of a trace."""
    later = Passage(
        doc_id=current.doc_id,
        version=current.version,
        text="",
        effective_from=current.effective_from,
        updated_at=current.updated_at,
    )
    return _holds(current, at) and is_newer(later, passage)


def _holds(document: DocumentVersion, at: datetime) -> bool:
    return _begins(document) <= at and not _is_archived(document, at)


def _begins(document: DocumentVersion) -> datetime:
    return document.effective_from or document.updated_at or document.first_seen_at or _EVER


def _is_archived(document: DocumentVersion, at: datetime) -> bool:
    return document.archived_at <= at if document.archived_at is not None else document.archived


def _age(document: DocumentVersion) -> tuple[datetime, datetime, VersionKey]:
    return (_begins(document), document.updated_at or _EVER, version_key(document.version))
