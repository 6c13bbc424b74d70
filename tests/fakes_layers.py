"""Hand-written layers above L1 for tests; they keep the promises of ``detectors.layers`` and call nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from detectors.layers import ConsistencyResult, ConsistencyTask, JudgeResult, JudgeTask, Spent
from schemas.claim import CheckItem, Claim
from schemas.labels import ClaimLabel, Layer, Outcome
from schemas.layers import Consistency, LayerReason
from schemas.verdict import ClaimJudgement
from tests.fakes_detectors import ScriptedDetector

TOKENS_IN, TOKENS_OUT, DOLLARS, MILLISECONDS = 100, 20, 0.001, 50.0
"""What one call of a fake endpoint takes."""
_STOPPED_BY = {
    Outcome.ERROR_BUDGET: LayerReason.OVER_BUDGET,
    Outcome.ERROR_TIMEOUT: LayerReason.OUT_OF_TIME,
    Outcome.ERROR_MODEL: LayerReason.AWAY,
}
_FREE = frozenset({Outcome.ERROR_BUDGET, Outcome.ERROR_TOO_LONG})
"""Errors that are found before anything is asked."""


def spent(calls: int = 1, cached: int = 0) -> Spent:
    """What ``calls`` of a fake endpoint cost."""
    return Spent(calls, cached, calls * TOKENS_IN, calls * TOKENS_OUT, calls * DOLLARS, calls * MILLISECONDS)


@dataclass
class FakeJudge:
    """Labels a claim as ``by_text`` says, else ``supported``, with confidence 0.8; an outcome there is its error.

    Remembers claims by text and passages, and is paid once for each; what failed is asked, and paid, again. ``error``
    is raised by every call, where given; ``asked`` has the texts of each call in order.
    """

    by_text: Mapping[str, ClaimLabel | Outcome] = field(default_factory=dict)
    error: Exception | None = None
    fingerprint: str = "fake-judge-1"
    name: str = "fake"
    asked: list[list[str]] = field(default_factory=list)
    deadlines: list[float | None] = field(default_factory=list)
    known: set[tuple[str, ...]] = field(default_factory=set)

    def judge(self, tasks: Sequence[JudgeTask], deadline: float | None = None) -> list[JudgeResult]:
        """One result a task."""
        self.asked.append([task.item.claims[index].text for task in tasks for index in task.wanted])
        self.deadlines.append(deadline)
        if self.error is not None:
            raise self.error
        return [self._judge(task) for task in tasks]

    def _judge(self, task: JudgeTask) -> JudgeResult:
        claims = {index: task.item.claims[index] for index in task.wanted}
        found = {index: self._judge_claim(claim) for index, claim in claims.items()}
        keys = {_key(task.item, claims[index]) for index, judged in found.items() if judged.error is None}
        new = keys - self.known
        self.known |= new
        errors = [judged.error for judged in found.values() if judged.error is not None]
        stopped = next((_STOPPED_BY[error] for error in errors if error in _STOPPED_BY), None)
        in_vain = sum(error not in _FREE for error in errors)
        return JudgeResult(found, spent(len(new) + in_vain, len(keys) - len(new)), stopped)

    def _judge_claim(self, claim: Claim) -> ClaimJudgement:
        said = self.by_text.get(claim.text, ClaimLabel.SUPPORTED)
        if isinstance(said, Outcome):
            return ClaimJudgement(error=said)
        return ClaimJudgement(label=said, confidence=0.8, why="the judge says so", layer=Layer.L3)


def _key(item: CheckItem, claim: Claim) -> tuple[str, ...]:
    return claim.text, *(passage.text for passage in item.passages)


@dataclass
class FakeConsistency:
    """Flags answers that hold one of ``flagged``; ``stopped`` says that nothing could be compared, for what reason.

    ``error`` is raised by every call, where given; ``asked`` has the ids of the traces of each call in order.
    """

    flagged: Sequence[str] = ()
    stopped: LayerReason | None = None
    error: Exception | None = None
    fingerprint: str = "fake-consistency-1"
    name: str = "fake"
    asked: list[list[str]] = field(default_factory=list)
    deadlines: list[float | None] = field(default_factory=list)

    def check(self, tasks: Sequence[ConsistencyTask], deadline: float | None = None) -> list[ConsistencyResult]:
        """One result a task."""
        self.asked.append([task.payer.trace_id for task in tasks])
        self.deadlines.append(deadline)
        if self.error is not None:
            raise self.error
        return [self._check(task) for task in tasks]

    def _check(self, task: ConsistencyTask) -> ConsistencyResult:
        if self.stopped is not None:
            return ConsistencyResult(None, stopped=self.stopped)
        is_flagged = any(words in task.item.answer for words in self.flagged)
        votes = task.rule.least - 1 if is_flagged else task.rule.samples
        found = Consistency(
            source="resampled",
            samples=task.rule.samples,
            votes=max(1, votes),
            unstable_claims=tuple(range(len(task.item.claims))) if is_flagged else (),
            is_flagged=is_flagged,
        )
        return ConsistencyResult(found, spent(task.rule.samples - 1))


@dataclass
class FakeStacked:
    """L2 on top of L1: judges as ``by_text`` says, else as L1 did (full support where that is not known).

    Raises ValueError for an answer that holds ``poison``; ``below`` has what each call was given of L1.
    """

    by_text: dict[str, ClaimJudgement] = field(default_factory=dict)
    poison: str = ""
    fingerprint: str = "fake-stacked-1"
    name: str = "fake"
    batches: list[int] = field(default_factory=list)
    below: list[Sequence[Sequence[ClaimJudgement] | None]] = field(default_factory=list)

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """As ``judge_after`` with nothing known."""
        return self.judge_after(items, [None] * len(items))

    def judge_after(
        self, items: Sequence[CheckItem], below: Sequence[Sequence[ClaimJudgement] | None]
    ) -> list[list[ClaimJudgement]]:
        """One judgement per claim."""
        self.batches.append(len(items))
        self.below.append(below)
        if self.poison and any(self.poison in item.answer for item in items):
            raise ValueError(self.poison)
        return [self._judge_item(item, known) for item, known in zip(items, below, strict=True)]

    def _judge_item(self, item: CheckItem, known: Sequence[ClaimJudgement] | None) -> list[ClaimJudgement]:
        first = ScriptedDetector().judge([item])[0] if known is None else known
        return [
            self.by_text.get(claim.text, judged).model_copy(update={"layer": Layer.L2}) if claim.is_factual else judged
            for claim, judged in zip(item.claims, first, strict=True)
        ]
