"""Whether a tool result shows what the answer says was done or looked up.

A tool whose name names another kind of deed, or mere reading, proves a deed only by a result that reports it; a tool
whose name says nothing is taken at its word, because names are the producer's and not in any dictionary.
"""

import re
from collections.abc import Sequence

from detectors.claims.kinds import is_question
from detectors.lexicon import normal_form
from detectors.lexicon.acts import Deeds, load_deeds
from detectors.structural.folding import straightened
from schemas.claim import Claim
from schemas.finding import MAX_DETAIL_CHARS, Finding, StructuralRule
from schemas.trace import ToolCall, Trace

_QUOTES = frozenset('"“”„«»‘「『>')
_OUTPUT_CHARS = 4000
_BRIEF_CHARS = 400
_OPENING_CHARS = 50
_BEFORE_CHARS = 24
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_FALSE_VALUE = re.compile(r"\s?\W{0,3}[:=]\s?\W?(?:false|null|none|no|0)\b")
_CLAUSE_END = re.compile(r"[.;!?。！？؟]")


def tool_findings(trace: Trace, claims: Sequence[Claim]) -> list[Finding]:
    """A finding for each claim of the answer that tells of a deed or a look-up without a tool result that shows it.

    Only what the assistant says it did, or what it says has become of something of the reader's; rules ("refunds are
    processed within …"), conditions ("once your booking is confirmed"), questions and quotations are none. A state that
    a passage, the prompt or the user's own words report needs no tool. Never raises for content.
    """
    deeds = load_deeds()
    if trace.answer is None or not deeds.hints.search(straightened(trace.answer)):
        return []
    return [
        Finding(rule=StructuralRule.TOOL_CLAIM_UNPROVEN, claim=claim.index, detail=claim.text[:MAX_DETAIL_CHARS])
        for claim in claims
        if _tells_of_deed(claim, trace, deeds)
    ]


def is_failed(output: str) -> bool:
    """Whether a tool's output reports a failure: in its first 400 characters, or the first 50 of longer prose.

    A long text is a result, whatever words it holds.
    """
    deeds = load_deeds()
    head = straightened(output[: _BRIEF_CHARS + 1])
    if len(head) > _BRIEF_CHARS and not head.startswith(("{", "[", "<")):
        head = head[:_OPENING_CHARS]
    return deeds.failures.search(deeds.no_failures.without(head)) is not None


def _tells_of_deed(claim: Claim, trace: Trace, deeds: Deeds) -> bool:
    if claim.text.lstrip()[:1] in _QUOTES or is_question(claim.text):
        return False
    form = normal_form(claim.text)
    if deeds.conditions.match(form):
        return False
    if (match := deeds.lookups.search(form)) is not None:
        return not any(_has_result(call) for call in trace.tool_calls)
    if (match := deeds.done.search(form)) is not None:
        return not _is_proven(_clause(form, match.start()), trace.tool_calls, deeds)
    match = deeds.state.search(form)
    if match is None or deeds.general.match(form[match.end() :]) is not None:
        return False
    clause = _clause(form, match.start())
    return not _is_proven(clause, trace.tool_calls, deeds) and not _is_reported(clause, trace, deeds)


def _clause(form: str, start: int) -> str:
    end = _CLAUSE_END.search(form, start + 1)
    return form[start : end.start() if end else len(form)]


def _has_result(call: ToolCall) -> bool:
    return call.output is not None and bool(call.output.strip()) and not is_failed(call.output)


def _is_proven(clause: str, calls: Sequence[ToolCall], deeds: Deeds) -> bool:
    kinds = {name for name, stems in deeds.actions.items() if stems.search(clause)}
    return any(_has_result(call) and _shows(call, kinds, deeds) for call in calls)


def _shows(call: ToolCall, kinds: set[str], deeds: Deeds) -> bool:
    name = _CAMEL.sub(" ", call.name).lower().replace("_", " ").replace("-", " ")
    named = {kind for kind, stems in deeds.actions.items() if stems.search(name)}
    if deeds.reading_tools.search(name) is None and (not kinds or not named or named & kinds):
        return True
    return _reports(straightened((call.output or "")[:_OUTPUT_CHARS]), kinds, deeds)


def _reports(text: str, kinds: set[str], deeds: Deeds) -> bool:
    """Whether the text says that a deed of one of these kinds is done: ``refunded``, not ``refundable: true``."""
    for match in deeds.verbs.finditer(text):
        is_denied = deeds.denials.search(text[max(0, match.start() - _BEFORE_CHARS) : match.start()]) is not None
        is_false = _FALSE_VALUE.match(text, match.end()) is not None
        if not is_denied and not is_false and any(deeds.actions[kind].search(match.group()) for kind in kinds):
            return True
    return False


def _is_reported(clause: str, trace: Trace, deeds: Deeds) -> bool:
    """Whether the user said so, or a record among the passages says so of this one case."""
    verbs = {match.group() for match in deeds.verbs.finditer(clause)}
    question = straightened(trace.question)
    if "?" not in question and any(verb in question for verb in verbs):
        return True
    records = [passage.text for passage in trace.passages or ()] + [trace.packed_prompt or ""]
    return any(_holds_record(straightened(text), verbs, deeds) for text in records if text)


def _holds_record(text: str, verbs: set[str], deeds: Deeds) -> bool:
    if not any(verb in text for verb in verbs):
        return False
    if any(re.search(rf"\bstat(?:us|e)\W{{1,6}}{re.escape(verb)}", text) for verb in verbs):
        return True
    return any(verb in match.group() for match in deeds.state.finditer(text) for verb in verbs)
