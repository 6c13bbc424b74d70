"""Whether a tool result shows what the answer says was done or looked up.

A tool whose name names another kind of deed, or mere reading, proves a deed only by a result that reports it; a tool
whose name says nothing is taken at its word, because names are the producer's and not in any dictionary.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from detectors.claims.kinds import is_question
from detectors.lexicon import normal_form
from detectors.lexicon.acts import Deeds, load_deeds
from detectors.structural.folding import straightened
from schemas.claim import Claim
from schemas.finding import MAX_DETAIL_CHARS, Finding, StructuralRule
from schemas.trace import Trace

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
    proof = _Proof(trace, deeds)
    return [
        Finding(rule=StructuralRule.TOOL_CLAIM_UNPROVEN, claim=claim.index, detail=claim.text[:MAX_DETAIL_CHARS])
        for claim in claims
        if _tells_of_deed(claim, proof, deeds)
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


def _tells_of_deed(claim: Claim, proof: "_Proof", deeds: Deeds) -> bool:
    if claim.text.lstrip()[:1] in _QUOTES or is_question(claim.text):
        return False
    form = normal_form(claim.text)
    if deeds.conditions.match(form):
        return False
    if deeds.lookups.search(form) is not None:
        return not proof.has_result
    match = deeds.done.search(form)
    if match is not None:
        return not proof.shows(_clause(form, match.start()))
    match = deeds.state.search(form)
    if match is None or deeds.general.match(form[match.end() :]) is not None:
        return False
    clause = _clause(form, match.start())
    return not proof.shows(clause) and not proof.reports_state(clause)


def _clause(form: str, start: int) -> str:
    end = _CLAUSE_END.search(form, start + 1)
    return form[start : end.start() if end else len(form)]


@dataclass(frozen=True, slots=True)
class _Result:
    """What a tool call that did not fail can prove."""

    kinds: frozenset[str]
    is_reading: bool
    text: str


class _Proof:
    """What a trace holds that could prove deeds, read once whatever the number of claims."""

    def __init__(self, trace: Trace, deeds: Deeds) -> None:
        self._trace = trace
        self._deeds = deeds
        self._shown: dict[frozenset[str], bool] = {}
        self._reported: dict[frozenset[str], bool] = {}

    @cached_property
    def has_result(self) -> bool:
        """Whether any tool call gave a result."""
        return bool(self._results)

    def shows(self, clause: str) -> bool:
        """Whether a tool result shows a deed of the clause's kinds."""
        kinds = frozenset(name for name, stems in self._deeds.actions.items() if stems.search(clause))
        if kinds not in self._shown:
            self._shown[kinds] = any(self._result_shows(result, kinds) for result in self._results)
        return self._shown[kinds]

    def reports_state(self, clause: str) -> bool:
        """Whether the user said so, or a record among the passages says so of this one case."""
        verbs = frozenset(match.group() for match in self._deeds.verbs.finditer(clause))
        if verbs not in self._reported:
            self._reported[verbs] = any(_holds_record(text, verbs, self._deeds) for text in self._records)
        question = straightened(self._trace.question)
        return self._reported[verbs] or ("?" not in question and any(verb in question for verb in verbs))

    @cached_property
    def _results(self) -> tuple[_Result, ...]:
        found = ((call.name, call.output) for call in self._trace.tool_calls if call.output is not None)
        return tuple(self._result(name, output) for name, output in found if output.strip() and not is_failed(output))

    @cached_property
    def _records(self) -> tuple[str, ...]:
        texts = [passage.text for passage in self._trace.passages or ()] + [self._trace.packed_prompt or ""]
        return tuple(straightened(text) for text in dict.fromkeys(texts))

    def _result(self, name: str, output: str) -> _Result:
        plain = _CAMEL.sub(" ", name).lower().replace("_", " ").replace("-", " ")
        return _Result(
            kinds=frozenset(kind for kind, stems in self._deeds.actions.items() if stems.search(plain)),
            is_reading=self._deeds.reading_tools.search(plain) is not None,
            text=straightened(output[:_OUTPUT_CHARS]),
        )

    def _result_shows(self, result: _Result, kinds: frozenset[str]) -> bool:
        if not result.is_reading and (not kinds or not result.kinds or result.kinds & kinds):
            return True
        return _reports(result.text, kinds, self._deeds)


def _reports(text: str, kinds: frozenset[str], deeds: Deeds) -> bool:
    """Whether the text says that a deed of one of these kinds is done: ``refunded``, not ``refundable: true``."""
    for match in deeds.verbs.finditer(text):
        is_denied = deeds.denials.search(text[max(0, match.start() - _BEFORE_CHARS) : match.start()]) is not None
        is_false = _FALSE_VALUE.match(text, match.end()) is not None
        if not is_denied and not is_false and any(deeds.actions[kind].search(match.group()) for kind in kinds):
            return True
    return False


def _holds_record(text: str, verbs: frozenset[str], deeds: Deeds) -> bool:
    if not any(verb in text for verb in verbs):
        return False
    if any(re.search(rf"\bstat(?:us|e)\W{{1,6}}{re.escape(verb)}", text) for verb in verbs):
        return True
    return any(verb in match.group() for match in deeds.state.finditer(text) for verb in verbs)
