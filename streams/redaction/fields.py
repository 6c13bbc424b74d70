"""Which field of a trace and of a span is handled how; everything not named here holds no text of people and stays.

Trace ids, tenants, intents, names of tools and versions stay too: tallies, policies and the draw are made by them.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from schemas.base import Record
from schemas.span import Feedback, Span, SpanKind
from schemas.trace import Hop, Passage, ToolCall, Trace
from streams.redaction.kinds import Handling
from streams.settings.privacy import PrivacyFields

R = TypeVar("R", bound=Record)
TextRule = Callable[[str, Handling, str], str]
"""Text, handling and the name that opens a hash; gives what is left of the text."""
CONTENT = "REDACTED "
"""Opens the hash of a whole text, which judging knows as ``unresolved:redacted``."""
NO_CONTENT = "no_content"
PASSAGES_DROPPED = "passages_dropped"
_RETRIEVING = frozenset({SpanKind.RETRIEVER, SpanKind.RERANKER, SpanKind.EMBEDDING})
_SPEAKING = frozenset({SpanKind.CHAIN, SpanKind.AGENT, SpanKind.LLM, SpanKind.OTHER})


def texts_of_trace(trace: Trace, fields: PrivacyFields) -> Iterator[str]:
    """Every text of the trace that is redacted: those that can tell what a number in another one is."""
    groups: tuple[tuple[Handling, Iterable[str | None]], ...] = (
        (fields.question, (trace.question, *trace.rewrites, *(hop.question for hop in trace.hops))),
        (fields.answer, (trace.answer, *trace.alternatives, *(hop.output for hop in trace.hops))),
        (fields.passages, (passage.text for passage in trace.passages or ())),
        (fields.prompt, (trace.packed_prompt,)),
        (fields.tool_arguments, (call.arguments for call in trace.tool_calls)),
        (fields.tool_outputs, (call.output for call in trace.tool_calls)),
        (fields.feedback, (trace.feedback,)),
        (fields.user_id, (trace.user_id,)),
        (fields.conversation_id, (trace.conversation_id,)),
    )
    return _redactable(groups)


def redacted_trace(trace: Trace, fields: PrivacyFields, rule: TextRule) -> Trace:
    """The trace with every field handled."""
    passages = _passages(trace.passages, fields, rule)
    flags = list(trace.flags)
    if trace.answer is not None and fields.answer is Handling.DROP:
        flags.append(NO_CONTENT)
    if trace.passages is not None and passages is None:
        flags.append(PASSAGES_DROPPED)
    return _changed(
        trace,
        question=rule(trace.question, fields.question, CONTENT),
        rewrites=_texts(trace.rewrites, fields.question, rule),
        answer=_text(trace.answer, fields.answer, rule),
        alternatives=_texts(trace.alternatives, fields.answer, rule),
        passages=passages,
        packed_prompt=_text(trace.packed_prompt, fields.prompt, rule),
        tool_calls=tuple(_tool(call, fields, rule) for call in trace.tool_calls),
        hops=tuple(_hop(hop, fields, rule, has_passages=passages is not None) for hop in trace.hops),
        feedback=rule(trace.feedback, fields.feedback, CONTENT),
        user_id=rule(trace.user_id, fields.user_id, "USER_"),
        conversation_id=rule(trace.conversation_id, fields.conversation_id, "CONVERSATION_"),
        roles=_texts(trace.roles, fields.roles, rule, "ROLE_"),
        flags=tuple(dict.fromkeys(flags)),
    )


def texts_of_span(span: Span, fields: PrivacyFields) -> Iterator[str]:
    """Every text of the span that is redacted."""
    given, made = _sides(span.kind, fields)
    groups: tuple[tuple[Handling, Iterable[str | None]], ...] = (
        (given, (span.input,)),
        (made, (span.output,)),
        (fields.question, (span.query,)),
        (fields.answer, span.completions),
        (fields.passages, (passage.text for passage in span.documents or ())),
        (fields.prompt, (message.content for message in span.messages)),
        (fields.tool_arguments, (span.tool.arguments if span.tool else None,)),
        (fields.tool_outputs, (span.tool.output if span.tool else None,)),
        (fields.feedback, (text for said in span.feedback for text in (said.value, said.comment))),
        (fields.user_id, (span.user_id,)),
        (fields.conversation_id, (span.conversation_id,)),
    )
    return _redactable(groups)


def redacted_span(span: Span, fields: PrivacyFields, rule: TextRule) -> Span:
    """The span with every field handled; what its input and output are follows from its kind."""
    given, made = _sides(span.kind, fields)
    documents = _passages(span.documents, fields, rule)
    flags = list(span.flags)
    if fields.answer is Handling.DROP and span.kind in _SPEAKING and (span.output is not None or span.completions):
        flags.append(NO_CONTENT)
    if span.documents is not None and documents is None:
        flags.append(PASSAGES_DROPPED)
    messages = tuple(
        _changed(message, content=rule(message.content, fields.prompt, CONTENT))
        for message in (() if fields.prompt is Handling.DROP else span.messages)
    )
    return _changed(
        span,
        input=_text(span.input, given, rule),
        output=_text(span.output, made, rule),
        query=_text(span.query, fields.question, rule),
        documents=documents,
        messages=messages,
        completions=_texts(span.completions, fields.answer, rule),
        tool=_tool(span.tool, fields, rule) if span.tool else None,
        feedback=tuple(_feedback(said, fields.feedback, rule) for said in span.feedback),
        user_id=rule(span.user_id, fields.user_id, "USER_"),
        conversation_id=rule(span.conversation_id, fields.conversation_id, "CONVERSATION_"),
        roles=_texts(span.roles, fields.roles, rule, "ROLE_"),
        flags=tuple(dict.fromkeys(flags)),
    )


def _sides(kind: SpanKind, fields: PrivacyFields) -> tuple[Handling, Handling]:
    """How input and output of such a span are handled."""
    if kind in _RETRIEVING:
        return fields.question, fields.passages
    match kind:
        case SpanKind.LLM:
            return fields.prompt, fields.answer
        case SpanKind.TOOL:
            return fields.tool_arguments, fields.tool_outputs
        case SpanKind.EVALUATOR | SpanKind.FEEDBACK:
            return fields.prompt, fields.feedback
        case _:
            return fields.question, fields.answer


def _redactable(groups: Iterable[tuple[Handling, Iterable[str | None]]]) -> Iterator[str]:
    return (text for handling, texts in groups if handling is Handling.REDACT for text in texts if text)


def _text(text: str | None, handling: Handling, rule: TextRule) -> str | None:
    return None if text is None or handling is Handling.DROP else rule(text, handling, CONTENT)


def _texts(texts: tuple[str, ...], handling: Handling, rule: TextRule, name: str = CONTENT) -> tuple[str, ...]:
    return () if handling is Handling.DROP else tuple(rule(text, handling, name) for text in texts)


def _passages(
    passages: tuple[Passage, ...] | None, fields: PrivacyFields, rule: TextRule
) -> tuple[Passage, ...] | None:
    if passages is None or fields.passages is Handling.DROP:
        return None
    return tuple(_passage(passage, fields, rule) for passage in passages)


def _passage(passage: Passage, fields: PrivacyFields, rule: TextRule) -> Passage:
    """A trace has many, and most have nothing to change."""
    text = rule(passage.text, fields.passages, CONTENT)
    has_roles = bool(passage.allowed_roles) and fields.roles is not Handling.KEEP
    has_mailbox = "@" in passage.doc_id or "@" in passage.chunk_id or "@" in passage.superseded_by
    if text is passage.text and not has_roles and not has_mailbox:
        return passage
    return _changed(
        passage,
        text=text,
        allowed_roles=_texts(passage.allowed_roles, fields.roles, rule, "ROLE_"),
        **{name: _mailbox(getattr(passage, name), rule) for name in ("doc_id", "chunk_id", "superseded_by")},
    )


def _mailbox(identifier: str, rule: TextRule) -> str:
    """Ids name documents; of personal data only an e-mail address is ever part of one."""
    return rule(identifier, Handling.REDACT, CONTENT) if "@" in identifier else identifier


def _tool(call: ToolCall, fields: PrivacyFields, rule: TextRule) -> ToolCall:
    return _changed(
        call,
        arguments=rule(call.arguments, fields.tool_arguments, CONTENT),
        output=_text(call.output, fields.tool_outputs, rule),
    )


def _hop(hop: Hop, fields: PrivacyFields, rule: TextRule, *, has_passages: bool) -> Hop:
    return _changed(
        hop,
        question=rule(hop.question, fields.question, CONTENT),
        output=rule(hop.output, fields.answer, CONTENT),
        passages=hop.passages if has_passages else (),
    )


def _feedback(said: Feedback, handling: Handling, rule: TextRule) -> Feedback:
    return _changed(said, value=rule(said.value, handling, CONTENT), comment=rule(said.comment, handling, CONTENT))


def _changed(record: R, **fields: Any) -> R:
    """The record with these values; the very same one where none differs, as in most."""
    new = {name: value for name, value in fields.items() if value != getattr(record, name)}
    return record.model_copy(update=new) if new else record
