"""What screening and verification do alike before a detector is asked: claims, critical marks, structural findings."""

from collections.abc import Sequence
from dataclasses import dataclass

from detectors.claims import mark_critical, split_claims
from detectors.structural import StructuralFindings, context_passages, examine, find_unreadable
from detectors.structural.citations import add_known_citations
from detectors.structural.readable import has_too_many_claims
from schemas.claim import CheckItem, Claim
from schemas.errors import ConfigError
from schemas.labels import Outcome
from schemas.policy import IntentRules, PolicyDocument
from schemas.trace import Trace

_NO_RULES = IntentRules()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A trace ready to be judged, or already settled by its structure."""

    trace: Trace
    claims: tuple[Claim, ...]
    findings: StructuralFindings

    @property
    def needs_judging(self) -> bool:
        """True when the structure did not settle the outcome."""
        return self.findings.outcome is None

    def to_item(self) -> CheckItem:
        """What a detector is given: the claims, and all that the model could have known."""
        return CheckItem(
            question=self.trace.question,
            passages=context_passages(self.trace),
            answer=self.trace.answer or "",
            claims=self.claims,
        )


def prepare(
    trace: Trace, policy: PolicyDocument, max_answer_bytes: int, claims: Sequence[Claim] | None = None
) -> Prepared:
    """Split (unless ``claims`` are given), mark and examine; an answer that breaks this is ``error:internal``.

    Raises ConfigError for a policy with a pattern that cannot run; the policy log lets none in.
    """
    try:
        return _prepare(trace, policy, max_answer_bytes, claims)
    except ConfigError:
        raise
    except Exception:  # noqa: BLE001 - text is hostile; whatever it breaks becomes an outcome, never a lost row
        return Prepared(trace, (), StructuralFindings(Outcome.ERROR_INTERNAL))


def rules_of(policy: PolicyDocument, intent: str) -> IntentRules:
    """The rules of an intent: its own, else those of ``*``, else none."""
    return policy.intents.get(intent) or policy.intents.get("*") or _NO_RULES


def _prepare(trace: Trace, policy: PolicyDocument, max_answer_bytes: int, claims: Sequence[Claim] | None) -> Prepared:
    rules = rules_of(policy, trace.intent)
    if claims is None:
        is_readable = find_unreadable(trace, max_answer_bytes) is None
        claims = split_claims(trace.answer or "") if is_readable else ()
    if not has_too_many_claims(trace, len(claims)):
        named = add_known_citations(claims, context_passages(trace))
        claims = mark_critical(named, rules.critical, trace.intent, trace.tier)
    findings = examine(
        trace,
        claims,
        citations_required=rules.citations_required,
        sources=policy.sources,
        canaries=policy.canaries,
        max_answer_bytes=max_answer_bytes,
    )
    is_too_long = findings.outcome is Outcome.ERROR_TOO_LONG
    return Prepared(trace, () if is_too_long else tuple(claims), findings)
