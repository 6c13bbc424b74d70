"""Documents of any shape to passages: what retrievers, rerankers and vector stores put into traces.

Known are maps with text, id, score and metadata under many names, LangChain's objects, LlamaIndex's nodes with scores,
pairs of document and score, columns as Chroma answers them, hits of search engines, texts, and printed objects.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from schemas.trace import MAX_ITEMS, Passage
from streams.sources.conventions.document_fields import ADDRESS, DOCUMENT_ID, OWN_ID, fields_of, first
from streams.sources.conventions.document_reprs import documents_in, is_repr
from streams.sources.conventions.messages import content_text
from streams.sources.conventions.values import MAX_DEPTH, as_text, number, parsed
from streams.sources.raw import Json

_LISTS = (
    "documents", "docs", "source_documents", "retrieved_documents", "nodes", "source_nodes", "results", "matches",
    "hits", "points", "contexts", "context", "chunks", "passages", "sources", "items", "outputs", "output", "result",
    "response", "value", "data", "return_values",
)  # fmt: skip
_TEXT = (
    "page_content", "pageContent", "content", "text", "chunk_text", "body", "passage", "snippet", "page_text",
    "document", "value",
)  # fmt: skip
_TEXT_IN_METADATA = _TEXT[:-2]
"""In metadata ``document`` and ``value`` are as likely to be names."""
_METADATA = ("metadata", "meta", "payload", "fields", "extra_info", "_source", "entity", "properties")
_INNER = ("node", "document", "doc", "kwargs", "chunk")
"""Where the document itself is, when score or class stand around it."""
_COLUMNS = ("ids", "documents", "metadatas", "distances")


def documents_of(value: Json, flags: set[str], *, is_json: bool = False) -> tuple[Passage, ...] | None:
    """The passages in ``value`` in their order, ranked from 0; None where it says nothing.

    What is no document is left out, flagged ``skipped_documents``; more than 10,000 is cut, flagged ``cut_values``.
    Linear in the size.
    """
    content = parsed(value, flags, is_json=is_json)
    if content is None or (isinstance(content, str) and not content):
        return None
    found = list(islice(_items(content, flags, 0), MAX_ITEMS + 1))
    if len(found) > MAX_ITEMS:
        flags.add("cut_values")
    passages: list[Passage] = []
    for item in found[:MAX_ITEMS]:
        passage = passage_of(item, len(passages), flags)
        if passage is None:
            flags.add("skipped_documents")
        else:
            passages.append(passage)
    return tuple(passages)


def passage_of(item: Json, rank: int, flags: set[str]) -> Passage | None:
    """One document as a passage; None when it has neither text nor an id."""
    if isinstance(item, str):
        return Passage(text=item, rank=rank) if item.strip() else None
    if not isinstance(item, dict):
        return None
    around, document = _unwrapped(item)
    metadata = parsed(first((document, around), _METADATA), flags)
    metadata = metadata if isinstance(metadata, dict) else {}
    if isinstance(metadata.get("metadata"), dict):  # a payload that holds text and metadata
        metadata = {**metadata, **metadata["metadata"]}
    text = _text(document, _TEXT, flags) or _text(metadata, _TEXT_IN_METADATA, flags) or _node_text(metadata, flags)
    fields = fields_of({**document, **around}, metadata, flags)
    if not text and not (fields.get("doc_id") or fields.get("chunk_id")):
        return None
    return Passage(**fields, text=text, rank=rank)


def _items(content: Json, flags: set[str], depth: int) -> Iterator[Json]:
    """What may be documents within; texts that hold documents in JSON or in Python's print are opened."""
    if depth > MAX_DEPTH:
        return
    if isinstance(content, str):
        yield from _of_text(content, flags, depth)
    elif isinstance(content, list):
        if _is_pair(content):
            yield {"document": content[0], "score": content[1]}
            return
        for item in content:
            if isinstance(item, (list, str)):
                yield from _items(item, flags, depth + 1)
            else:
                yield item
    elif isinstance(content, dict):
        yield from _of_map(content, flags, depth)


