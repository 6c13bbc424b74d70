"""What the model saw: the reranker's choice where there is one, else all that was retrieved, in order, each once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemas.span import Span, SpanKind
from schemas.trace import MAX_ITEMS, Passage, passage_hash
from streams.assembly.tree import Tree

_RETRIEVING = (SpanKind.RETRIEVER, SpanKind.RERANKER)
_ID_HEX = 16


@dataclass(frozen=True, slots=True)
class Contexts:
    """``passages`` is None when no span retrieved; ``of_span`` holds, by span id, the indices that a span gave."""

    passages: tuple[Passage, ...] | None
    of_span: Mapping[str, tuple[int, ...]]
    has_more: bool = False
    """More was retrieved than a trace holds; the first ones are here."""

    @property
    def has_no_text(self) -> bool:
        """Documents were found and the trace holds the text of none."""
        return bool(self.passages) and not any(passage.text.strip() for passage in self.passages or ())


def collect_contexts(tree: Tree) -> Contexts:
    """The passages of a trace over all its hops.

    A retriever inside another retriever or reranker is that one's business. A retriever is replaced by the next
    reranker beside it when no model call lies between them.
    """
    givers = [span for span in tree.of_kind(*_RETRIEVING) if span.documents is not None]
    left_out = _inside(givers, tree) | _reranked(givers, tree)
    kept = [span for span in givers if span.span_id not in left_out]
    if not kept:
        return Contexts(None, {})
    places: dict[tuple[str, str, str], int] = {}
    passages: list[Passage] = []
    of_span: dict[str, tuple[int, ...]] = {}
    for span in kept:
        indices = []
        for document in span.documents or ():
            passage = with_id(document)
            place = places.setdefault((passage.doc_id, passage.chunk_id, passage.text), len(places))
            if place >= MAX_ITEMS:
                continue
            if place == len(passages):
                passages.append(passage.model_copy(update={"rank": place}))
            indices.append(place)
        of_span[span.span_id] = tuple(dict.fromkeys(indices))
    return Contexts(tuple(passages), of_span, has_more=len(places) > MAX_ITEMS)


def with_id(passage: Passage) -> Passage:
    """The passage; one that has no id of any kind gets one from its content."""
    if passage.doc_id or passage.chunk_id or not passage.text:
        return passage
    return passage.model_copy(update={"doc_id": f"content:{passage_hash(passage.text)[:_ID_HEX]}"})


def _inside(givers: Sequence[Span], tree: Tree) -> set[str]:
    """Ids of the givers below another one; each span is walked over once. A circle is cut where a walk enters it."""
    ids = {giver.span_id for giver in givers}
    is_below: dict[str, bool] = {}
    for giver in givers:
        path: dict[str, None] = {}
        span: Span | None = giver
        while span is not None and span.span_id not in is_below and span.span_id not in path:
            path[span.span_id] = None
            span = tree.by_id.get(span.parent_id)
        is_under = span is not None and span.span_id not in path and (span.span_id in ids or is_below[span.span_id])
        for span_id in reversed(path):
            is_below[span_id] = is_under
            is_under = is_under or span_id in ids
    return {giver.span_id for giver in givers if is_below[giver.span_id]}


def _reranked(givers: Sequence[Span], tree: Tree) -> set[str]:
    """Ids of the retrievers whose next reranker beside them comes before the next model call. One walk, backwards."""
    ids = {giver.span_id for giver in givers}
    rerankers: set[str] = set()
    """Parents of the rerankers that come next, without a model call before them."""
    found = set()
    for span in reversed(tree.spans):
        if span.kind is SpanKind.LLM:
            rerankers.clear()
        elif span.span_id in ids and span.kind is SpanKind.RERANKER:
            rerankers.add(span.parent_id)
        elif span.span_id in ids and span.parent_id in rerankers:
            found.add(span.span_id)
    return found
