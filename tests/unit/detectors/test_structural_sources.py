"""Documents that an answer may not use, and documents that it should not rest on alone."""

from datetime import timedelta
from typing import Any

import pytest

from detectors.claims import split_claims
from detectors.structural.citations import resolve_citations
from detectors.structural.sources import rests_on, source_findings, trust_rules
from schemas.finding import Finding, StructuralRule
from schemas.labels import ClaimLabel
from schemas.sources import RestrictedSource, SourceRules, TrustedSource
from schemas.trace import Passage, ToolCall
from tests.builders import NOW, claim, claim_verdict, evidence, passage, trace

UNTRUSTED, FIRST_SEEN = StructuralRule.SOURCE_UNTRUSTED, StructuralRule.SOURCE_FIRST_SEEN
FORBIDDEN = StructuralRule.SOURCE_FORBIDDEN
NOTHING = SourceRules()
WEEK = SourceRules(first_seen_days=7)
WIKI = SourceRules(trust=(TrustedSource(name="wiki", documents="^wiki/", trust="untrusted"),))
OWN = SourceRules(
    first_seen_days=7, trust=(TrustedSource(name="own", documents=r"\bOWN\b", trust="trusted"), *WIKI.trust)
)


def findings(
    answer: str = "It is free [1].", rules: SourceRules = NOTHING, *, is_asserting: bool = True, **fields: Any
) -> list[Finding]:
    """The findings on the sources of an answer."""
    seen, claims = trace(answer=answer, **fields), split_claims(answer)
    citations = resolve_citations(claims, seen.passages or (), answer)
    return source_findings(seen, claims, citations, rules, is_asserting=is_asserting)


def restricted(**fields: Any) -> SourceRules:
    """One rule about documents whose id begins with ``hr-``."""
    return SourceRules(restricted=(RestrictedSource(name="hr", documents="^hr-", **fields),))


@pytest.mark.parametrize(
    ("rules", "fields", "expected"),
    [
        (NOTHING, {}, ""),
        (NOTHING, {"passage": {"allowed_roles": ("agent", "lead")}, "roles": ("lead",)}, ""),
        (
            NOTHING,
            {"passage": {"allowed_roles": ("agent",)}, "roles": ("guest",)},
            "in the context, allowed roles: hr-1",
        ),
        (NOTHING, {"passage": {"allowed_roles": ("agent",)}}, "in the context, allowed roles: hr-1"),
        (NOTHING, {"passage": {"allowed_roles": ("agent",), "cited": True}}, "cited, allowed roles: hr-1"),
        (restricted(), {}, "in the context, rule hr: hr-1"),
        (restricted(tenants=("acme",)), {}, ""),
        (restricted(tenants=("other",)), {}, "in the context, rule hr: hr-1"),
        (restricted(roles=("hr",)), {"roles": ("hr",)}, ""),
        (restricted(roles=("hr",)), {}, "in the context, rule hr: hr-1"),
        (restricted(tenants=("acme",), roles=("hr",)), {"roles": ("hr",)}, ""),
        (restricted(tenants=("acme",), roles=("hr",)), {"roles": ("guest",)}, "in the context, rule hr: hr-1"),
        (restricted(tenants=("other",), roles=("hr",)), {"roles": ("hr",)}, "in the context, rule hr: hr-1"),
        (restricted(), {"passage": {"doc_id": "kb-1"}}, ""),
        (restricted(), {"passage": {"doc_id": "HR-1"}}, "in the context, rule hr: HR-1"),
    ],
)
def test_a_forbidden_document_counts_cited_or_not(rules: SourceRules, fields: dict[str, Any], expected: str) -> None:
    """A refusal is no excuse; a trace without roles may see nothing that is for certain roles only."""
    own = passage(**{"doc_id": "hr-1", **fields.pop("passage", {})})
    seen = findings("I don't know.", rules, is_asserting=False, passages=(passage(), own), **fields)

    assert ([Finding(rule=FORBIDDEN, passage=1, detail=expected)] if expected else []) == seen


def test_a_citation_of_a_forbidden_document_is_told() -> None:
    """Whoever looks at it must see whether it reached the user."""
    assert ["cited, rule hr: hr-1"] == [
        one.detail for one in findings("It is free [hr-1].", restricted(), passages=(passage(doc_id="hr-1"),))
    ]


