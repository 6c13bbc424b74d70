"""Implements ``detectors.layers.ConsistencyCheck``: where the samples come from, what they may cost, what they show."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from detectors.completion import tokens_of
from detectors.consistency.causes import is_unsure, mean_logprob
from detectors.consistency.comparing import Comparison, compare
from detectors.consistency.resampling import Resampler, ResamplingFailed, Samples, room_for
from detectors.detector import Detector
from detectors.layers import ConsistencyResult, ConsistencyTask, Purse, Spent
from schemas.layers import Consistency, LayerReason
from schemas.routes import ConsistencyCause

VERSION = "1"
"""Of the rules of comparison; part of the fingerprint."""
MOST_ALTERNATIVES = 19
"""Other completions of a trace that are compared, the first ones: a trace may hold thousands."""


@dataclass(frozen=True, slots=True)
class SelfConsistency:
    """Compares answers by ``detector`` (L1); draws new ones from ``resampler``, ``calls_at_once`` answers at a time.

    Without a resampler only what the traces hold is compared.
    """

    detector: Detector
    purse: Purse
    resampler: Resampler | None = None
    calls_at_once: int = 4
    on_close: Callable[[], None] | None = None
    name: str = "consistency"

    @property
    def fingerprint(self) -> str:
        """Version of the rules, what compares, and the model that is asked; the policy's rule is not in it."""
        model = self.resampler.model if self.resampler else "trace"
        return f"{self.name}:{VERSION}:{model}:{self.detector.fingerprint}"

    def check(self, tasks: Sequence[ConsistencyTask], deadline: float | None = None) -> list[ConsistencyResult]:
        """One result a task, in order; never raises. ``deadline`` is in seconds of ``time.monotonic``.

        An answer without other samples is flagged by its log-probabilities alone, where the rule names them as a cause;
        ``stopped`` then still says why nothing was compared.
        """
        if len(tasks) <= 1:
            return [self._guarded(task, deadline) for task in tasks]
        with ThreadPoolExecutor(max_workers=self.calls_at_once) as pool:
            return list(pool.map(lambda task: self._guarded(task, deadline), tasks))

    def close(self) -> None:
        """Close what samples are drawn through; nothing is to be compared any more."""
        if self.on_close is not None:
            self.on_close()

    def _guarded(self, task: ConsistencyTask, deadline: float | None) -> ConsistencyResult:
        try:
            return self._check(task, deadline)
        except Exception:  # noqa: BLE001 - whatever odd text does to a client or a detector, the answer is still judged
            return ConsistencyResult(None, stopped=LayerReason.FAILED)

    def _check(self, task: ConsistencyTask, deadline: float | None) -> ConsistencyResult:
        given = [text for text in task.trace.alternatives if text.strip()][:MOST_ALTERNATIVES]
        if given:
            return _result(task, given, Samples((), Spent()), self.detector)
        try:
            drawn = self._drawn(task, deadline)
        except ResamplingFailed as error:
            return ConsistencyResult(_by_logprob(task), error.spent, error.reason)
        return _result(task, [], drawn, self.detector)

    def _drawn(self, task: ConsistencyTask, deadline: float | None) -> Samples:
        """New answers, paid for. Raises ResamplingFailed."""
        prompt, rule = task.trace.packed_prompt or "", task.rule
        if self.resampler is None or not rule.may_resample or not prompt.strip():
            raise ResamplingFailed(LayerReason.NO_SAMPLES)
        count, room = rule.samples - 1, room_for(task.item.answer)
        reserved = tokens_of(prompt) + count * room
        if not self.purse.may_spend(task.payer, reserved):
            raise ResamplingFailed(LayerReason.OVER_BUDGET)
        spent = Spent()
        try:
            found = self.resampler.sample(prompt, count, rule.temperature, room, deadline)
            spent = found.spent
        except ResamplingFailed as error:
            spent = error.spent
            raise
        finally:  # whatever happened: a reservation that stays would eat the hour's budget
            self.purse.settle(task.payer, reserved, spent)
        texts = tuple(text for text in found.texts if text.strip())
        if not texts:
            raise ResamplingFailed(LayerReason.FAILED, spent)
        return Samples(texts, spent)


def _result(task: ConsistencyTask, given: Sequence[str], drawn: Samples, detector: Detector) -> ConsistencyResult:
    found = compare(task.item, given or drawn.texts, task.rule, detector)
    if found is None:
        return ConsistencyResult(_by_logprob(task), drawn.spent, LayerReason.FAILED)
    return ConsistencyResult(_annotation(task, found, is_drawn=not given), drawn.spent)


def _by_logprob(task: ConsistencyTask) -> Consistency | None:
    """What the answer's own log-probabilities say where there is nothing to compare it with."""
    logprob = mean_logprob(task.trace)
    if logprob is None or ConsistencyCause.LOW_LOGPROB not in task.rule.causes:
        return None
    return _annotation(task, Comparison(1, is_flagged=is_unsure(task.rule, logprob)), is_drawn=False)


def _annotation(task: ConsistencyTask, found: Comparison, *, is_drawn: bool) -> Consistency:
    return Consistency(
        source="resampled" if is_drawn else "trace",
        samples=found.samples,
        votes=found.votes,
        agreement=found.agreement,
        unstable_claims=found.unstable_claims,
        mean_logprob=mean_logprob(task.trace),
        is_flagged=found.is_flagged,
    )
