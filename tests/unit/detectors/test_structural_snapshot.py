"""What a snapshot of the corpus tells a trace about its passages, as of the trace's time."""

from datetime import timedelta
from typing import Any

import pytest

from detectors.structural.snapshot import Snapshot, annotate
from schemas.document import DocumentVersion
from schemas.errors import ConfigError
from tests.builders import NOW, passage, trace

OLD, NEW, LATER = NOW - timedelta(days=90), NOW - timedelta(days=3), NOW + timedelta(days=1)


def document(version: str = "3", **fields: Any) -> DocumentVersion:
    """A version of the document of the default passage."""
    return DocumentVersion(**{"doc_id": "refunds", **fields, "version": version})


TOLD: list[tuple[list[DocumentVersion], dict[str, Any], dict[str, Any]]] = [
    ([document(archived=True)], {}, {"archived": True}),
    ([document(archived=True, archived_at=LATER)], {}, {}),
    ([document(archived_at=NOW)], {}, {"archived": True}),
    ([document(superseded_by="4")], {}, {"superseded_by": "4"}),
    ([document(superseded_by="4", superseded_at=LATER)], {}, {}),
    ([document(superseded_at=NEW)], {}, {"superseded_by": "(unnamed)"}),
    ([document(superseded_by="4")], {"superseded_by": "x"}, {}),
    ([document("3"), document("4")], {}, {"superseded_by": "4"}),
    ([document("3"), document("4", effective_from=LATER)], {}, {}),
    ([document("3"), document("4", updated_at=LATER)], {}, {}),
    ([document("3"), document("4", archived=True)], {}, {}),
    ([document("3"), document("10"), document("4")], {}, {"superseded_by": "10"}),
    ([document("4")], {}, {"superseded_by": "4"}),
    ([document("2")], {}, {}),
    ([document(effective_from=OLD, updated_at=NEW)], {}, {"effective_from": OLD, "updated_at": NEW}),
    ([document(effective_from=OLD)], {"effective_from": NEW}, {}),
    ([document(trust="untrusted", allowed_roles=("a",))], {}, {"trust": "untrusted", "allowed_roles": ("a",)}),
    ([document(trust="untrusted", allowed_roles=("a",))], {"trust": "trusted", "allowed_roles": ("b",)}, {}),
    ([document(first_seen_at=NEW)], {}, {"first_seen_at": NEW}),
    ([document("2", first_seen_at=OLD), document(first_seen_at=NEW)], {}, {"first_seen_at": OLD}),
    ([document("2", trust="untrusted", allowed_roles=("a",))], {}, {"trust": "untrusted", "allowed_roles": ("a",)}),
    ([document("2", effective_from=OLD), document(effective_from=NEW)], {"version": ""}, {"effective_from": NEW}),
    ([document("2", effective_from=OLD), document(effective_from=LATER)], {"version": ""}, {"effective_from": OLD}),
    ([document(archived=True)], {"version": ""}, {"archived": True}),
    ([document(archived=True)], {"doc_id": "other"}, {}),
    ([document(archived=True)], {"doc_id": ""}, {}),
    ([], {}, {}),
]


@pytest.mark.parametrize(("documents", "fields", "changes"), TOLD)
def test_a_passage_is_told_what_it_does_not_say(
    documents: list[DocumentVersion], fields: dict[str, Any], changes: dict[str, Any]
) -> None:
    """What it says wins; what happens after the answer is not known yet."""
    own = passage(**fields)
    seen = annotate(trace(passages=(own,)), Snapshot.of(documents))

    assert (own.model_copy(update=changes),) == seen.passages


def test_archived_or_superseded_is_enough_from_either() -> None:
    """A trace that says nothing about it does not deny it."""
    archived = passage(archived=True)

    assert trace(passages=(archived,)) == annotate(trace(passages=(archived,)), Snapshot.of([document()]))


def test_a_trace_without_news_stays_the_same_object() -> None:
    """Nothing is copied on the way of most traces."""
    plain, bare = trace(), trace(passages=None)

    assert plain is annotate(plain, Snapshot())
    assert plain is annotate(plain, Snapshot.of([document(doc_id="other")]))
    assert bare is annotate(bare, Snapshot.of([document(archived=True)]))


def test_a_version_is_found_by_id_and_version() -> None:
    """The one in force is the newest that has begun."""
    two, three = document("2"), document("3", effective_from=LATER)
    snapshot = Snapshot.of([three, two])

    assert (two, None, None) == (snapshot.find("refunds", "2"), snapshot.find("refunds"), snapshot.find("x", "2"))
    assert (two, three) == (snapshot.in_force("refunds", NOW), snapshot.in_force("refunds", LATER))
    assert snapshot.in_force("x", NOW) is None


def test_two_truths_about_a_version_are_refused() -> None:
    """The same line twice is fine."""
    assert Snapshot.of([document()]) == Snapshot.of([document(), document()])
    with pytest.raises(ConfigError, match="twice"):
        Snapshot.of([document(), document(archived=True)])