@pytest.mark.parametrize(
    ("rules", "fields", "expected"),
    [
        (NOTHING, {}, None),
        (NOTHING, {"trust": "untrusted"}, UNTRUSTED),
        (NOTHING, {"first_seen_at": NOW}, None),
        (WEEK, {"first_seen_at": NOW - timedelta(days=6)}, FIRST_SEEN),
        (WEEK, {"first_seen_at": NOW + timedelta(days=1)}, FIRST_SEEN),
        (WEEK, {"first_seen_at": NOW - timedelta(days=7)}, None),
        (WEEK, {"first_seen_at": NOW, "trust": "trusted"}, FIRST_SEEN),
        (WEEK, {}, None),
        (WIKI, {"doc_id": "wiki/x", "trust": "trusted"}, UNTRUSTED),
        (WIKI, {"doc_id": "kb/wiki/x"}, None),
        (OWN, {"doc_id": "wiki/own", "trust": "untrusted", "first_seen_at": NOW}, None),
    ],
)
def test_the_policy_decides_on_trust_before_the_trace(
    rules: SourceRules, fields: dict[str, Any], expected: StructuralRule | None
) -> None:
    """The first rule that matches counts; what it calls trusted may be new."""
    assert (expected,) == tuple(trust_rules((passage(**fields),), NOW, rules))


BAD, GOOD = passage(doc_id="wiki/x", trust="untrusted"), passage()
RESTING: list[tuple[str, tuple[Passage, ...], list[tuple[int | None, int | None]]]] = [
    ("It is free [1].", (BAD, GOOD), [(0, 0)]),
    ("It is free [2].", (BAD, GOOD), []),
    ("It is free [1][2].", (BAD, GOOD), []),
    ("It is free [1]. It is fast [2].", (BAD, GOOD), [(0, 0)]),
    ("It is free.", (BAD, GOOD), []),
    ("It is free.", (BAD, BAD), [(None, 0)]),
    ("It is free.", (passage(doc_id="wiki/x", trust="untrusted", cited=True), GOOD), [(None, 0)]),
    ("It is free.\n\nSources: [1]", (BAD, GOOD), [(None, 0)]),
    ("It is free.", (), []),
]


@pytest.mark.parametrize(("answer", "passages", "expected"), RESTING)
def test_claims_rest_on_what_they_cite_and_answers_on_the_rest(
    answer: str, passages: tuple[Passage, ...], expected: list[tuple[int | None, int | None]]
) -> None:
    """One trusted passage is enough."""
    seen = findings(answer, passages=passages)

    assert expected == [(one.claim, one.passage) for one in seen]
    assert all(one.rule is UNTRUSTED for one in seen)
    assert [] == findings(answer, passages=passages, is_asserting=False)


def test_a_tool_result_stands_beside_untrusted_passages() -> None:
    """Nothing says that the answer does not rest on it."""
    assert [] == findings("It is free.", passages=(BAD,), tool_calls=(ToolCall(name="t", output="It is free."),))


TEXT = "A refund is possible within 30 days of delivery."


@pytest.mark.parametrize(
    ("passages", "expected"),
    [
        ((BAD,), [UNTRUSTED]),
        ((BAD, GOOD), []),
        ((BAD, passage("A REFUND is possible\nwithin 30 days  of delivery. More.")), []),
        ((BAD, passage("Other text.")), [UNTRUSTED]),
        ((passage(archived=True, trust="untrusted"), passage(trust="untrusted")), [UNTRUSTED]),
        ((passage(archived=True, trust="untrusted"),), [StructuralRule.SOURCE_ARCHIVED, UNTRUSTED]),
        ((GOOD, BAD), []),
        ((), []),
    ],
)
def test_a_supported_claim_rests_on_its_evidence(passages: tuple[Passage, ...], expected: list[StructuralRule]) -> None:
    """Unless a passage without that fault says the same."""
    judged = claim_verdict(evidence=evidence(TEXT, doc_id="d"), claim=claim(index=4))
    seen = rests_on([judged], passages, NOW, NOTHING)

    assert [(rule, 4, 0, "d") for rule in expected] == [(one.rule, one.claim, one.passage, one.detail) for one in seen]


def test_only_supported_claims_rest_on_anything() -> None:
    """A contradicted claim does not rest on what contradicts it."""
    judged = [claim_verdict(label) for label in ClaimLabel if label is not ClaimLabel.SUPPORTED]

    assert [] == rests_on([*judged, claim_verdict(evidence=None)], (BAD,), NOW, NOTHING)
