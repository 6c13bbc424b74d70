"""Whether an answer can be read and judged at all: absent, hidden, cut and over-long ones have an outcome of their own.

Limits are on what one trace may cost the stream behind it; beyond them nothing is cut, nothing is judged, and it shows.
"""

from detectors.structural.context import is_blank, is_redacted
from schemas.labels import Outcome
from schemas.trace import Trace

MAX_ANSWER_BYTES = 262_144
"""Longest answer that is judged, in bytes of UTF-8; a longer one is ``error:too_long``, never cut."""
MAX_CONTEXT_CHARS = 2_000_000
"""Most characters of question, passages and tool outputs together beside which an answer is judged."""
MAX_CLAIMS = 5000
MAX_CLAIM_CHARS = 100_000_000
"""Most claims times characters of context: some seconds of matching."""

_FLAG_OUTCOMES = {
    "no_content": Outcome.UNRESOLVED_NO_CONTENT,
    "redacted": Outcome.UNRESOLVED_REDACTED,
    "truncated": Outcome.UNRESOLVED_TRUNCATED,
}


def find_unreadable(trace: Trace, max_answer_bytes: int = MAX_ANSWER_BYTES) -> Outcome | None:
    """The outcome of an answer that cannot be read at all, or beside too much context; None for all others."""
    flagged = next((outcome for flag, outcome in _FLAG_OUTCOMES.items() if flag in trace.flags), None)
    if flagged is not None:
        return flagged
    if trace.answer is None or is_blank(trace.answer):
        return Outcome.UNRESOLVED_NO_ANSWER
    if is_redacted(trace):
        return Outcome.UNRESOLVED_REDACTED
    if len(trace.answer) * 4 > max_answer_bytes and len(trace.answer.encode("utf-8", "replace")) > max_answer_bytes:
        return Outcome.ERROR_TOO_LONG
    return Outcome.ERROR_TOO_LONG if context_chars(trace) > MAX_CONTEXT_CHARS else None


def has_too_many_claims(trace: Trace, claim_count: int) -> bool:
    """Whether so many claims beside this context are more than one trace may cost."""
    return claim_count > MAX_CLAIMS or claim_count * context_chars(trace) > MAX_CLAIM_CHARS


def context_chars(trace: Trace) -> int:
    """Characters of the question and of all that the answer may rest on; the packed prompt where it stands in."""
    passages = sum(len(passage.text) for passage in trace.passages or ())
    tools = sum(len(call.output) for call in trace.tool_calls if call.output is not None)
    prompt = 0 if passages or tools or trace.passages is not None else len(trace.packed_prompt or "")
    return len(trace.question) + passages + tools + prompt
