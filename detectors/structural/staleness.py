"""Whether a passage was out of date when the answer was given; each is compared with the newest of its document only.

So the time is linear in the number of passages, however many versions of a document a trace holds.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache

from detectors.structural.citations import Citations
from schemas.finding import MAX_DETAIL_CHARS, Finding, StructuralRule
from schemas.trace import Passage, Trace

_VERSION_PART = re.compile(r"\d+|[^\d.\s_-]+")
_MAX_DIGITS = 18
_EVER = datetime.min.replace(tzinfo=UTC)

VersionKey = tuple[tuple[int, int, str], ...]
_Rules = Mapping[int, StructuralRule | None]
"""By position of a passage why it was out of date."""


def stale_findings(trace: Trace, citations: Citations) -> list[Finding]:
    """Cited passages that were out of date; an id that names a document means its version in force if that is there.

    What the producer marks as cited counts as well. One finding for each thing that is cited.
    """
    passages = trace.passages or ()
    if not citations.known and not any(passage.cited for passage in passages):
        return []
    cited: dict[tuple[int, ...], int | None] = {}
    for mention in citations.known:
        cited.setdefault(mention.passages, mention.claim)
    for position, passage in enumerate(passages):
        if passage.cited:
            cited.setdefault((position,), None)
    rules = _rules_of({position for positions in cited for position in positions}, passages, trace.ts)
    return [
        Finding(rule=rule, claim=claim, passage=positions[0], detail=passages[positions[0]].doc_id[:MAX_DETAIL_CHARS])
        for positions, claim in cited.items()
        if (rule := _common_rule(positions, rules)) is not None
    ]


def stale_rules(passages: Sequence[Passage], at: datetime) -> tuple[StructuralRule | None, ...]:
    """For each passage why it was out of date at ``at``, None where it was not.

    Archived, superseded, not yet in force, or a newer version of the document that is in force is among the passages.
    """
    rules = _rules_of(range(len(passages)), passages, at)
    return tuple(rules[position] for position in range(len(passages)))


def outdated_passages(passages: Sequence[Passage], at: datetime) -> frozenset[int]:
    """Indices of the passages that another version of their document, in force at ``at``, takes the place of."""
    newest = _newest_by_document(passages, at)
    return frozenset(
        position
        for position, passage in enumerate(passages)
        if any(
            is_newer(other, passage) or (other.version != passage.version and not _has_begun(passage, at))
            for other in newest.get(passage.doc_id, ())
        )
    )


def is_newer(other: Passage, passage: Passage) -> bool:
    """Whether ``other`` is a later version of the same document: by effective date, else by update, else by name."""
    if not passage.doc_id or other.doc_id != passage.doc_id or other.version == passage.version:
        return False
    if other.effective_from and passage.effective_from and other.effective_from != passage.effective_from:
        return other.effective_from > passage.effective_from
    if other.updated_at and passage.updated_at and other.updated_at != passage.updated_at:
        return other.updated_at > passage.updated_at
    return version_key(other.version) > version_key(passage.version)


@lru_cache(maxsize=4096)
def version_key(version: str) -> VersionKey:
    """Natural order: 2 before 10, numbers before words, an empty version first."""
    parts = _VERSION_PART.findall(version.lower())
    return tuple((0, int(part[:_MAX_DIGITS]), "") if part.isdecimal() else (1, 0, part) for part in parts)


def _rules_of(positions: Collection[int], passages: Sequence[Passage], at: datetime) -> _Rules:
    """The rules of some passages: only versions of their documents are compared."""
    asked = {position: passages[position] for position in positions if position < len(passages)}
    documents = {passage.doc_id for passage in asked.values()}
    newest = _newest_by_document([passage for passage in passages if passage.doc_id in documents], at)
    return {position: _rule(passage, newest.get(passage.doc_id, ()), at) for position, passage in asked.items()}


def _rule(passage: Passage, newest: Iterable[Passage], at: datetime) -> StructuralRule | None:
    if passage.archived:
        return StructuralRule.SOURCE_ARCHIVED
    if passage.superseded_by:
        return StructuralRule.SOURCE_SUPERSEDED
    if not _has_begun(passage, at):
        return StructuralRule.SOURCE_NOT_IN_FORCE
    is_outdated = any(is_newer(other, passage) for other in newest)
    return StructuralRule.SOURCE_OUTDATED if is_outdated else None


def _common_rule(positions: Sequence[int], rules: _Rules) -> StructuralRule | None:
    found = [rules.get(position) for position in positions]
    return found[0] if found and all(rule is not None for rule in found) else None


def _newest_by_document(passages: Sequence[Passage], at: datetime) -> dict[str, list[Passage]]:
    """For each document the latest of its passages in force: by effective date, by update, and by version name."""
    in_force: dict[str, list[Passage]] = {}
    for passage in passages:
        if passage.doc_id and not passage.archived and _has_begun(passage, at):
            in_force.setdefault(passage.doc_id, []).append(passage)
    return {doc_id: _latest(group) for doc_id, group in in_force.items()}


def _latest(group: Sequence[Passage]) -> list[Passage]:
    """Ties go on to the other two marks, so that the order of passages never decides."""
    if len(group) == 1:  # nearly always
        return list(group)

    def by_effect(passage: Passage) -> datetime:
        return passage.effective_from or _EVER

    def by_update(passage: Passage) -> datetime:
        return passage.updated_at or _EVER

    def by_name(passage: Passage) -> VersionKey:
        return version_key(passage.version)

    return [
        max(group, key=lambda passage: (by_effect(passage), by_update(passage), by_name(passage))),
        max(group, key=lambda passage: (by_update(passage), by_effect(passage), by_name(passage))),
        max(group, key=lambda passage: (by_name(passage), by_effect(passage), by_update(passage))),
    ]


def _has_begun(passage: Passage, at: datetime) -> bool:
    return passage.effective_from is None or passage.effective_from <= at
