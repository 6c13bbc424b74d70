"""Whether an answer may use the documents that it rests on: who may see them, and how far they are trusted.

Unknown trust passes: only what a policy or a trace calls untrusted, or what is quite new, counts against an answer.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from detectors.structural.citations import Citations
from detectors.structural.staleness import stale_rules
from schemas.claim import Claim
from schemas.finding import MAX_DETAIL_CHARS, Finding, StructuralRule
from schemas.labels import ClaimLabel
from schemas.patterns import compile_pattern
from schemas.sources import RestrictedSource, SourceRules
from schemas.trace import Passage, Trace
from schemas.verdict import ClaimVerdict, Evidence

Rules = Sequence[StructuralRule | None]


def source_findings(
    trace: Trace, claims: Sequence[Claim], citations: Citations, rules: SourceRules, *, is_asserting: bool
) -> list[Finding]:
    """Forbidden documents in the context, cited or not; and, of an answer that asserts, claims on untrusted ones alone.

    Where no claim cites anything, the passages that the producer marks as cited count for the answer, else all of them.
    Raises ConfigError for a pattern that ``policy apply`` would have refused.
    """
    found = _forbidden(trace, citations, rules)
    return found + (_untrusted(trace, claims, citations, rules) if is_asserting else [])


def rests_on(
    claims: Sequence[ClaimVerdict], passages: Sequence[Passage], at: datetime, rules: SourceRules
) -> list[Finding]:
    """Supported claims that a stale passage alone, or an untrusted one alone, supports.

    Alone means that no passage without that fault holds the deciding text (white space and case aside).
    """
    by_kind = (stale_rules(passages, at), trust_rules(passages, at, rules))
    plain: list[str] = []
    found: list[Finding] = []
    for judged in claims:
        evidence = judged.evidence
        if evidence is None or judged.label is not ClaimLabel.SUPPORTED or evidence.passage >= len(passages):
            continue
        for faults in by_kind:
            rule = faults[evidence.passage]
            if rule is not None:
                plain = plain or [_plain(passage.text) for passage in passages]
                found += _alone(judged.claim.index, evidence, rule, faults, plain)
    return found


def unfit_passages(trace: Trace, rules: SourceRules) -> frozenset[int]:
    """Positions of the passages that nobody should be sent to read: forbidden here, stale, or not trusted.

    Raises ConfigError for a pattern that ``policy apply`` would have refused.
    """
    passages = trace.passages or ()
    by_kind = (stale_rules(passages, trace.ts), trust_rules(passages, trace.ts, rules))
    return frozenset(
        position
        for position, passage in enumerate(passages)
        if any(faults[position] for faults in by_kind) or _forbidden_reason(passage, trace, rules)
    )


def trust_rules(passages: Sequence[Passage], at: datetime, rules: SourceRules) -> Rules:
    """For each passage why it is not trusted, None where it is or nothing is known.

    The first rule of the policy that matches the document id decides; a document that it calls trusted may be new.
    """
    return tuple(_trust_rule(passage, at, rules) for passage in passages)


def _alone(claim: int, evidence: Evidence, rule: StructuralRule, faults: Rules, plain: Sequence[str]) -> list[Finding]:
    wanted = _plain(evidence.text)
    if any(fault is None and wanted in text for fault, text in zip(faults, plain, strict=True)):
        return []
    return [Finding(rule=rule, claim=claim, passage=evidence.passage, detail=evidence.doc_id[:MAX_DETAIL_CHARS])]


def _forbidden(trace: Trace, citations: Citations, rules: SourceRules) -> list[Finding]:
    passages = trace.passages or ()
    cited = {position for positions in citations.by_claim for position in positions}
    found = []
    for position, passage in enumerate(passages):
        reason = _forbidden_reason(passage, trace, rules)
        if reason:
            where = "cited" if position in cited or passage.cited else "in the context"
            detail = f"{where}, {reason}: {passage.doc_id}"[:MAX_DETAIL_CHARS]
            found.append(Finding(rule=StructuralRule.SOURCE_FORBIDDEN, passage=position, detail=detail))
    return found


def _forbidden_reason(passage: Passage, trace: Trace, rules: SourceRules) -> str:
    """Why this trace may not use the passage, empty when it may.

    Fails closed: a passage for certain roles is forbidden for a trace that names no role.
    """
    if passage.allowed_roles and not set(passage.allowed_roles).intersection(trace.roles):
        return "allowed roles"
    broken = (rule for rule in rules.restricted if _restricts(rule, passage, trace))
    return next((f"rule {rule.name}" for rule in broken), "")


def _restricts(rule: RestrictedSource, passage: Passage, trace: Trace) -> bool:
    if not compile_pattern(rule.documents).is_in(passage.doc_id):
        return False
    is_allowed_tenant = not rule.tenants or trace.tenant in rule.tenants
    is_allowed_role = not rule.roles or not set(rule.roles).isdisjoint(trace.roles)
    has_exception = bool(rule.tenants or rule.roles)
    return not (has_exception and is_allowed_tenant and is_allowed_role)


def _untrusted(trace: Trace, claims: Sequence[Claim], citations: Citations, rules: SourceRules) -> list[Finding]:
    passages = trace.passages or ()
    faults = trust_rules(passages, trace.ts, rules)
    if not any(faults):
        return []
    cites = [
        (claim.index, positions)
        for claim, positions in zip(claims, citations.by_claim, strict=False)
        if claim.is_factual and positions
    ]
    if cites:
        return [
            _from_untrusted(faults, positions, claim, passages) for claim, positions in cites if _all(faults, positions)
        ]
    listed = {position for positions in citations.by_claim for position in positions}
    marked = listed or {position for position, passage in enumerate(passages) if passage.cited}
    positions = tuple(sorted(marked)) or tuple(range(len(passages)))
    is_from_tool = not marked and any(call.output for call in trace.tool_calls)
    if is_from_tool or not _all(faults, positions):
        return []
    return [_from_untrusted(faults, positions, None, passages)]


def _all(faults: Rules, positions: Sequence[int]) -> bool:
    return all(position < len(faults) and faults[position] is not None for position in positions)


def _from_untrusted(faults: Rules, positions: Sequence[int], claim: int | None, passages: Sequence[Passage]) -> Finding:
    first = positions[0]
    rule = faults[first] or StructuralRule.SOURCE_UNTRUSTED
    return Finding(rule=rule, claim=claim, passage=first, detail=passages[first].doc_id[:MAX_DETAIL_CHARS])


def _trust_rule(passage: Passage, at: datetime, rules: SourceRules) -> StructuralRule | None:
    stated = (rule.trust for rule in rules.trust if compile_pattern(rule.documents).is_in(passage.doc_id))
    by_policy = next(stated, None)
    if by_policy == "trusted":
        return None
    if (by_policy or passage.trust) == "untrusted":
        return StructuralRule.SOURCE_UNTRUSTED
    days, first_seen = rules.first_seen_days, passage.first_seen_at
    is_new = days is not None and first_seen is not None and at - first_seen < timedelta(days=days)
    return StructuralRule.SOURCE_FIRST_SEEN if is_new else None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
