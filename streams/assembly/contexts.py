"""What the model saw: the reranker's choice where there is one, else all that was retrieved, in order, each once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from schemas.span import Span, SpanKind
from schemas.trace import Passage, passage_hash
from streams.assembly.tree import Tree

_RETRIEVING = (SpanKind.RETRIEVER, SpanKind.RERANKER)
_ID_HEX = 16


@dataclass(frozen=True, slots=True)
class Contexts:
    """``passages`` is None when no span retrieved; ``of_span`` holds, by span id, the indices that a span gave."""

    passages: tuple[Passage, ...] | None
    of_span: Mapping[str, tuple[int, ...]]

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
    kept = [span for span in givers if not _is_inside(span, givers, tree) and not _is_reranked(span, givers, tree)]
    if not kept:
        return Contexts(None, {})
    places: dict[tuple[str, str, str], int] = {}
    passages: list[Passage] = []
    of_span: dict[str, tuple[int, ...]] = {}
    for span in kept:
        indices = []
        for document in span.documents or ():
            passage = with_id(document)
            place = places.setdefault((passage.doc_id, passage.chunk_id, passage.text), len(passages))
            if place == len(passages):
                passages.append(passage.model_copy(update={"rank": place}))
            indices.append(place)
        of_span[span.span_id] = tuple(dict.fromkeys(indices))
    return Contexts(tuple(passages), of_span)


def with_id(passage: Passage) -> Passage:
    """The passage; one that has no id of any kind gets one from its content."""
    if passage.doc_id or passage.chunk_id or not passage.text:
        return passage
    return passage.model_copy(update={"doc_id": f"content:{passage_hash(passage.text)[:_ID_HEX]}"})


def _is_inside(span: Span, givers: Sequence[Span], tree: Tree) -> bool:
    ids = {giver.span_id for giver in givers}
    return any(ancestor.span_id in ids for ancestor in ancestors(span, tree))


def ancestors(span: Span, tree: Tree) -> Iterator[Span]:
    """Parents upwards; ends at a missing parent or a circle."""
    seen = {span.span_id}
    while (parent := tree.by_id.get(span.parent_id)) is not None and parent.span_id not in seen:
        seen.add(parent.span_id)
        yield parent
        span = parent


def _is_reranked(span: Span, givers: Sequence[Span], tree: Tree) -> bool:
    if span.kind is not SpanKind.RETRIEVER:
        return False
    order = {one.span_id: number for number, one in enumerate(tree.spans)}
    own = order[span.span_id]
    following = [
        giver
        for giver in givers
        if giver.kind is SpanKind.RERANKER and giver.parent_id == span.parent_id and order[giver.span_id] > own
    ]
    if not following:
        return False
    until = order[following[0].span_id]
    return not any(between.kind is SpanKind.LLM for between in tree.spans[own + 1 : until])
