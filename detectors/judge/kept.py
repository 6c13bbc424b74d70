"""Judgements as the cache keeps them: of the content alone, so that they fit every trace that holds the same content.

A kept judgement names its evidence by its place in the prompt and holds no text of a passage.
"""

from hashlib import blake2b

from detectors.judge.asking import reasons
from detectors.judge.prompting import Inquiry
from detectors.judge.rendering import Shown
from detectors.judge.stability import Settled
from schemas.labels import Layer
from schemas.verdict import ClaimJudgement, Evidence

_MOST_WHY = 400


def key_of(fingerprint: str, runs: int, inquiry: Inquiry) -> str:
    """Content hash of all that decides a judgement: claim, evidence, question, words before it, and the judge."""
    content = blake2b(f"{fingerprint}\0{runs}\0".encode(), digest_size=16)
    content.update(inquiry.messages[-1]["content"].encode("utf-8", "replace"))
    return content.hexdigest()


def packed(settled: Settled, runs: int, inquiry: Inquiry) -> ClaimJudgement:
    """What is kept."""
    place = settled.evidence[0] - 1 if settled.evidence else None
    return ClaimJudgement(
        label=settled.label.claim_label,
        confidence=settled.confidence,
        why="; ".join(reasons(settled, runs, inquiry.note))[:_MOST_WHY],
        layer=Layer.L3,
        evidence=None if place is None else _at(place),
    )


def named(kept: ClaimJudgement, inquiry: Inquiry) -> Shown | None:
    """The piece of evidence that a kept judgement names; None where it names none."""
    place = kept.evidence.passage if kept.evidence else len(inquiry.shown)
    return inquiry.shown[place] if place < len(inquiry.shown) else None


def unpacked(kept: ClaimJudgement, below: ClaimJudgement, evidence: Evidence | None) -> ClaimJudgement:
    """The judgement on a claim of one trace; scores, and evidence where none is named, are those of the layer below."""
    scores = {"support": below.support, "contradiction": below.contradiction, "evidence": evidence or below.evidence}
    return kept.model_copy(update=scores)


def _at(place: int) -> Evidence:
    return Evidence(passage=place, doc_id="", passage_hash="", start=0, end=0, text="")
