"""Compares a verdict with what people expect of a fixture: exactly, save for what is left for a model or a judge."""

from collections.abc import Iterator, Sequence

from schemas.finding import Finding
from schemas.labels import ClaimLabel, FailureLabel, Outcome
from schemas.verdict import ClaimVerdict, Verdict
from tests.fixtures_traces import Expect, ExpectedClaim, ExpectedFinding

_BAD = frozenset({ClaimLabel.UNSUPPORTED, ClaimLabel.CONTRADICTED})
_TO_FOLLOW = frozenset(
    {FailureLabel.UNSUPPORTED_CLAIM, FailureLabel.CONTRADICTED_CLAIM, FailureLabel.CONFLICTING_SOURCES}
)
"""Failures that follow from labels of claims, and are left with them."""
_SCORE_MARGIN = 1e-9


def disagreements(expected: Expect, found: Verdict, answer: str) -> list[str]:
    """What the verdict has otherwise than people say; empty where all is as it should be."""
    return [
        *_spans(found.claims, answer),
        *_claims(expected, found.claims),
        *_findings(expected, found.findings),
        *_failures(expected, found.failures),
        *_outcome(expected, found),
        *_scores(expected, found),
    ]


def _spans(claims: Sequence[ClaimVerdict], answer: str) -> Iterator[str]:
    """Claims reproduce the answer, in order, without overlap."""
    position = 0
    for judged in claims:
        claim = judged.claim
        if answer[claim.start : claim.end] != claim.text or claim.start < position:
            yield f"claim {claim.index} is not where it says: {claim.text[:80]!r}"
        position = claim.end


def _claims(expected: Expect, found: Sequence[ClaimVerdict]) -> Iterator[str]:
    if expected.claims == "any":
        return
    texts = [judged.claim.text for judged in found]
    wanted = [claim.text for claim in expected.claim_list]
    if texts != wanted:
        yield f"claims {_short(texts)}, expected {_short(wanted)}"
        return
    for claim, judged in zip(expected.claim_list, found, strict=True):
        yield from (f"{claim.text[:60]!r}: {fault}" for fault in _claim(claim, judged))


def _claim(expected: ExpectedClaim, found: ClaimVerdict) -> Iterator[str]:
    if expected.fact and not found.claim.is_factual:
        yield "is not factual, expected a fact"
    if expected.other and (found.claim.is_factual or found.label is not ClaimLabel.NOT_FACTUAL):
        yield f"is a fact, {found.label.value}; expected that it states nothing"
    if expected.cites is not None and expected.cites != found.claim.citations:
        yield f"cites {found.claim.citations}, expected {expected.cites}"
    if found.claim.critical_rule != expected.critical:
        yield f"critical by {found.claim.critical_rule!r}, expected {expected.critical!r}"
    if expected.fact and expected.left_for is None and found.label is not expected.label:
        yield f"label {found.label.value}, expected {expected.label.value} ({found.why})"
    if expected.left_for is not None and found.error is not None:
        yield f"ends in {found.error.value}, expected some label"
    if expected.flagged and found.label is ClaimLabel.SUPPORTED:
        yield "is supported, expected that it does not pass"


def _findings(expected: Expect, found: Sequence[Finding]) -> Iterator[str]:
    kept = [finding for finding in found if finding.rule not in expected.left_findings]
    rules = sorted({finding.rule.value for finding in kept})
    wanted = sorted({finding.rule.value for finding in expected.findings})
    if rules != wanted:
        yield f"findings {rules}, expected {wanted}"
    for finding in expected.findings:
        if not any(_is_same(finding, other) for other in kept):
            yield f"no finding {finding.rule.value} for claim {finding.claim}, passage {finding.passage}"


def _is_same(expected: ExpectedFinding, found: Finding) -> bool:
    return (
        expected.rule is found.rule
        and expected.claim in {None, found.claim}
        and expected.passage in {None, found.passage}
    )


def _failures(expected: Expect, found: Sequence[FailureLabel]) -> Iterator[str]:
    has_left = any(claim.left_for for claim in expected.claim_list)
    passed_over = {*expected.left, *(_TO_FOLLOW if has_left else ())}
    named = sorted(failure.value for failure in {*found} - passed_over)
    wanted = sorted(failure.value for failure in {*expected.failures} - passed_over)
    if named != wanted:
        yield f"failures {named}, expected {wanted}"


def _outcome(expected: Expect, found: Verdict) -> Iterator[str]:
    has_left = any(claim.left_for for claim in expected.claim_list)
    wanted = _from_labels(found.claims) if has_left else expected.outcome
    if found.outcome is not wanted:
        yield f"outcome {found.outcome.value}, expected {wanted.value}"
    if expected.containment is not None and not has_left and found.containment is not expected.containment:
        yield f"containment {found.containment.value}, expected {expected.containment.value}"


def _from_labels(claims: Sequence[ClaimVerdict]) -> Outcome:
    """The outcome by the labels that were found: hallucinated before unclear before grounded."""
    labels = {judged.label for judged in claims}
    if labels & _BAD:
        return Outcome.HALLUCINATED
    if ClaimLabel.UNCLEAR in labels:
        return Outcome.UNCLEAR
    return Outcome.GROUNDED if ClaimLabel.SUPPORTED in labels else Outcome.NO_CLAIMS


def _scores(expected: Expect, found: Verdict) -> Iterator[str]:
    stated = expected.model_fields_set
    if "precision" in stated and not _is_near(expected.precision, found.citation_precision):
        yield f"citation precision {found.citation_precision}, expected {expected.precision}"
    if "recall" in stated and not _is_near(expected.recall, found.citation_recall):
        yield f"citation recall {found.citation_recall}, expected {expected.recall}"
    if found.outcome.is_error and found.score is not None:
        yield f"an error has the score {found.score}"


def _is_near(expected: float | None, found: float | None) -> bool:
    if expected is None or found is None:
        return expected is found
    return abs(expected - found) < _SCORE_MARGIN


def _short(texts: Sequence[str]) -> str:
    return f"{len(texts)}: {[text[:70] for text in texts[:12]]}"
