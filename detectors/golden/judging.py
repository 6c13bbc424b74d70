"""A golden case as the detectors see it: the trace of its recorded answer, and its claims where they stand in it."""

from datetime import datetime

from schemas.claim import Claim
from schemas.golden import GoldenCase
from schemas.labels import ClaimLabel
from schemas.trace import Passage, Trace, Versions


def trace_of(case: GoldenCase, now: datetime) -> Trace:
    """The recorded answer as a trace of its own; its passages are those with a text that the model was given.

    A case that names no passage at all does not show whether retrieval ran.
    """
    passages = tuple(
        Passage(doc_id=seen.doc_id, chunk_id=seen.chunk_id, version=seen.version, text=seen.text, rank=rank)
        for rank, seen in enumerate(case.seen)
    )
    return Trace(
        trace_id=case.case_id,
        ts=now,
        question=case.question,
        answer=case.answer or None,
        passages=passages if case.given or case.passages else None,
        intent=case.intent,
        tier=case.tier,
        locale=case.locale,
        versions=Versions(corpus=case.corpus_version),
    )


def claims_of(case: GoldenCase) -> tuple[Claim | None, ...]:
    """Each claim of the case where it stands in the recorded answer, None for one that is not there word for word.

    A text that recurs is looked for behind the claim before it, so that claims in order are found in order.
    """
    found: list[Claim | None] = []
    behind = 0
    for index, claim in enumerate(case.claims):
        start = case.answer.find(claim.text, behind)
        start = case.answer.find(claim.text) if start < 0 else start
        if start < 0:
            found.append(None)
            continue
        behind = start + len(claim.text)
        is_factual = claim.label is not ClaimLabel.NOT_FACTUAL
        found.append(Claim(index=index, start=start, end=behind, text=claim.text, is_factual=is_factual))
    return tuple(found)
