"""What was retrieved against what a golden case says a good answer rests on.

A gold passage counts as found by its ids, or by its text inside a retrieved one: a corpus that was cut anew has other
chunk ids and the same words.
"""

from collections.abc import Sequence

from detectors.gate.results import Retrieval
from detectors.golden.near import normal
from schemas.golden import GoldenCase, GoldenPassage
from schemas.trace import Passage, Trace

DEPTHS = (1, 3, 5, 10)
"""The k of recall@k."""


def gold_of(case: GoldenCase) -> tuple[GoldenPassage, ...]:
    """The gold passages of a case, each once; the required sources as whole documents where it names no passage."""
    gold = case.passages or tuple(GoldenPassage(doc_id=source) for source in case.required_sources)
    return tuple({(one.doc_id, one.chunk_id or normal(one.text)): one for one in gold}.values())


def measure(case: GoldenCase, trace: Trace) -> Retrieval | None:
    """The metrics of a trace; None where the case has no gold, or the trace does not show whether retrieval ran."""
    gold = gold_of(case)
    if not gold or trace.passages is None:
        return None
    ranked = sorted(trace.passages, key=lambda passage: passage.rank)
    hits = [_found_by(passage, gold) for passage in ranked]
    first = next((place for place, found in enumerate(hits, start=1) if found), None)
    recall_at = {depth: len(frozenset().union(*hits[:depth])) / len(gold) for depth in DEPTHS}
    return Retrieval(
        gold=len(gold),
        retrieved=len(ranked),
        precision=sum(map(bool, hits)) / len(hits) if hits else None,
        recall=len(frozenset().union(*hits)) / len(gold),
        recall_at=recall_at,
        reciprocal_rank=1 / first if first else 0.0,
    )


def retrieved_documents(trace: Trace) -> frozenset[str]:
    """Ids of the documents that the trace's passages are from."""
    return frozenset(passage.doc_id for passage in trace.passages or ())


def has_evidence(case: GoldenCase, trace: Trace) -> bool:
    """Whether all that a good answer rests on was retrieved; where the case does not say, whether anything was.

    True where the trace does not show what was retrieved: nothing is blamed on retrieval unseen.
    """
    found = measure(case, trace)
    if found is None:
        return trace.passages is None or bool(trace.passages)
    return found.recall == 1 and set(case.required_sources) <= retrieved_documents(trace)


def _found_by(passage: Passage, gold: Sequence[GoldenPassage]) -> frozenset[int]:
    """Places of the gold passages that a retrieved one is or holds."""
    return frozenset(place for place, wanted in enumerate(gold) if _is_same(passage, wanted))


def _is_same(passage: Passage, wanted: GoldenPassage) -> bool:
    if passage.doc_id != wanted.doc_id:
        return False
    if not wanted.chunk_id and not wanted.text:
        return True
    if wanted.chunk_id and passage.chunk_id == wanted.chunk_id:
        return True
    words = normal(wanted.text)
    if words:
        return f" {words} " in f" {normal(passage.text)} "
    return not passage.chunk_id
