"""Which documents an answer cites, read the way the structural checks read it, and as the producer says."""

from dataclasses import dataclass

from detectors.structural import context_passages
from detectors.structural.citations import resolve_citations
from schemas.trace import Trace
from schemas.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Cited:
    """Document ids; ``exist`` is True when anything is cited, known or not."""

    documents: frozenset[str] = frozenset()
    exist: bool = False


def cited_documents(trace: Trace, verdict: Verdict) -> Cited:
    """Documents that the claims or the list of sources of an answer cite, and those the producer marked as cited."""
    passages = context_passages(trace)
    found = resolve_citations([one.claim for one in verdict.claims], passages, trace.answer or "")
    places = {place for own in found.by_claim for place in own}
    places |= {place for mention in found.known for place in mention.passages}
    marked = {passage.doc_id for passage in trace.passages or () if passage.cited}
    return Cited(frozenset({passages[place].doc_id for place in places} | marked), found.exist or bool(marked))
