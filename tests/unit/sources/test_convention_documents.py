"""Documents of every shape to passages, and what their metadata says."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.trace import MAX_ITEMS, Passage
from streams.sources.conventions.documents import documents_of
from streams.sources.raw import Json

META = {"source": "a.md", "chunk_id": "2"}
LC = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "document", "Document"]}
NODE = {"id_": "n1", "text": "x", "metadata": {"file_name": "a.md"}, "class_name": "TextNode"}


def short(value: Json, *, is_json: bool = False) -> list[tuple[str, str, str]] | None:
    """Document id, chunk id and text of the documents in ``value``."""
    found = documents_of(value, set(), is_json=is_json)
    return None if found is None else [(one.doc_id, one.chunk_id, one.text) for one in found]


@pytest.mark.parametrize(
    "value",
    [
        [{"page_content": "x", "metadata": META}],
        {"documents": [{"page_content": "x", "metadata": META}], "count": 1},
        [{**LC, "kwargs": {"page_content": "x", "metadata": META, "type": "Document"}}],
        [[{"page_content": "x", "metadata": META}, 0.5]],
        [[{"page_content": "x", "metadata": META}]],
        {"page_content": "x", "metadata": META},
        [{"content": "x", "source": "a.md", "chunk_id": 2}],
        {"matches": [{"score": 0.5, "metadata": {**META, "text": "x"}}]},
        {"hits": {"hits": [{"_score": 2.0, "_source": {**META, "content": "x"}}]}},
        [{"score": 0.5, "payload": {"page_content": "x", "metadata": META}}],
        {"documents": [["x"]], "ids": [[None]], "metadatas": [[META]], "distances": [[0.1]]},
        "[Document(metadata={'source': 'a.md', 'chunk_id': '2'}, page_content='x')]",
        "page_content='x' metadata={'source': 'a.md', 'chunk_id': '2'}",
        ["page_content='x' metadata={'source': 'a.md', 'chunk_id': '2'}"],
        "[{'page_content': 'x', 'metadata': {'source': 'a.md', 'chunk_id': '2'}}]",
        {"output": {"context": [{"text": "x", "meta": META}]}},
        [{"document": {"text": "x", "metadata": META}, "relevance_score": 0.5}],
        [{"content": [{"type": "text", "text": "x"}], "metadata": META}],
        [{"metadata": {**META, "_node_content": '{"text": "x"}'}, "score": 0.5}],
        [{"page_content": "x", "metadata": {**META, "document": "A", "roles": ["author"], "key": "k"}}],
    ],
)
@pytest.mark.parametrize("encode", [json.dumps, lambda value: value])
def test_documents_of_every_shape(value: Json, encode: Any) -> None:
    """As lists, in wrappers, as objects, as print; as values and as JSON in text."""
    assert [("a.md", "2", "x")] == short(encode(value), is_json=encode is json.dumps)


def test_nodes_with_scores() -> None:
    """LlamaIndex keeps id and text on the node, the score around it."""
    for value in (
        [{"node": NODE, "score": 0.83, "class_name": "NodeWithScore"}],
        {"source_nodes": [{"node": NODE, "score": 0.83}]},
    ):
        (passage,) = documents_of(value, set()) or ()
        assert ("n1", "x", 0.83) == (passage.doc_id, passage.text, passage.score)
    node = "TextNode(id_='n1', embedding=None, metadata={}, text='x', text_template='{c}')"
    printed = f"[NodeWithScore(node={node}, score=0.83)]"
    (passage,) = documents_of(printed, set()) or ()
    assert ("n1", "x", 0.83) == (passage.doc_id, passage.text, passage.score)


def test_printed_documents_keep_quotes_braces_and_brackets_in_their_text() -> None:
    """Each document ends where the next one begins, not at a sign within it."""
    first = "Document(id='1', metadata={'source': \"it's\"}, page_content='a } metadata={ \\'b\\'')"
    value = f'[{first}, Document(page_content="it\'s c")]'
    assert [("1", "", "a } metadata={ 'b'"), ("", "", "it's c")] == short(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None), ("", None), ([], []), ({"documents": []}, []), ("[]", []), ({}, []),
        (["a", "b"], [("", "", "a"), ("", "", "b")]),
        ("just text", [("", "", "just text")]),
        (['{"price": 5}', "[3, 4]"], [("", "", '{"price": 5}'), ("", "", "[3, 4]")]),
        (['{"text": "a", "id": "1"}', "[]"], [("1", "", "a")]),
        ([{"id": "1", "score": 0.5}], [("1", "", "")]),
    ],
)  # fmt: skip
def test_nothing_found_is_not_the_same_as_nothing_said(value: Json, expected: Any) -> None:
    """Empty lists are statements."""
    assert expected == short(value)


def test_what_is_no_document_is_skipped_and_flagged() -> None:
    """The others stay."""
    flags: set[str] = set()
    found = documents_of([{"text": "a"}, 7, None, {}, {"text": "b"}], flags)
    assert (["a", "b"], {"skipped_documents"}) == ([one.text for one in found or ()], flags)


def test_no_more_documents_than_a_trace_may_have() -> None:
    """The rest is cut and flagged."""
    flags: set[str] = set()
    found = documents_of(["x"] * (MAX_ITEMS + 5), flags)
    assert (MAX_ITEMS, {"cut_values"}) == (len(found or ()), flags)


def test_metadata_becomes_the_passages_fields() -> None:
    """Under the names that stores and frameworks use."""
    metadata = {
        "document_id": "d", "revision": 4, "last_modified": "2026-03-14", "valid_from": 1767225600,
        "is_archived": "true", "replaced_by": "e", "trust": "Untrusted", "allowed_roles": "agent, admin",
        "relevance_score": "0.5", "ingested_at": "2026-01-02T00:00:00Z", "cited": False,
    }  # fmt: skip
    flags: set[str] = set()
    (passage,) = documents_of([{"id": "d#3", "text": "x", "metadata": metadata}], flags) or ()
    expected = Passage(
        doc_id="d", chunk_id="d#3", version="4", text="x", score=0.5, archived=True, superseded_by="e",
        updated_at=datetime(2026, 3, 14, tzinfo=UTC), effective_from=datetime(2026, 1, 1, tzinfo=UTC),
        first_seen_at=datetime(2026, 1, 2, tzinfo=UTC), trust="untrusted", allowed_roles=("agent", "admin"),
        cited=False,
    )  # fmt: skip
    assert (expected, set()) == (passage, flags)


def test_metadata_of_wrong_shape_costs_its_field_alone() -> None:
    """Flagged."""
    flags: set[str] = set()
    metadata = {"source": {"a": 1}, "updated_at": "yesterday", "archived": "maybe", "score": "high", "allowed_roles": 5}
    assert (Passage(text="x"),) == documents_of([{"text": "x", "metadata": metadata}], flags)
    assert {"wrong_shape", "time_dropped"} == flags
