"""Answers with their claims: each claim beside the sentence of the passage that decided it."""

from collections.abc import Sequence
from dataclasses import dataclass

from dashboards.views.hops import HopView, hop_views
from dashboards.views.layers import LayerView, layer_views
from dashboards.views.spans import MarkedText, Span, mark
from schemas.claim import ClaimSource
from schemas.draw import Draw, Screening
from schemas.finding import StructuralRule
from schemas.labels import ClaimLabel
from schemas.policy import PolicyRecord
from schemas.trace import Passage, Trace, passage_hash
from schemas.verdict import ClaimVerdict, Evidence, Verdict
from streams.store.records import FlaggedAnswer, StoredTrace

LIST_CHARACTERS = 4_000
PAGE_CHARACTERS = 40_000
CONTEXT_CHARACTERS = 160
_KINDS = {
    ClaimSource.DOCUMENT: "passage",
    ClaimSource.TOOL: "tool output",
    ClaimSource.MEMORY: "text",
    ClaimSource.USER: "text of the user",
}
BAD = (ClaimLabel.CONTRADICTED, ClaimLabel.UNSUPPORTED)
_ORDER = (*BAD, ClaimLabel.UNCLEAR, ClaimLabel.SUPPORTED, ClaimLabel.NOT_FACTUAL)


@dataclass(frozen=True, slots=True)
class EvidenceView:
    """The deciding span inside its passage, with a little of the text around it."""

    before: str
    text: str
    after: str
    doc_id: str
    version: str
    passage: int


@dataclass(frozen=True, slots=True)
class ClaimView:
    """A claim as the page numbers it, from one."""

    number: int
    verdict: ClaimVerdict
    evidence: EvidenceView | None

    @property
    def is_bad(self) -> bool:
        """True for the labels that make an answer hallucinated."""
        return self.verdict.label in BAD


@dataclass(frozen=True, slots=True)
class PassageView:
    """A passage with the spans that decided claims."""

    number: int
    passage: Passage
    text: MarkedText


@dataclass(frozen=True, slots=True)
class AnswerView:
    """A trace's answer with its claims; ``claims`` has the worst first, the answer's marks carry the same numbers."""

    trace: Trace
    draw: Draw
    verdict: Verdict | None
    answer: MarkedText
    claims: tuple[ClaimView, ...]

    @property
    def bad_claims(self) -> tuple[ClaimView, ...]:
        """Claims that are contradicted or unsupported."""
        return tuple(claim for claim in self.claims if claim.is_bad)


@dataclass(frozen=True, slots=True)
class PolicyView:
    """A policy or overlay that held at the trace's event time, as far as the store's copy of the log knows it."""

    policy_id: str
    record: PolicyRecord | None

    @property
    def name(self) -> str:
        """What people call it: the policy's name, or why shares were changed for a while; empty when unknown."""
        document, overlay = (self.record.document, self.record.overlay) if self.record else (None, None)
        return document.name if document else overlay.reason.value if overlay else ""


@dataclass(frozen=True, slots=True)
class TracePage:
    """One stored trace: what was asked, seen and answered, how it was drawn and what every detector concluded."""

    answer: AnswerView
    passages: tuple[PassageView, ...]
    screening: Screening
    other_verdicts: tuple[Verdict, ...]
    policies: tuple[PolicyView, ...] = ()
    """The policy that held, then the overlays on it."""

    @property
    def is_judged_answer(self) -> bool:
        """Whether the stored answer is, sign by sign, the one that was judged."""
        verdict = self.answer.verdict
        return verdict is not None and verdict.answer_hash == passage_hash(self.answer.trace.answer or "")

    @property
    def judged_against(self) -> str:
        """How many texts of each kind the claims were held against, and how long they are."""
        seen = self.answer.verdict.seen if self.answer.verdict else ()
        counts = [(count, _KINDS[kind]) for kind in ClaimSource if (count := sum(text.source is kind for text in seen))]
        if not counts:
            return "nothing"
        texts = " and ".join(f"{count} {name}{'s' if count > 1 else ''}" for count, name in counts)
        return f"{texts}, {sum(text.chars for text in seen):,} characters"

    @property
    def layers(self) -> tuple[LayerView, ...]:
        """What became of each layer; empty without a verdict, and in verdicts of older versions."""
        return layer_views(self.answer.verdict.routing) if self.answer.verdict else ()

    @property
    def hops(self) -> tuple[HopView, ...]:
        """The hops before the answer; empty for an answer made in one."""
        verdict, trace = self.answer.verdict, self.answer.trace
        return hop_views(verdict.hops, trace.hops) if verdict else ()

    @property
    def consistency(self) -> str:
        """What comparing the answer with others showed; empty where that was not done."""
        found = self.answer.verdict.consistency if self.answer.verdict else None
        return found.told(first_claim=1) if found else ""

    @property
    def is_context_truncated(self) -> bool:
        """Whether the packed prompt lacks something that was retrieved."""
        verdict = self.answer.verdict
        return verdict is not None and any(found.rule is StructuralRule.CONTEXT_TRUNCATED for found in verdict.findings)


