"""What the model could have known: retrieved passages, tool outputs, else the packed prompt."""

import re
from collections.abc import Iterator

from schemas.trace import Passage, Trace

_REDACTED = re.compile(
    r"\s*(?:[\[<({*_]{1,3}\s*(?:content |text |answer |output |input )?"
    r"(?:redacted|removed|hidden|masked|filtered|withheld|scrubbed|omitted)(?:[ :].{0,80})?\s*[\]>)}*_]{1,3}"
    r"|redacted|[*█▇■•x]{3,64})\.?\s*",
    re.IGNORECASE,
)
_MARKER_CHARS = 160


def context_passages(trace: Trace) -> tuple[Passage, ...]:
    """Passages to judge against: the trace's own first (indices agree), then each tool output.

    The packed prompt stands in as one passage only when the trace shows neither passages nor tool outputs.
    """
    tools = tuple(
        Passage(doc_id=f"tool:{call.name}", text=call.output) for call in trace.tool_calls if call.output is not None
    )
    context = (trace.passages or ()) + tools
    prompt = trace.packed_prompt or ""
    if not context and trace.passages is None and not is_blank(prompt):
        return (Passage(doc_id="prompt", text=prompt),)
    return context


def known_texts(trace: Trace) -> Iterator[str]:
    """Every text whose words the model or the user had before the answer: what a quotation may be taken from."""
    yield from (passage.text for passage in trace.passages or ())
    yield from (call.output for call in trace.tool_calls if call.output is not None)
    yield from (call.arguments for call in trace.tool_calls)
    yield from (trace.question, *trace.rewrites, trace.packed_prompt or "")


def has_no_context(trace: Trace) -> bool:
    """True when the trace does not show whether retrieval ran, nor anything else that the model was given."""
    return trace.passages is None and is_blank(trace.packed_prompt or "") and not _has_tool_output(trace)


def is_empty_retrieval(trace: Trace) -> bool:
    """True when retrieval ran and gave nothing, or nothing but blank texts."""
    return trace.passages is not None and all(is_blank(passage.text) for passage in trace.passages)


def has_nothing_to_rely_on(trace: Trace) -> bool:
    """True when retrieval was empty and no tool gave an output either."""
    return is_empty_retrieval(trace) and not _has_tool_output(trace)


def is_blank(text: str) -> bool:
    """True for white space, control and zero-width characters only."""
    return not any(char.isprintable() and not char.isspace() for char in text)


def is_redaction_marker(text: str) -> bool:
    """True when the whole text is a placeholder such as ``[REDACTED]``, ``__REDACTED__`` or ``****``."""
    return len(text) <= _MARKER_CHARS and _REDACTED.fullmatch(text) is not None


def is_redacted(trace: Trace) -> bool:
    """True when the answer, or every passage, was replaced by a placeholder."""
    passages = trace.passages or ()
    is_context_hidden = bool(passages) and all(is_redaction_marker(passage.text) for passage in passages)
    return is_context_hidden or is_redaction_marker(trace.answer or "")


def _has_tool_output(trace: Trace) -> bool:
    return any(call.output is not None and not is_blank(call.output) for call in trace.tool_calls)