def _of_text(text: str, flags: set[str], depth: int) -> Iterator[Json]:
    content = parsed(text, flags)
    if not isinstance(content, str):
        found = list(islice(_items(content, flags, depth + 1), MAX_ITEMS + 1))
        is_passage = depth and found and not any(isinstance(item, str) or _is_document(item) for item in found)
        yield from [text] if is_passage else found  # a passage may be JSON itself
    elif is_repr(content):
        printed = documents_in(content, flags)
        yield from printed
        if not printed:
            yield content
    elif content.strip():
        yield content


def _of_map(content: dict[str, Any], flags: set[str], depth: int) -> Iterator[Json]:
    if all(isinstance(content.get(key), list) for key in _COLUMNS[:2]):
        yield from _of_columns(content)
        return
    if not _is_document(content):
        for key in _LISTS:
            inner = content.get(key)
            if isinstance(inner, (list, dict)) or (isinstance(inner, str) and inner.strip()):
                yield from _items(inner, flags, depth + 1)
                return
        if not content or all(content.get(key) == [] for key in content):
            return
    yield content


def _of_columns(content: Mapping[str, Any]) -> Iterator[Json]:
    """Chroma's answer: a list for each column, within a list for each query."""
    columns = [_flat(content.get(key)) for key in _COLUMNS]
    for place, (own, text) in enumerate(zip(columns[0], columns[1], strict=False)):
        metadata, distance = (column[place] if place < len(column) else None for column in columns[2:])
        yield {"id": own, "text": text, "metadata": metadata, "distance": distance}


def _flat(column: Any) -> list[Any]:
    rows = column if isinstance(column, list) else []
    return [item for row in rows for item in row] if all(isinstance(row, list) for row in rows) else rows


def _is_pair(content: list[Any]) -> bool:
    """A document with its score, as ``similarity_search_with_score`` gives it."""
    return len(content) == 2 and isinstance(content[0], dict) and number(content[1]) is not None  # noqa: PLR2004


def _is_document(content: Json) -> bool:
    if not isinstance(content, dict):
        return False
    if any(isinstance(content.get(key), str) for key in _TEXT[:4]):
        return True
    if any(isinstance(content.get(key), dict) for key in _INNER) or any(key in content for key in _METADATA):
        return not any(isinstance(content.get(key), list) for key in _LISTS)
    return any(key in content for key in (*OWN_ID, *DOCUMENT_ID, *ADDRESS)) and not any(
        isinstance(content.get(key), list) for key in _LISTS
    )


def _unwrapped(item: dict[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """What stands around the document, and the document: node in a node with score, arguments of an object."""
    around: dict[str, Any] = {}
    for _ in range(3):
        inner = next((item[key] for key in _INNER if isinstance(item.get(key), dict)), None)
        if inner is None or any(isinstance(item.get(key), str) for key in _TEXT[:4]):
            break
        is_object = item.get("type") == "constructor"
        own = {key: value for key, value in item.items() if key not in _INNER and value is not None}
        around = around if is_object else {**own, **around}
        item = inner
    return around, item


def _node_text(metadata: Mapping[str, Any], flags: set[str]) -> str:
    """The text of a node that LlamaIndex keeps as JSON in a store's metadata."""
    node = parsed(metadata.get("_node_content"), flags)
    return _text(node, _TEXT_IN_METADATA, flags) if isinstance(node, dict) else ""


def _text(document: Mapping[str, Any], keys: tuple[str, ...], flags: set[str]) -> str:
    for key in keys:
        value = document.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and (text := content_text(value, flags)):
            return text
    if isinstance(document.get("text_resource"), dict):  # LlamaIndex since 0.12
        return as_text(document["text_resource"].get("text") or "")
    return ""
