"""Claims judged pair by pair, premise and hypothesis: the pair scorer and the three-way NLI classifier."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import Formatter

from detectors.models.batching import Encoded
from detectors.models.engine import Array, Engine, Failed
from detectors.models.options import ModelOptions
from detectors.models.own.asking import AskedClaim, asked_claims
from detectors.models.premises import Context, Premise, Premises
from detectors.models.tokens import TextEncoder
from schemas.claim import CheckItem
from schemas.errors import ConfigError
from schemas.labels import Outcome
from schemas.verdict import ClaimJudgement

HHEM_PROMPT = "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {text1}\n\nHypothesis: {text2}"
"""The published prompt; a folder's ``config.json`` may hold another."""
NO_PASSAGES = "there is no passage with text"
_TOO_LONG = ClaimJudgement(error=Outcome.ERROR_TOO_LONG)
_DECIMALS = 4
_LIKELY = 0.5
_SLACK = 4
"""Tokens kept free, because two texts may have one or two more together than apart."""
_LEAST_ROOM = 16


@dataclass(frozen=True, slots=True)
class PairModel:
    """A loaded model; ``support`` and ``contradiction`` say which of its outputs is which."""

    name: str
    fingerprint: str
    engine: Engine
    encoder: TextEncoder
    form: Callable[[str, str], Encoded]
    """Premise and hypothesis as one input."""
    window: int
    support: int
    contradiction: int | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    place: tuple[int, int]
    premises: Sequence[Premise]
    inputs: Sequence[Encoded]


class PairDetector:
    """Implements ``detectors.detector.Detector``; safe to call from several threads, which then share batches.

    Support and contradiction are the highest over a claim's premises, each by itself; the pair scorer gives no
    contradiction. A claim one of whose pairs fails is ``error:model``, one that leaves no room for evidence in the
    model's window ``error:too_long``. Without a passage that holds text nothing is asked, and support is 0.
    """

    def __init__(self, model: PairModel, premises: Premises, options: ModelOptions) -> None:
        self._model = model
        self._premises = premises
        self._options = options

    @property
    def name(self) -> str:
        """The layout."""
        return self._model.name

    @property
    def fingerprint(self) -> str:
        """Hash of weights, tokenizer, configuration, options and the way evidence is chosen."""
        return self._model.fingerprint

    @property
    def engine(self) -> Engine:
        """What runs the model."""
        return self._model.engine

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """One list per item, one judgement per claim; waits while the model's queue is full."""
        judged = [[ClaimJudgement()] * len(item.claims) for item in items]
        asked: list[_Asked] = []
        for at, item in enumerate(items):
            context = self._premises.context(item)
            for number, claim in enumerate(asked_claims(item)):
                if claim is None:
                    continue
                one = self._asked((at, number), claim, context)
                if isinstance(one, _Asked):
                    asked.append(one)
                else:
                    judged[at][number] = one
        distinct = list(dict.fromkeys(encoded for one in asked for encoded in one.inputs))
        results = dict(zip(distinct, self._model.engine.run(distinct), strict=True))
        for one in asked:
            at, number = one.place
            judged[at][number] = self._judgement(one.premises, [results[encoded] for encoded in one.inputs])
        return judged

    def _asked(self, place: tuple[int, int], claim: AskedClaim, context: Context) -> _Asked | ClaimJudgement:
        if context.is_empty:
            none = None if self._model.contradiction is None else 0.0
            return ClaimJudgement(support=0.0, contradiction=none, why=NO_PASSAGES)
        text = self._model.encoder.clean(claim.text)
        free = self._model.window - len(self._model.form("", text).ids) - _SLACK
        if free < _LEAST_ROOM:
            return _TOO_LONG
        premises = self._premises.of(claim, context, min(free, self._options.evidence_tokens))
        inputs = [self._model.form(premise.text, text) for premise in premises]
        if any(len(encoded.ids) > self._model.window for encoded in inputs):
            return _TOO_LONG
        return _Asked(place, premises, inputs)

    def _judgement(self, premises: Sequence[Premise], results: Sequence[Array | Failed]) -> ClaimJudgement:
        failed = next((result for result in results if isinstance(result, Failed)), None)
        if failed is not None:
            return ClaimJudgement(error=Outcome.ERROR_MODEL, why=f"the model failed: {failed.reason}")
        found = [result for result in results if not isinstance(result, Failed)]
        support, by = _highest(found, self._model.support)
        contradiction, against = None, None
        if self._model.contradiction is not None:
            raw, at = _highest(found, self._model.contradiction)
            contradiction, against = round(self._options.contradiction.apply(raw), _DECIMALS), premises[at]
        support = round(self._options.support.apply(support), _DECIMALS)
        is_against = contradiction is not None and contradiction > support
        shown = against if is_against and against is not None else premises[by]
        why = _why(support, contradiction, len(premises))
        return ClaimJudgement(support=support, contradiction=contradiction, evidence=shown.evidence, why=why)


def prompt_form(encoder: TextEncoder, prompt: str) -> Callable[[str, str], Encoded]:
    """Pairs written into ``prompt``. Raises ConfigError unless it has exactly the fields text1 and text2."""
    try:
        fields = sorted(name for _, name, _, _ in Formatter().parse(prompt) if name is not None)
    except ValueError:
        fields = []
    if fields != ["text1", "text2"]:
        raise ConfigError(f"the model's prompt must hold {{text1}} and {{text2}}, each once; it is {prompt[:200]!r}")
    return lambda premise, hypothesis: encoder.one(prompt.format(text1=premise, text2=hypothesis))


def _highest(found: Sequence[Array], index: int) -> tuple[float, int]:
    values = [float(one[index]) for one in found]
    at = max(range(len(values)), key=values.__getitem__)
    return values[at], at


def _why(support: float, contradiction: float | None, read: int) -> str:
    if contradiction is not None and contradiction > max(support, _LIKELY):
        return "the evidence shown contradicts it"
    if support >= _LIKELY:
        return "the evidence shown entails it"
    return f"none of {read} stretches read entails it" if read > 1 else "the stretch read does not entail it"
