"""Several copies of one span."""

from datetime import timedelta

from schemas.span import ChatMessage, SpanKind
from schemas.trace import Versions
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
    first = span("call", SpanKind.LLM, is_update=True, messages=(system,), said_at=NOW)
    second = span("call", SpanKind.LLM, is_update=True, messages=(user,), said_at=NOW + timedelta(milliseconds=1))
    assert (system, user) == merge_copies([second, first]).messages
    whole = span("call", SpanKind.LLM, messages=(user,), said_at=NOW + timedelta(milliseconds=2))
    assert (user,) == merge_copies([second, whole, first]).messages


def test_feedback_on_a_span_does_not_make_feedback_of_it() -> None:
    """An evaluation that arrives under the id of the span it judges."""
    judged = span("call", SpanKind.FEEDBACK, is_update=True, said_at=NOW + timedelta(seconds=5))
    assert SpanKind.LLM is merge_copies([judged, span("call", SpanKind.LLM)]).kind
