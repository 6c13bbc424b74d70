"""The judge as verification sees it: claims of many answers in, a label or an error with its reason for each out.

Equal claims on equal evidence are asked about once and paid once: in one batch, again later, and after a redelivery.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from detectors.judge.asking import ATTEMPTS, REPEAT_TEMPERATURE, Asker, Manner, verdict_on
from detectors.judge.calling import Bill, Line, Unjudged
from detectors.judge.kept import key_of, named, packed, unpacked
from detectors.judge.prompting import Inquiry, JudgePrompt, TooLong
from detectors.judge.reply import schema
from detectors.layers import JudgeCache, JudgeResult, JudgeTask, Spent
from schemas.labels import Layer, Outcome
from schemas.layers import LayerReason
from schemas.verdict import ClaimJudgement

FORM = 1
"""Version of what chooses evidence, reads replies and settles runs; raise it when the same reply is read otherwise."""
_WORST_FIRST = (LayerReason.OVER_BUDGET, LayerReason.AWAY, LayerReason.OUT_OF_TIME)
_MILLISECONDS = 1000


@dataclass(frozen=True, slots=True)
class Limits:
    """Of each call, and of calls under way: so many for batches, and as many for answers that somebody waits for."""

    reply_tokens: int = 512
    calls_at_once: int = 8
    enforces_schema: bool = True
    """Whether the endpoint is asked to hold replies to the schema."""


@dataclass(frozen=True, slots=True)
class _Case:
    """One wanted claim that can be asked about."""

    task: JudgeTask
    index: int
    inquiry: Inquiry
    key: str


@dataclass(slots=True)
class _Answer:
    """What came of one key: a kept judgement or a failure, and the bill of the case that asked; None: none had to."""

    kept: ClaimJudgement | None = None
    failed: Unjudged | None = None
    bill: Bill = field(default_factory=Bill)
    asker: _Case | None = None
    ended: float = 0.0


class LlmJudge:
    """Implements ``detectors.layers.ClaimJudge``."""

    name = "llm"

    def __init__(
        self,
        line: Line,
        prompt: JudgePrompt,
        cache: JudgeCache,
        limits: Limits,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        self._line, self._prompt, self._cache, self._limits = line, prompt, cache, limits
        self._on_close = on_close
        self._batches, self._awaited = (ThreadPoolExecutor(limits.calls_at_once, f"judge-{n}") for n in range(2))
        form = schema() if limits.enforces_schema else None
        manner = (FORM, prompt.fingerprint, form, limits.reply_tokens, ATTEMPTS, REPEAT_TEMPERATURE)
        digest = blake2b(repr(manner).encode(), digest_size=4).hexdigest()
        self._fingerprint = f"{self.name}:{line.completion.model}:{digest}"

    @property
    def fingerprint(self) -> str:
        """Model, and a hash of rules, examples, schema, budgets and manner of asking."""
        return self._fingerprint

    @property
    def counts(self) -> Mapping[str, int]:
        """What became of claims and calls since the start, by name."""
        return dict(self._line.counts.by_name)

    def judge(self, tasks: Sequence[JudgeTask], deadline: float | None = None) -> list[JudgeResult]:
        """One result a task, in order; never raises. Calls end by ``deadline``, and so does the wait for them."""
        began = self._line.clock()
        cases = [self._cases(task) for task in tasks]
        first: dict[str, _Case] = {}
        for case in (case for found in cases for case in found):
            first.setdefault(case.key, case)
        known = self._cache.get(list(first)) if first else {}
        answers = {key: _Answer(kept=known[key], ended=began) for key in first if key in known}
        answers |= self._asked([case for key, case in first.items() if key not in known], deadline)
        return [self._result(task, found, answers, began) for task, found in zip(tasks, cases, strict=True)]

    def close(self) -> None:
        """Ask nothing more: calls that did not begin are given up, and what the calls went through is closed."""
        for pool in (self._batches, self._awaited):
            pool.shutdown(wait=False, cancel_futures=True)
        if self._on_close is not None:
            self._on_close()

    def _cases(self, task: JudgeTask) -> list[_Case]:
        """Wanted claims that fit into a prompt; the others are missing."""
        found = []
        for index in task.wanted:
            try:
                inquiry = self._prompt.inquiry(task.item, index, task.below[index])
            except TooLong:
                continue
            found.append(_Case(task, index, inquiry, key_of(self.fingerprint, task.rule.repeats, inquiry)))
        return found

    def _asked(self, cases: Sequence[_Case], deadline: float | None) -> dict[str, _Answer]:
        pool = self._batches if deadline is None else self._awaited
        asked = [(case, bill := Bill(), pool.submit(self._ask, case, bill, deadline)) for case in cases]
        futures = [future for _, _, future in asked]
        wait(futures, timeout=None if deadline is None else max(0.0, deadline - self._line.clock()))
        return {case.key: self._answer_of(case, bill, future) for case, bill, future in asked}

    def _answer_of(self, case: _Case, bill: Bill, future: Future[_Answer]) -> _Answer:
        """What came of it; a call that is not over by now is left to end by itself, and is billed as timed out."""
        if future.cancel() or not future.done():
            late = Unjudged(Outcome.ERROR_TIMEOUT, LayerReason.OUT_OF_TIME)
            return _Answer(failed=late, bill=bill, asker=case, ended=self._line.clock())
        return future.result()

    def _ask(self, case: _Case, bill: Bill, deadline: float | None) -> _Answer:
        """In a thread of a pool; what is paid for is kept at once, whether or not anybody still waits for it."""
        answer = _Answer(bill=bill, asker=case)
        runs = case.task.rule.repeats
        try:
            asker = Asker(self._line, case.task.payer, deadline, answer.bill)
            settled = verdict_on(case.inquiry, Manner(self._limits.reply_tokens, runs), asker)
            answer.kept = packed(settled, runs, case.inquiry)
            self._cache.put({case.key: answer.kept})
        except Unjudged as error:
            answer.failed = error
        except Exception:  # noqa: BLE001 - whatever a client does with odd text, the claim has an outcome
            answer.failed = Unjudged(Outcome.ERROR_MODEL)
        answer.ended = self._line.clock()
        return answer

    def _result(
        self, task: JudgeTask, cases: Sequence[_Case], answers: Mapping[str, _Answer], began: float
    ) -> JudgeResult:
        judgements = {index: _failed(Outcome.ERROR_TOO_LONG) for index in task.wanted}
        bill, cached, ended = Bill(), 0, began
        stopped: set[LayerReason | None] = set()
        for case in cases:
            answer = answers[case.key]
            judgements[case.index] = self._judgement(case, answer)
            ended = max(ended, answer.ended)
            if answer.asker is case:
                bill.add(answer.bill.spent)
            elif answer.kept is not None:
                cached += 1
            if answer.failed is not None:
                stopped.add(answer.failed.stopped)
        spent = replace(bill.spent, cached=cached, took_ms=(ended - began) * _MILLISECONDS)
        self._account(task, judgements, cached)
        return JudgeResult(judgements, spent, next((reason for reason in _WORST_FIRST if reason in stopped), None))

    def _judgement(self, case: _Case, answer: _Answer) -> ClaimJudgement:
        if answer.kept is None:
            return _failed(answer.failed.outcome if answer.failed else Outcome.ERROR_MODEL)
        below = case.task.below[case.index]
        shown = named(answer.kept, case.inquiry)
        evidence = self._prompt.evidence(case.task.item, case.index, below, shown) if shown else None
        return unpacked(answer.kept, below, evidence)

    def _account(self, task: JudgeTask, judgements: Mapping[int, ClaimJudgement], cached: int) -> None:
        if cached:
            self._line.purse.settle(task.payer, 0, Spent(cached=cached))
        for judgement in judgements.values():
            self._line.counts.add(judgement.error.value if judgement.error else "judged")
        self._line.counts.add("cached", cached)


def _failed(outcome: Outcome) -> ClaimJudgement:
    return ClaimJudgement(error=outcome, layer=Layer.L3)
