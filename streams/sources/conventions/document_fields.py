"""What a document's metadata says, under the names that stores and frameworks use, as the fields of a passage."""

from collections.abc import Iterable, Mapping
from typing import Any

from streams.sources.conventions.values import name, number, texts
from streams.sources.raw import Json
from streams.sources.times import passage_time

DOCUMENT_ID = ("doc_id", "document_id", "documentId", "docId", "ref_doc_id", "parent_document_id")
"""The document that a chunk is of."""
OWN_ID = ("id", "id_", "_id", "node_id", "uuid", "pk")
"""The id of the thing that was found: a document, or a chunk of one."""
ADDRESS = (
    "source", "doc_uri", "uri", "url", "source_url", "link", "file_name", "filename", "file_path", "path", "title",
)  # fmt: skip
"""What names a document that has no id."""
CHUNK_ID = ("chunk_id", "chunkId", "chunk", "chunk_index", "chunk_no", "passage_id")
_VERSION = ("version", "doc_version", "document_version", "revision")
_SUPERSEDED_BY = ("superseded_by", "supersededBy", "replaced_by", "replacedBy")
_UPDATED_AT = (
    "updated_at", "updatedAt", "last_modified", "lastModified", "last_updated", "modified_at", "date_modified",
    "last_modified_date", "modification_date", "updated",
)  # fmt: skip
_EFFECTIVE_FROM = ("effective_from", "effectiveFrom", "valid_from", "validFrom", "effective_date", "effectiveDate")
_FIRST_SEEN_AT = ("first_seen_at", "ingested_at", "indexed_at")
_ARCHIVED = ("archived", "is_archived", "isArchived")
_ROLES = ("allowed_roles", "allowedRoles")
_TRUST = ("trust", "trust_level")
_SCORE = ("score", "relevance_score", "relevanceScore", "similarity", "similarity_score", "_score", "rerank_score")
_DISTANCE = ("distance", "_distance")
_YES = frozenset({"true", "1", "yes"})
_NO = frozenset({"false", "0", "no", ""})


def fields_of(item: Mapping[str, Json], metadata: Mapping[str, Json], flags: set[str]) -> dict[str, Any]:
    """Fields of a passage except its text and rank; what the document itself says comes before its metadata.

    The document's id is the one that the metadata names, else its own, else its address. A distance becomes a score as
    1 − distance, which keeps the order.
    """
    both = (item, metadata)
    own = _name(both, OWN_ID, flags)
    document = _name(both, DOCUMENT_ID, flags)
    fields: dict[str, Any] = {
        "doc_id": document or own or _name((metadata, item), ADDRESS, flags),
        "chunk_id": _name(both, CHUNK_ID, flags) or (own if document and own != document else ""),
        "version": _name(both, _VERSION, flags),
        "superseded_by": _name(both, _SUPERSEDED_BY, flags),
        "score": _score(both),
        "archived": _yes_no(first(both, _ARCHIVED), flags) or False,
        "cited": _yes_no(first(both, ("cited", "is_cited")), flags),
        "updated_at": _time(first(both, _UPDATED_AT), flags),
        "effective_from": _time(first(both, _EFFECTIVE_FROM), flags),
        "first_seen_at": _time(first(both, _FIRST_SEEN_AT), flags),
        "allowed_roles": texts(first(both, _ROLES), flags),
        "trust": _trust(first(both, _TRUST)),
    }
    return {key: value for key, value in fields.items() if value not in (None, "", ())}


def first(places: Iterable[Mapping[str, Json]], keys: Iterable[str]) -> Json:
    """The first value that is stated, by place and then by key."""
    return next((place[key] for place in places for key in keys if place.get(key) is not None), None)


def _name(places: Iterable[Mapping[str, Json]], keys: tuple[str, ...], flags: set[str]) -> str:
    """The first name that is one; names of wrong shape are flagged once nothing else is found."""
    wrong: set[str] = set()
    for place in places:
        for key in keys:
            if key in place and (found := name(place[key], wrong)):
                return found
    flags |= wrong
    return ""


def _score(places: Iterable[Mapping[str, Json]]) -> float | None:
    stated = number(first(places, _SCORE))
    if stated is not None:
        return stated
    distance = number(first(places, _DISTANCE))
    return None if distance is None else 1 - distance


def _yes_no(value: Json, flags: set[str]) -> bool | None:
    if isinstance(value, bool) or value is None:
        return value
    word = str(value).strip().lower() if isinstance(value, (str, int)) else None
    if word in _YES:
        return True
    if word not in _NO:
        flags.add("wrong_shape")
        return None
    return False


def _time(value: Json, flags: set[str]) -> str | None:
    moment, flag = passage_time(value) if value is not None else (None, "")
    if flag == "time_dropped":
        flags.add(flag)
    return moment


def _trust(value: Json) -> str | None:
    word = value.strip().lower() if isinstance(value, str) else None
    return word if word in ("trusted", "untrusted") else None
