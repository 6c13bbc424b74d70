"""When a passage was out of date, and which cited ones were."""

from datetime import timedelta
from typing import Any

import pytest

from detectors.claims import split_claims
from detectors.structural.citations import resolve_citations
from detectors.structural.staleness import outdated_passages, stale_findings, stale_rules
from schemas.finding import Finding, StructuralRule
from schemas.trace import Passage
from tests.builders import NOW, passage, trace

OLD, NEW, LATER = NOW - timedelta(days=90), NOW - timedelta(days=3), NOW + timedelta(days=1)
ARCHIVED, SUPERSEDED = StructuralRule.SOURCE_ARCHIVED, StructuralRule.SOURCE_SUPERSEDED
OUTDATED, NOT_IN_FORCE = StructuralRule.SOURCE_OUTDATED, StructuralRule.SOURCE_NOT_IN_FORCE

RULES: list[tuple[list[dict[str, Any]], list[StructuralRule | None]]] = [
    ([{"archived": True, "superseded_by": "x"}], [ARCHIVED]),
    ([{"superseded_by": "refunds-2", "effective_from": LATER}], [SUPERSEDED]),
    ([{"effective_from": LATER}], [NOT_IN_FORCE]),
    ([{"effective_from": NOW}], [None]),
    ([{"version": "2"}, {"version": "10"}], [OUTDATED, None]),
    ([{"version": "2"}, {"version": "10", "effective_from": LATER}], [None, NOT_IN_FORCE]),
    ([{"version": "2"}, {"version": "10", "archived": True}], [None, ARCHIVED]),
    ([{"version": "b", "updated_at": OLD}, {"version": "a", "updated_at": NEW}], [OUTDATED, None]),
    ([{"version": "b", "effective_from": OLD}, {"version": "a", "effective_from": NEW}], [OUTDATED, None]),
    ([{"version": "1"}, {"version": "2"}, {"version": "3", "updated_at": NEW}], [OUTDATED, OUTDATED, None]),
    ([{"version": "1"}, {"doc_id": "other", "version": "2"}], [None, None]),
    ([{"version": "1"}, {"version": "1", "chunk_id": "2"}], [None, None]),
    ([{"doc_id": "", "version": "1"}, {"doc_id": "", "version": "2"}], [None, None]),
    ([], []),
]


@pytest.mark.parametrize(("fields", "expected"), RULES)
def test_each_passage_has_its_reason(fields: list[dict[str, Any]], expected: list[StructuralRule | None]) -> None:
    """Archived before superseded before not yet in force before outdated."""
    passages = [passage(**own) for own in fields]

    assert tuple(expected) == stale_rules(passages, NOW)
    assert tuple(reversed(expected)) == stale_rules(list(reversed(passages)), NOW)


def test_a_version_not_yet_in_force_gives_way_to_the_one_that_is() -> None:
    """When the newest decides, both older and future versions are left out."""
    old, current, future = passage(version="1"), passage(version="2"), passage(version="3", effective_from=LATER)

    assert {0, 2} == outdated_passages([old, current, future], NOW)
    assert frozenset() == outdated_passages([future], NOW)


def findings(answer: str, passages: tuple[Passage, ...]) -> list[Finding]:
    """What is stale among what the answer cites."""
    seen, claims = trace(answer=answer, passages=passages), split_claims(answer)
    return stale_findings(seen, resolve_citations(claims, passages, answer))


VERSIONS = (passage(version="1", chunk_id="refunds@1#1"), passage(version="2", chunk_id="refunds@2#1"))


def test_a_document_id_means_its_version_in_force() -> None:
    """Citing the document is fine, citing its old version is not; the claim is named."""
    assert [] == findings("It is free (refunds).", VERSIONS)
    assert [Finding(rule=OUTDATED, claim=1, passage=0, detail="refunds")] == findings(
        "Well then. It is free [refunds@1].".replace("Well then", "It is fast"), VERSIONS
    )


def test_what_the_producer_marks_counts_and_what_nobody_cites_does_not() -> None:
    """The same passage gives one finding, however often it is cited."""
    stale = passage(archived=True)

    assert [] == findings("It is free.", (stale,))
    assert [Finding(rule=ARCHIVED, passage=0, detail="refunds")] == findings(
        "It is free.", (passage(archived=True, cited=True),)
    )
    assert 1 == len(findings("It is free [1]. It is fast [1] (refunds).", (passage(archived=True, cited=True),)))


def test_thousands_of_versions_of_one_document_are_compared_with_the_newest_only() -> None:
    """Ten thousand passages of one document: pairs would run into the time limit of a test."""
    passages = [passage(version=str(number)) for number in range(10_000)]

    assert 9_999 == sum(rule is OUTDATED for rule in stale_rules(passages, NOW))
