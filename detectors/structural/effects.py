"""What findings do to claims, and what they say about the citations of an answer; pure, after judging."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schemas.finding import Finding, StructuralRule
from schemas.labels import ClaimLabel, Layer
from schemas.verdict import ClaimVerdict

_KEPT = frozenset({ClaimLabel.CONTRADICTED, ClaimLabel.NOT_FACTUAL})
FINDINGS_PER_RULE = 20
"""So many findings of one rule say enough about an answer; ten thousand bad citations must not make as many rows."""
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
    changes = {
        "label": label,
        "why": f"{first.rule.value}: {first.detail}",
        "layers": layers,
        "decided_by": Layer.L0,
        "confidence": None,
        "error": None,
    }
    return judged.model_copy(update=changes)


def score_citations(
    claims: Sequence[ClaimVerdict], findings: Sequence[Finding], cited: Sequence[Sequence[int]]
) -> CitationScores:
    """Citation precision and recall of an answer, as in ALCE (Gao et al. 2023), by claim.

    Precision: citations that hold, over all that claims make, unknown ids included. A citation holds when its claim is
    supported, the passages that the claim cites support it together, and this one is not irrelevant among them.
    Recall: supported claims whose citations support them, over all supported claims. A list of sources that no claim
    refers to counts in neither. ``cited`` holds, per claim, the passages that it cites; ``findings`` are all of them.
    """
    mismatched = {finding.claim for finding in findings if finding.rule is StructuralRule.CITATION_MISMATCH}
    irrelevant = Counter(finding.claim for finding in findings if finding.rule is StructuralRule.CITATION_IRRELEVANT)
    written = sum(finding.rule in _UNKNOWN for finding in findings)
    good = supported = well_cited = 0
    for judged, passages in zip(claims, cited, strict=False):
        if judged.label is ClaimLabel.NOT_FACTUAL:
            continue
        is_supported = judged.label is ClaimLabel.SUPPORTED
        holding = len(passages) - irrelevant[judged.claim.index] if is_supported else 0
        is_good = holding > 0 and judged.claim.index not in mismatched
        written += len(passages)
        good += holding if is_good else 0
        supported += is_supported
        well_cited += is_good
    return CitationScores(
        precision=good / written if written else None,
        recall=well_cited / supported if supported else None,
    )


def cap_findings(findings: Iterable[Finding], limit: int = FINDINGS_PER_RULE) -> tuple[Finding, ...]:
    """The findings without repeats, at most ``limit`` of a rule and one more that says how many are left out.

    Rules that decide a claim's label are kept whole: there is one claim for each.
    """
    kept: list[Finding] = []
    counts: Counter[StructuralRule] = Counter()
    for finding in dict.fromkeys(findings):
        counts[finding.rule] += 1
        if finding.rule.claim_label is not None or counts[finding.rule] <= limit:
            kept.append(finding)
    cut = [rule for rule, count in counts.items() if count > limit and rule.claim_label is None]
    return (*kept, *(Finding(rule=rule, detail=f"and {counts[rule] - limit:,} more") for rule in cut))
