"""A whole answer judged in one pass: each token of it is supported by the context or not (the LettuceDetect layout)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from detectors.models.engine import Array, Engine, Failed
from detectors.models.options import ModelOptions
from detectors.models.own.asking import AskedClaim, asked_claims
from detectors.models.pairs import NO_PASSAGES
from detectors.models.passes import Part, groups, parts, written
from detectors.models.premises import Context, Premises
from detectors.models.tokens import Marked, TextEncoder
from schemas.claim import CheckItem
from schemas.labels import Outcome
from schemas.verdict import ClaimJudgement

_LONGEST_QUESTION = 1_000
"""Characters of the question that are shown; it is no evidence, and a longer one holds pasted text."""
_LEAST_ROOM = 32
_SLACK = 8
_DECIMALS = 4
_LIKELY = 0.5
_MOST_SHOWN, _LONGEST_SHOWN = 3, 40


@dataclass(frozen=True, slots=True)
class SpanModel:
    """A loaded model; ``hallucinated`` says which of its two outputs means that a token is not supported."""

    name: str
    fingerprint: str
    engine: Engine
    encoder: TextEncoder
    window: int
    hallucinated: int


@dataclass(frozen=True, slots=True)
class _Asked:
    item: CheckItem
    claims: Sequence[AskedClaim | None]
    context: Context


@dataclass(frozen=True, slots=True)
class _Pass:
    item: int
    part: Part
    marked: Marked


class SpanDetector:
    """Implements ``detectors.detector.Detector``; safe to call from several threads, which then share batches.

    Support of a claim is 1 minus the highest probability of any of its tokens to be hallucinated; there is no
    contradiction. A context that does not fit is read in groups of passages with the whole answer beside each, then
    each claim once more with its best sentences of all groups, since it may join what two of them say; what supports a
    claim best counts. An answer above half the window is read in stretches of whole claims; a claim that leaves no room
    for evidence is ``error:too_long``.
    """

    def __init__(self, model: SpanModel, premises: Premises, options: ModelOptions) -> None:
        self._model = model
        self._premises = premises
        self._options = options

    @property
    def name(self) -> str:
        """The layout."""
        return self._model.name

    @property
    def fingerprint(self) -> str:
        """Hash of weights, tokenizer, configuration, options and the way contexts are written."""
        return self._model.fingerprint

    @property
    def engine(self) -> Engine:
        """What runs the model."""
        return self._model.engine

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """One list per item, one judgement per claim; waits while the model's queue is full."""
        asked = [_Asked(item, asked_claims(item), self._premises.context(item)) for item in items]
        passes = [_Pass(at, part, marked) for at, one in enumerate(asked) for part, marked in self._inputs(one)]
        results = self._model.engine.run([one.marked.encoded for one in passes])
        found: dict[tuple[int, int], list[ClaimJudgement]] = {}
        for one, result in zip(passes, results, strict=True):
            for number, start, end in one.part.claims:
                found.setdefault((one.item, number), []).append(self._judgement(one, result, start, end))
        return [self._item(at, one, found) for at, one in enumerate(asked)]

    def _inputs(self, asked: _Asked) -> Iterator[tuple[Part, Marked]]:
        if asked.context.is_empty:
            return
        encoder, window = self._model.encoder, self._model.window
        question = encoder.clean(asked.item.question)[:_LONGEST_QUESTION]
        for part in parts(asked.item, encoder, window // 2):
            room = window - len(encoder.pair(written(question, [""]), part.text).ids) - _SLACK
            if room < _LEAST_ROOM:
                continue
            read = list(groups(asked.context, encoder, room, self._options.overlap_tokens))
            for group in read:
                yield part, encoder.marked(written(question, group), part.text)
            for place in part.claims if len(read) > 1 else ():
                if texts := self._joined(asked, place[0], read, room):
                    marked = encoder.marked(written(question, texts), part.text)
                    if len(marked.encoded.ids) <= window:
                        yield Part(part.text, [place]), marked

    def _joined(self, asked: _Asked, number: int, read: Sequence[Sequence[str]], room: int) -> list[str]:
        """The best sentences for a claim, a text a passage; empty where one of the groups holds them all."""
        claim = asked.claims[number]
        if claim is None:
            return []
        texts = self._premises.joined(claim, asked.context, min(room, self._options.evidence_tokens))
        wholes = (" ".join(" ".join(group).split()) for group in read)
        return [] if any(all(text in whole for text in texts) for whole in wholes) else texts

    def _judgement(self, one: _Pass, result: Array | Failed, start: int, end: int) -> ClaimJudgement:
        if isinstance(result, Failed):
            return ClaimJudgement(error=Outcome.ERROR_MODEL, why=f"the model failed: {result.reason}")
        wrong = [
            (float(result[at, self._model.hallucinated]), first, last)
            for at, first, last in one.marked.tokens
            if first < end and last > start
        ]
        if not wrong:
            return ClaimJudgement(error=Outcome.ERROR_MODEL, why="the model reads no token of it")
        support = round(self._options.support.apply(1 - max(wrong)[0]), _DECIMALS)
        return ClaimJudgement(support=support, why=_why(one.part.text, wrong))

    def _item(
        self, at: int, asked: _Asked, found: Mapping[tuple[int, int], Sequence[ClaimJudgement]]
    ) -> list[ClaimJudgement]:
        judged = []
        for number, claim in enumerate(asked.claims):
            if claim is None:
                judged.append(ClaimJudgement())
            elif asked.context.is_empty:
                judged.append(ClaimJudgement(support=0.0, why=NO_PASSAGES))
            else:
                best = _best(found.get((at, number), []))
                shown = None if best.error else self._premises.telling(claim, asked.context)
                judged.append(best.model_copy(update={"evidence": shown}))
        return judged


def _best(found: Sequence[ClaimJudgement]) -> ClaimJudgement:
    """What supports best; a pass that failed might have been it, so it decides before all."""
    if not found:
        return ClaimJudgement(error=Outcome.ERROR_TOO_LONG)
    return next((one for one in found if one.error), None) or max(found, key=lambda one: one.support or 0.0)


def _why(text: str, tokens: Sequence[tuple[float, int, int]]) -> str:
    """The stretches of the claim that the model doubts, in its own spelling."""
    doubted: list[tuple[int, int]] = []
    is_open = False
    for wrong, start, end in tokens:
        if wrong < _LIKELY:
            is_open = False
        elif is_open:
            doubted[-1] = (doubted[-1][0], end)
        else:
            doubted.append((start, end))
            is_open = True
    shown = list(dict.fromkeys(_words(text, start, end)[:_LONGEST_SHOWN] for start, end in doubted))[:_MOST_SHOWN]
    return f"the model doubts: {', '.join(shown)}" if shown else "the model doubts no word of it"


def _words(text: str, start: int, end: int) -> str:
    """``text[start:end]`` with the rest of the words at its ends; tokens are parts of words."""
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return text[start:end].strip()
