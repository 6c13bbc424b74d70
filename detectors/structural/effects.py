"""What findings do to claims, and what they say about the citations of an answer; pure, after judging."""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.finding import Finding, StructuralRule
from schemas.labels import ClaimLabel, Layer
from schemas.verdict import ClaimVerdict

_KEPT = frozenset({ClaimLabel.CONTRADICTED, ClaimLabel.NOT_FACTUAL})
_UNKNOWN = frozenset({StructuralRule.CITATION_UNKNOWN, StructuralRule.CITATION_URL_UNKNOWN})


@dataclass(frozen=True, slots=True)
class CitationScores:
    """Shares in [0, 1], None where there is nothing to divide by."""

    precision: float | None = None
    recall: float | None = None


def apply_findings(claims: Sequence[ClaimVerdict], findings: Sequence[Finding]) -> tuple[ClaimVerdict, ...]:
    """The claims with the labels that findings alone decide: ``unsupported`` before ``unclear``.

    A contradicted claim stays so, and ``unclear`` only takes the place of ``supported``. Scores stay as they were.
    """
    by_claim: dict[int, list[Finding]] = {}
    for finding in findings:
        if finding.claim is not None and finding.rule.claim_label is not None:
            by_claim.setdefault(finding.claim, []).append(finding)
    return tuple(_with_finding(judged, by_claim.get(judged.claim.index, [])) for judged in claims)


def _with_finding(judged: ClaimVerdict, findings: Sequence[Finding]) -> ClaimVerdict:
    ordered = sorted(findings, key=lambda finding: finding.rule.claim_label is not ClaimLabel.UNSUPPORTED)
    if not ordered or judged.label in _KEPT:
        return judged
    first = ordered[0]
    label = first.rule.claim_label or judged.label
    if label is ClaimLabel.UNCLEAR and judged.label is not ClaimLabel.SUPPORTED:
        return judged
    layers = judged.layers if Layer.L0 in judged.layers else (Layer.L0, *judged.layers)
    changes = {"label": label, "why": f"{first.rule.value}: {first.detail}", "layers": layers, "error": None}
    return judged.model_copy(update=changes)


def score_citations(
    claims: Sequence[ClaimVerdict], findings: Sequence[Finding], cited: Sequence[Sequence[int]]
) -> CitationScores:
    """Citation precision and recall of an answer, as in ALCE (Gao et al. 2023), by claim.

    A claim's citations are good when the claim is supported and no finding says that they do not support it. Precision:
    good citations over all that were written, unknown ids included. Recall: supported claims with good citations over
    all supported claims. ``cited`` holds, per claim, the passages that it cites.
    """
    mismatched = {finding.claim for finding in findings if finding.rule is StructuralRule.CITATION_MISMATCH}
    unknown = sum(finding.rule in _UNKNOWN for finding in findings)
    written = good = supported = well_cited = 0
    for judged, passages in zip(claims, cited, strict=False):
        is_good = judged.label is ClaimLabel.SUPPORTED and judged.claim.index not in mismatched
        written += len(passages)
        good += len(passages) if is_good else 0
        supported += judged.label is ClaimLabel.SUPPORTED
        well_cited += is_good and bool(passages)
    return CitationScores(
        precision=good / (written + unknown) if written + unknown else None,
        recall=well_cited / supported if supported else None,
    )
