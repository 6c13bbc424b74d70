"""Whether the answer goes by instructions that stand in a passage or tool output, or repeats a forbidden phrase.

An instruction alone is no finding, since documents are full of them: what it asks for must show in the answer, where
nothing else that the model was given explains it, and where the answer does not merely report the instruction.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from detectors.lexicon.acts import Instructions, load_instructions
from detectors.lexicon.acts.phrases import Phrases
from detectors.structural.folding import fold
from detectors.structural.hidden import has_comment, has_invisible, hidden_texts, without_invisible
from schemas.claim import Claim
from schemas.finding import MAX_DETAIL_CHARS, Finding, StructuralRule
from schemas.trace import Trace

_BEFORE_CHARS = 200
_AFTER_CHARS = 600
_MAX_TRIGGERS = 20
"""Of one text."""
_ADDRESS = re.compile(
    r"(?:https?://|www\.)[^\s<>\"')\]]{3,200}|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}|"
    r"\b[\w-]{1,63}(?:\.[a-zA-Z][\w-]{1,30}){1,3}(?:/[^\s<>\"')\]]{0,200})?|\+?\d[\d ()-]{6,18}\d|"
    r"\[[A-Z]{2,12}_[0-9a-f]{6}\]"  # a redacted one
)
_QUOTED = re.compile(r"[\"“„«'‘`]([^\"”“»'’`\n]{3,200})[\"”“»'’`]")
_ASKED = re.compile(r"[^.!?;\n。！？]{2,200}")
_CUT = re.compile(r",| and | then | instead\b| in | to | as ")
_EDGE = " .,;:!?-()[]。、।"
_MIN_CHARS = 4
_MIN_WORDS = 3


@dataclass(frozen=True, slots=True)
class _Told:
    """A stretch of ``text`` that tells the model what to do."""

    region: str
    text: str
    passage: int | None
    where: str


def canary_findings(answer: str, claims: Sequence[Claim], canaries: Iterable[str]) -> list[Finding]:
    """One finding for each phrase that the answer holds; case, white space, marks and invisible signs are ignored."""
    phrases = [(phrase, wording) for phrase in canaries if (wording := fold(phrase))]
    if not phrases:
        return []
    folded = fold(answer)
    return [
        Finding(
            rule=StructuralRule.CANARY_REPEATED, claim=_claim_with(claims, wording), detail=phrase[:MAX_DETAIL_CHARS]
        )
        for phrase, wording in phrases
        if wording in folded
    ]


def obeyed_findings(trace: Trace, claims: Sequence[Claim]) -> list[Finding]:
    """One finding for each passage or tool output that holds an instruction to the model which shows in the answer.

    It shows when an address, a quoted phrase or the wording that it asks for stands in the answer and neither in the
    question nor elsewhere in the context, or when the answer speaks of new instructions of its own. Linear in the
    context.
    """
    lexicon = load_instructions()
    told = list(_told(trace, lexicon))
    answer = trace.answer or ""
    if not told or lexicon.reported.search(answer) or lexicon.triggers.search(answer):
        return []
    return list(_obeyed(told, _Answer(trace, claims, told), is_obeying=lexicon.obeyed.search(answer) is not None))


def _obeyed(told: Sequence[_Told], answer: "_Answer", *, is_obeying: bool) -> Iterator[Finding]:
    demands = load_instructions().demands
    done: set[tuple[int | None, str]] = set()
    for one in told:
        if (one.passage, one.where) in done:
            continue
        shown = next((asked for asked in _asked(one.region, demands) if answer.shows(asked)), None)
        if shown is not None or is_obeying:
            done.add((one.passage, one.where))
            claim = _claim_with(answer.claims, fold(shown).strip(_EDGE)) if shown is not None else None
            detail = (shown if shown is not None else "speaks of instructions of its own")[:MAX_DETAIL_CHARS]
            yield Finding(rule=StructuralRule.INSTRUCTION_OBEYED, claim=claim, passage=one.passage, detail=detail)


def _told(trace: Trace, lexicon: Instructions) -> Iterator[_Told]:
    texts: list[tuple[str, int | None, str]] = [
        (passage.text, position, "") for position, passage in enumerate(trace.passages or ())
    ]
    texts += [(call.output, None, call.name) for call in trace.tool_calls if call.output]
    if not _may_tell("\n".join(raw for raw, _, _ in texts), lexicon):
        return
    for raw, passage, where in texts:
        has_signs = has_invisible(raw)
        for hidden in hidden_texts(raw, has_signs=has_signs):
            if lexicon.demands.search(hidden) or lexicon.triggers.search(hidden):
                yield _Told(hidden, raw, passage, where)
        text = without_invisible(raw) if has_signs else raw
        for start, end in _regions(text, lexicon):
            yield _Told(text[start:end], raw, passage, where)


def _may_tell(texts: str, lexicon: Instructions) -> bool:
    """One look at all texts together, after which most need no other: triggers match whatever stands around them."""
    return has_invisible(texts) or has_comment(texts) or lexicon.triggers.search(texts) is not None


def _regions(text: str, lexicon: Instructions) -> list[tuple[int, int]]:
    """Stretches around the first triggers, joined where they overlap."""
    regions: list[tuple[int, int]] = []
    if lexicon.triggers.search(text) is None:
        return regions
    for match in islice(lexicon.triggers.finditer(text), _MAX_TRIGGERS):
        start, end = max(0, match.start() - _BEFORE_CHARS), match.end() + _AFTER_CHARS
        if regions and start <= regions[-1][1]:
            start = regions.pop()[0]
        regions.append((start, end))
    return regions


def _asked(region: str, demands: Phrases) -> Iterator[str]:
    """What the answer would hold if it did what is asked: addresses, quoted phrases, the words behind a demand."""
    yield from (match.group().rstrip(".,;:!?") for match in _ADDRESS.finditer(region))
    yield from (match.group(1) for match in _QUOTED.finditer(region))
    for match in demands.finditer(region):
        asked = _ASKED.match(region, match.end())
        if asked is not None:
            yield asked.group()
            yield from (asked.group()[: cut.start()] for cut in _CUT.finditer(asked.group()))


class _Answer:
    """The answer, and everything else that could explain its words: the question, and texts without what was told."""

    def __init__(self, trace: Trace, claims: Sequence[Claim], told: Iterable[_Told]) -> None:
        self.claims = claims
        self._answer = fold(trace.answer or "")
        texts = [passage.text for passage in trace.passages or ()] + [call.output or "" for call in trace.tool_calls]
        rest = {text: text for text in texts}
        for one in told:
            rest[one.text] = without_invisible(rest[one.text]).replace(one.region, " ")
        self._explaining = [fold(trace.question), *map(fold, rest.values())]

    def shows(self, asked: str) -> bool:
        """Whether the answer holds what is asked for, as nothing else explains; a small word only as the whole."""
        wording = fold(asked).strip(_EDGE)
        if not wording or not _stands_in(wording, self._answer):
            return False
        is_whole = wording == self._answer.strip(_EDGE)
        is_telling = len(wording) >= _MIN_CHARS and (_is_distinct(asked) or wording.count(" ") + 1 >= _MIN_WORDS)
        return (is_whole or is_telling) and not any(_stands_in(wording, text) for text in self._explaining)


def _is_distinct(asked: str) -> bool:
    """An address, or words that are no ordinary small ones: ``PWNED``, ``Acme Gold``."""
    stripped = asked.strip(_EDGE)
    return _ADDRESS.fullmatch(stripped) is not None or any(char.isupper() or char.isdigit() for char in stripped)


def _stands_in(wording: str, text: str) -> bool:
    """As whole words."""
    found = text.find(wording)
    while found >= 0:
        end = found + len(wording)
        before, after = text[found - 1 : found] if found else "", text[end : end + 1]
        if not (before.isalnum() and wording[0].isalnum()) and not (after.isalnum() and wording[-1].isalnum()):
            return True
        found = text.find(wording, found + 1)
    return False


def _claim_with(claims: Sequence[Claim], wording: str) -> int | None:
    return next((claim.index for claim in claims if wording in fold(claim.text)), None)
