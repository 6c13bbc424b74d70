"""Which documents may be shown in place of an answer, the most useful first."""

from schemas.finding import StructuralRule
from schemas.labels import ClaimLabel
from schemas.trace import Trace
from schemas.verdict import Verdict
from streams.inline.links import SourceLink, distinct, safe_url
from streams.inline.request import CheckPassage


def readable_sources(trace: Trace, verdict: Verdict, unfit: frozenset[int]) -> tuple[SourceLink, ...]:
    """Documents of the passages: those behind supported claims first, then in the order of the request.

    Left out are the passages at the places of ``unfit``. None at all where the answer follows an instruction that stood
    in its context: somebody wrote there what does not belong there.
    """
    if any(finding.rule is StructuralRule.INSTRUCTION_OBEYED for finding in verdict.findings):
        return ()
    passages = trace.passages or ()
    supporting = [
        judged.evidence.passage
        for judged in verdict.claims
        if judged.label is ClaimLabel.SUPPORTED and judged.evidence is not None
    ]
    order = dict.fromkeys([*(place for place in supporting if place < len(passages)), *range(len(passages))])
    fit = (passages[place] for place in order if place not in unfit)
    return distinct(_link(passage) for passage in fit if isinstance(passage, CheckPassage))


def _link(passage: CheckPassage) -> SourceLink:
    return SourceLink(doc_id=passage.doc_id, title=passage.title or passage.doc_id, url=safe_url(passage.url))
