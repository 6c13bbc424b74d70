"""The judge (L3) on a batch of answers: the claims of which the layer below is unsure, and all of a suspect answer.

Its label holds. A claim that it was wanted for and did not judge is an error with the reason, never the word of the
layer below, except where somebody waits for the answer: then time that ran out is said in the routing table.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from detectors.allowance import Allowance
from detectors.course import Course, have_time, waiting
from detectors.guarding import ask_guarded, is_spent
from detectors.layers import ClaimJudge, JudgeResult, JudgeTask
from detectors.newest import kept_passages, with_index, without_outdated
from detectors.routing import Wanted, not_run, row, wanted_claims
from schemas.labels import ClaimLabel, Layer, Outcome
from schemas.layers import LayerReason, LayerRun
from schemas.routes import JudgeRule
from schemas.verdict import ClaimJudgement

_FAILED = ClaimJudgement(error=Outcome.ERROR_INTERNAL)
_NO_LABELS = frozenset({None, ClaimLabel.NOT_FACTUAL})
"""What a claim that is to be judged cannot be found to be."""


@dataclass(frozen=True, slots=True)
class _Case:
    """An answer of which a judge is wanted; ``kept`` are the passages that it sees, None for all."""

    course: Course
    rule: JudgeRule
    wanted: Wanted
    why: LayerReason
    kept: Sequence[int] | None

    def task(self) -> JudgeTask:
        """What the judge is given; outdated versions are not among its passages, as the newest one decides."""
        course, kept = self.course, self.kept
        if kept is None:
            return JudgeTask(course.payer, course.item, self.wanted.asked, course.judgements, self.rule)
        item, below = without_outdated(course.item, course.judgements, kept)
        return JudgeTask(course.payer, item, self.wanted.asked, below, self.rule)


def run_judge(courses: Sequence[Course], judge: ClaimJudge, allowance: Allowance) -> None:
    """L3 on the answers that have claims for it, in one call."""
    cases = [case for course in waiting(courses, Layer.L3) if (case := _case(course)) is not None]
    if not cases or not have_time([case.course for case in cases], Layer.L3, allowance):
        return
    tasks = [case.task() for case in cases]
    results = ask_guarded(lambda some: judge.judge(some, allowance.deadline), tasks, _is_sound)
    for case, task, result in zip(cases, tasks, results, strict=True):
        _settle(case, task, result, may_keep=allowance.is_limited)


def _case(course: Course) -> _Case | None:
    rule = course.plan.judge
    is_suspect = course.consistency is not None and course.consistency.is_flagged
    wanted = wanted_claims(course.judgements, rule, is_suspect=is_suspect) if rule else Wanted()
    if rule is None or not wanted.asked:
        course.note(not_run(Layer.L3, LayerReason.NOT_IN_BAND))
        return None
    why = LayerReason.SUSPECT if is_suspect else LayerReason.IN_BAND
    return _Case(course, rule, wanted, why, kept_passages(course.ready))


def _is_sound(_: JudgeTask, result: JudgeResult) -> bool:
    return is_spent(result.spent) and all(isinstance(one, ClaimJudgement) for one in result.judgements.values())


def _settle(case: _Case, task: JudgeTask, result: JudgeResult | None, *, may_keep: bool) -> None:
    course, rule = case.course, case.rule
    judgements = [*course.judgements]
    words = {index: _word(task, result, index) for index in case.wanted.asked}
    line = _row(case, result, sum(word.error is None for word in words.values()))
    is_late = may_keep and line.why is LayerReason.OUT_OF_TIME
    for index, word in words.items():
        if word.error is not Outcome.ERROR_TIMEOUT or not is_late:
            judgements[index] = _in_place_of(judgements[index], word, case.kept, has_run=line.ran)
    for index in case.wanted.capped:
        why = f"not judged: the route lets a judge see {rule.max_claims} claims of an answer (max_claims)"
        judgements[index] = ClaimJudgement(error=Outcome.ERROR_BUDGET, why=why)
    course.judgements = judgements
    course.note(line)


def _word(task: JudgeTask, result: JudgeResult | None, index: int) -> ClaimJudgement:
    """What the judge said of a claim, or ``error:internal`` where that is nothing that can be said."""
    said = result.judgements.get(index, _FAILED) if result else _FAILED
    if said.error is not None:
        return said if said.error.is_error else _FAILED
    has_passage = said.evidence is None or said.evidence.passage < len(task.item.passages)
    return said if has_passage and said.label not in _NO_LABELS else _FAILED


def _in_place_of(
    below: ClaimJudgement, word: ClaimJudgement, kept: Sequence[int] | None, *, has_run: bool
) -> ClaimJudgement:
    """The judge's word with the scores of the layer below, which rates and bars go on to use."""
    if word.error is not None:
        has_seen = has_run and word.error is not Outcome.ERROR_BUDGET
        return ClaimJudgement(error=word.error, why=word.why, layer=Layer.L3 if has_seen else None)
    found = word if kept is None else with_index(word, kept)
    scores = {"support": below.support, "contradiction": below.contradiction}
    return found.model_copy(update={**scores, "layer": Layer.L3})


def _row(case: _Case, result: JudgeResult | None, judged: int) -> LayerRun:
    if result is None:
        return row(Layer.L3, LayerReason.FAILED, ran=True)
    spent = result.spent
    if result.stopped is not None:
        why = result.stopped
    elif not judged:
        why = LayerReason.FAILED
    else:
        why = LayerReason.CAPPED if case.wanted.capped else case.why
    has_run = judged > 0 or spent.calls > 0 or spent.cached > 0
    return row(Layer.L3, why, ran=has_run, claims=judged, spent=spent)
