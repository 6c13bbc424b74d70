"""What screening and verification do alike before a detector is asked: claims, critical marks, structural findings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter

from detectors.claims import mark_critical, split_claims, splitter_name
from detectors.structural import StructuralFindings, context_passages, examine, find_unreadable
from detectors.structural.citations import add_known_citations
from detectors.structural.readable import has_too_many_claims
from schemas.claim import CheckItem, Claim
from schemas.errors import ConfigError
from schemas.labels import Layer, Outcome
from schemas.policy import IntentRules, PolicyDocument
from schemas.trace import Trace

_NO_RULES = IntentRules()
SPLIT = "split"
"""The step of splitting, in ``timings_ms``."""
Clock = Callable[[], float]
"""Seconds from any origin."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A trace ready to be judged, or already settled by its structure."""

    trace: Trace
    claims: tuple[Claim, ...]
    findings: StructuralFindings
    splitter: str = ""
    """How the claims were made; empty when there was nothing to split."""
    timings_ms: Mapping[str, float] = field(default_factory=dict)

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


@dataclass(frozen=True, slots=True)
class Split:
    """Claims of an answer that are known already, and what made them."""

    claims: tuple[Claim, ...]
    splitter: str


def prepare(
    trace: Trace,
    policy: PolicyDocument,
    max_answer_bytes: int,
    known: Split | None = None,
    clock: Clock = perf_counter,
) -> Prepared:
    """Split (unless the claims are ``known``), mark and examine; an answer that breaks this is ``error:internal``.

    Raises ConfigError for a policy with a pattern that cannot run; the policy log lets none in.
    """
    try:
        return _prepare(trace, policy, max_answer_bytes, known, clock)
    except ConfigError:
        raise
    except Exception:  # noqa: BLE001 - text is hostile; whatever it breaks becomes an outcome, never a lost row
        return Prepared(trace, (), StructuralFindings(Outcome.ERROR_INTERNAL))


def rules_of(policy: PolicyDocument, intent: str) -> IntentRules:
    """The rules of an intent: its own, else those of ``*``, else none."""
    return policy.intents.get(intent) or policy.intents.get("*") or _NO_RULES


def _prepare(
    trace: Trace, policy: PolicyDocument, max_answer_bytes: int, known: Split | None, clock: Clock
) -> Prepared:
    rules = rules_of(policy, trace.intent)
    began = clock()
    split = known or _split(trace, policy, max_answer_bytes)
    was_split = clock()
    claims = split.claims
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
    timings = {Layer.L0.value: (clock() - was_split) * 1000}
    if known is None:
        timings = {SPLIT: (was_split - began) * 1000, **timings}
    is_too_long = findings.outcome is Outcome.ERROR_TOO_LONG
    return Prepared(trace, () if is_too_long else tuple(claims), findings, split.splitter, timings)


def _split(trace: Trace, policy: PolicyDocument, max_answer_bytes: int) -> Split:
    if find_unreadable(trace, max_answer_bytes) is not None:
        return Split((), "")
    return Split(split_claims(trace.answer or "", policy.claims.split), splitter_name(policy.claims.split))
