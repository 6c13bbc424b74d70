"""Several copies of one span."""

from datetime import timedelta

from schemas.span import ChatMessage, MappedValue, SpanKind
from schemas.trace import ToolCall, Versions
from streams.assembly.merge import merge_copies
from tests.builders import NOW
from tests.spans import ANSWER, QUESTION, root, span


def test_a_complete_copy_wins_over_a_pending_one() -> None:
    """Whatever came first; what only the pending copy says is kept."""
    pending = root(end=None, output=None, conversation_id="c-1")
    complete = root(conversation_id="", name="rag")
    merged = merge_copies([complete, pending])
    assert (ANSWER, "c-1", "rag", complete.end) == (merged.output, merged.conversation_id, merged.name, merged.end)


def test_partial_updates_add_up() -> None:
    """A start without output and an end without input make one span."""
    start = root(end=None, output=None, said_at=NOW)
    end = root(start=None, input=None, kind=SpanKind.OTHER, is_update=True, said_at=NOW + timedelta(seconds=1))
    merged = merge_copies([end, start])
    assert (QUESTION, ANSWER, SpanKind.CHAIN) == (merged.input, merged.output, merged.kind)
    assert (start.start, end.end, False) == (merged.start, merged.end, merged.is_update)


def test_the_later_statement_wins_field_by_field() -> None:
    """By the time at which the copy was written."""
    early = root(said_at=NOW, output="draft", versions=Versions(model="m-1", prompt="p-1"))
    late = root(said_at=NOW + timedelta(seconds=1), output="final", versions=Versions(model="m-2"))
    merged = merge_copies([late, early])
    assert ("final", Versions(model="m-2", prompt="p-1")) == (merged.output, merged.versions)


def test_an_empty_list_of_documents_is_a_statement() -> None:
    """Retrieval that gave nothing is not unknown retrieval."""
    ran = span("r", SpanKind.RETRIEVER, documents=())
    assert () == merge_copies([ran, span("r", SpanKind.RETRIEVER, end=None)]).documents


def test_a_copy_again_changes_nothing() -> None:
    """Wherever it was read."""
    first = root()
    again = first.model_copy(update={"source": None})
    assert first.content_hash == again.content_hash
    assert merge_copies([first]) == merge_copies([first, first])


def test_messages_that_come_one_an_update_are_put_together() -> None:
    """Older conventions write a log record a message; a copy that states them all wins."""
    system, user = ChatMessage(role="system", content="Be brief."), ChatMessage(role="user", content=QUESTION)
    first = span("call", SpanKind.LLM, is_update=True, messages=(system,), lasts=1)
    second = span("call", SpanKind.LLM, is_update=True, messages=(user,), lasts=2)
    assert (system, user) == merge_copies([second, first]).messages
    whole = span("call", SpanKind.LLM, messages=(user,), lasts=3)
    assert (user,) == merge_copies([second, whole, first]).messages


def test_an_update_that_says_when_it_was_written_replaces_an_earlier_one() -> None:
    """Streaming products write the answer again as it grows."""
    early = span("call", SpanKind.LLM, is_update=True, completions=("Yes",), said_at=NOW)
    late = span("call", SpanKind.LLM, is_update=True, completions=("Yes, it is.",), said_at=NOW + timedelta(seconds=1))
    assert ("Yes, it is.",) == merge_copies([late, early]).completions


def test_the_parts_of_a_tool_call_add_up() -> None:
    """Name and arguments at its start, the output at its end."""
    start = span("t", SpanKind.TOOL, end=None, tool=ToolCall(name="stock", arguments="{}"))
    end = span("t", SpanKind.TOOL, tool=ToolCall(name="", output="3 left"))
    assert ToolCall(name="stock", arguments="{}", output="3 left") == merge_copies([end, start]).tool


def test_of_mapped_values_the_later_copys_comes_first() -> None:
    """Metadata that is written again replaces what was there."""
    early = root(said_at=NOW, mapped=(MappedValue(field="intent", rank=0, value="a"),))
    late = root(said_at=NOW + timedelta(seconds=1), mapped=(MappedValue(field="intent", rank=0, value="b"),))
    assert ["b", "a"] == [value.value for value in merge_copies([early, late]).mapped]


def test_feedback_on_a_span_does_not_make_feedback_of_it() -> None:
    """An evaluation that arrives under the id of the span it judges."""
    judged = span("call", SpanKind.FEEDBACK, is_update=True, said_at=NOW + timedelta(seconds=5))
    assert SpanKind.LLM is merge_copies([judged, span("call", SpanKind.LLM)]).kind
