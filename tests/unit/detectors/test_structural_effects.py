"""What findings do to claims, how citations are scored, and how many findings are kept."""

import pytest

from detectors.structural.effects import (
    FINDINGS_PER_RULE,
    CitationScores,
    apply_findings,
    cap_findings,
    score_citations,
)
from schemas.finding import Finding, StructuralRule
from schemas.labels import ClaimLabel, Layer
from tests.builders import claim, claim_verdict

S, U, N = ClaimLabel.SUPPORTED, ClaimLabel.UNSUPPORTED, ClaimLabel.NOT_FACTUAL
MISMATCH = Finding(rule=StructuralRule.CITATION_MISMATCH, claim=0)
IRRELEVANT = Finding(rule=StructuralRule.CITATION_IRRELEVANT, claim=0, passage=1)
UNKNOWN = Finding(rule=StructuralRule.CITATION_UNKNOWN, claim=0, detail="9")
NO_PAGE = Finding(rule=StructuralRule.CITATION_URL_UNKNOWN, claim=0, detail="x.example")

SCORES: list[tuple[list[ClaimLabel], list[tuple[int, ...]], list[Finding], float | None, float | None]] = [
    ([S], [(0,)], [], 1.0, 1.0),
    ([S, S], [(0,), ()], [], 1.0, 0.5),
    ([S, U], [(0,), (1,)], [], 0.5, 1.0),
    ([S], [(0, 1)], [IRRELEVANT], 0.5, 1.0),
    ([S], [(1, 2)], [MISMATCH], 0.0, 0.0),
    ([S], [(0,)], [UNKNOWN, NO_PAGE], 1 / 3, 1.0),
    ([S], [()], [UNKNOWN], 0.0, 0.0),
    ([S], [()], [], None, 0.0),
    ([U], [()], [], None, None),
    ([S, N], [(), (0, 1)], [Finding(rule=StructuralRule.CITATION_FAR)], None, 0.0),
    ([], [], [], None, None),
]


@pytest.mark.parametrize(("labels", "cited", "findings", "precision", "recall"), SCORES)
def test_precision_counts_citations_and_recall_counts_claims(
    labels: list[ClaimLabel],
    cited: list[tuple[int, ...]],
    findings: list[Finding],
    precision: float | None,
    recall: float | None,
) -> None:
    """A cited passage that adds nothing costs precision, not recall; a list at the end counts in neither."""
    claims = [claim_verdict(label, claim=claim(index=index)) for index, label in enumerate(labels)]

    assert CitationScores(precision, recall) == score_citations(claims, findings, cited)


def test_a_finding_on_a_claim_decides_its_label_unless_it_is_worse() -> None:
    """Unsupported goes before unclear; contradicted stays."""
    quote = Finding(rule=StructuralRule.QUOTE_NOT_FOUND, claim=0, detail="no such words")
    short = Finding(rule=StructuralRule.QUOTE_TOO_SHORT, claim=0)

    (both,) = apply_findings([claim_verdict()], [short, quote])
    (kept,) = apply_findings([claim_verdict(ClaimLabel.CONTRADICTED)], [quote])
    (unclear,) = apply_findings([claim_verdict()], [short])

    assert (U, "quote_not_found: no such words", (Layer.L0, Layer.L1)) == (both.label, both.why, both.layers)
    assert (ClaimLabel.CONTRADICTED, ClaimLabel.UNCLEAR) == (kept.label, unclear.label)


def test_ten_thousand_findings_of_a_rule_become_a_few_and_a_number() -> None:
    """Other rules are not touched, and repeats do not count."""
    many = [Finding(rule=StructuralRule.CITATION_UNKNOWN, detail=str(number)) for number in range(10_000)]
    kept = cap_findings([*many, *many, MISMATCH])

    assert (*many[:FINDINGS_PER_RULE], MISMATCH) == kept[:-1]
    assert Finding(rule=StructuralRule.CITATION_UNKNOWN, detail="and 9,980 more") == kept[-1]
    assert tuple(many[:FINDINGS_PER_RULE]) == cap_findings(many[:FINDINGS_PER_RULE])


def test_findings_that_decide_labels_are_all_kept() -> None:
    """Each explains the label of a claim of its own."""
    quotes = [Finding(rule=StructuralRule.QUOTE_NOT_FOUND, claim=number) for number in range(50)]

    assert tuple(quotes) == cap_findings(quotes)