def flagged_answer(flagged: FlaggedAnswer) -> AnswerView:
    """A flagged answer for the list; a long answer is shown from its beginning."""
    return _answer(flagged.trace, flagged.draw, flagged.verdict, LIST_CHARACTERS)


def trace_page(stored: StoredTrace, log: Sequence[PolicyRecord] = ()) -> TracePage:
    """A trace's page; the newest verdict leads. ``log`` is the store's copy of the policy log."""
    trace = stored.drawn.trace
    verdicts = sorted(stored.verdicts, key=lambda verdict: verdict.verified_at, reverse=True)
    verdict = verdicts[0] if verdicts else None
    return TracePage(
        answer=_answer(trace, stored.drawn.draw, verdict, PAGE_CHARACTERS),
        passages=_passages(trace.passages or (), verdict.claims if verdict else ()),
        screening=stored.drawn.screening,
        other_verdicts=tuple(verdicts[1:]),
        policies=_policies(stored.drawn.draw.policy_id, log),
    )


def _policies(policy_id: str, log: Sequence[PolicyRecord]) -> tuple[PolicyView, ...]:
    known = {record.policy_id: record for record in log}
    return tuple(PolicyView(part, known.get(part)) for part in policy_id.split("+"))


def _answer(trace: Trace, draw: Draw, verdict: Verdict | None, limit: int) -> AnswerView:
    claims = verdict.claims if verdict else ()
    passages = trace.passages or ()
    views = [ClaimView(number, claim, _evidence(claim.evidence, passages)) for number, claim in enumerate(claims, 1)]
    spans = [Span(view.verdict.claim.start, view.verdict.claim.end, view.number, view.verdict.label) for view in views]
    return AnswerView(
        trace=trace,
        draw=draw,
        verdict=verdict,
        answer=mark(trace.answer or "", spans, limit=limit),
        claims=tuple(sorted(views, key=lambda view: _ORDER.index(view.verdict.label))),
    )


def _evidence(evidence: Evidence | None, passages: Sequence[Passage]) -> EvidenceView | None:
    """The evidence with its surroundings, which are left out where the stored passage does not hold the span."""
    if evidence is None:
        return None
    passage = passages[evidence.passage] if evidence.passage < len(passages) else None
    text = passage.text if passage else ""
    is_found = text[evidence.start : evidence.end] == evidence.text
    return EvidenceView(
        before=_tail(text[: evidence.start]) if is_found else "",
        text=evidence.text,
        after=_head(text[evidence.end :]) if is_found else "",
        doc_id=evidence.doc_id,
        version=passage.version if passage else "",
        passage=evidence.passage + 1,
    )


def _tail(text: str) -> str:
    return text if len(text) <= CONTEXT_CHARACTERS else "…" + text[-CONTEXT_CHARACTERS:]


def _head(text: str) -> str:
    return text if len(text) <= CONTEXT_CHARACTERS else text[:CONTEXT_CHARACTERS] + "…"


def _passages(passages: Sequence[Passage], claims: Sequence[ClaimVerdict]) -> tuple[PassageView, ...]:
    spans: dict[int, list[Span]] = {}
    for number, claim in enumerate(claims, 1):
        evidence = claim.evidence
        if evidence:
            spans.setdefault(evidence.passage, []).append(Span(evidence.start, evidence.end, number, claim.label))
    return tuple(
        PassageView(position + 1, passage, mark(passage.text, spans.get(position, []), limit=PAGE_CHARACTERS))
        for position, passage in enumerate(passages)
    )
