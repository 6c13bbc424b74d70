"""Which stratum a trace belongs to: the first rule of which every stated condition holds, else ``rest``.

A signal that is missing makes its condition false, never true: an answer that nobody scored is not a bad answer.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from schemas.draw import Screening
from schemas.policy import REST, StratumRule
from schemas.trace import Trace


def stratum_of(trace: Trace, screening: Screening, rules: Sequence[StratumRule]) -> str:
    """Name of the first rule that matches, else ``rest``; a rule without conditions matches every trace."""
    return next((rule.name for rule in rules if all(_conditions(trace, screening, rule))), REST)


def _conditions(trace: Trace, screening: Screening, rule: StratumRule) -> Iterator[bool]:
    """Whether each stated condition holds; lazy, so that signals nobody asks for are not looked up."""
    if rule.score_below is not None:
        yield screening.score is not None and screening.score < rule.score_below
    if rule.score_at_least is not None:
        yield screening.score is not None and screening.score >= rule.score_at_least
    if rule.has_no_citation is not None:
        citations = citation_count(trace, screening)
        yield citations is not None and (citations == 0) == rule.has_no_citation
    if rule.citations_at_least is not None:
        citations = citation_count(trace, screening)
        yield citations is not None and citations >= rule.citations_at_least
    if rule.retrieval_score_below is not None:
        best = best_retrieval_score(trace)
        yield best is not None and best < rule.retrieval_score_below
    if rule.document_younger_than_days is not None:
        age = youngest_document_age(trace)
        yield age is not None and age < timedelta(days=rule.document_younger_than_days)
    if rule.has_flag is not None:
        yield rule.has_flag in trace.flags


def citation_count(trace: Trace, screening: Screening) -> int | None:
    """Distinct sources that the answer cites, by its own markers or by what the producer says, whichever is more.

    None when neither can be known: the answer has no claims, and no passage says whether it was cited.
    """
    marked = {citation for claim in screening.claims for citation in claim.citations}
    told = [passage.cited for passage in trace.passages or () if passage.cited is not None]
    if not screening.claims and not told:
        return None
    return max(len(marked), sum(told))


def best_retrieval_score(trace: Trace) -> float | None:
    """Highest retrieval score over the passages, on the retriever's own scale; None when no passage has one."""
    return max((passage.score for passage in trace.passages or () if passage.score is not None), default=None)


def youngest_document_age(trace: Trace) -> timedelta | None:
    """Age at event time of the passage that was updated last; negative when it is dated ahead, None when unknown."""
    updates = [passage.updated_at for passage in trace.passages or () if passage.updated_at is not None]
    return trace.ts - max(updates) if updates else None
