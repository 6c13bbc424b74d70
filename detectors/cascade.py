"""The layers above L1 on a batch of answers: models (L2), then other answers of the same model (L4); the judge is next.

Each layer takes one call for all answers of the batch. What a layer does wrong is an outcome of the claims that it was
asked about, or a row of the routing table; it never costs another answer its verdict.
"""

from collections.abc import Sequence

from detectors.allowance import Allowance
from detectors.consistency.causes import why_check
from detectors.course import Course, have_time, waiting
from detectors.guarding import ask_guarded, is_spent
from detectors.judging import judge_after_guarded
from detectors.layers import ConsistencyCheck, ConsistencyResult, ConsistencyTask, Spent, StackedDetector
from detectors.preparation import Clock
from detectors.routing import not_run, row
from schemas.labels import Layer
from schemas.layers import LayerReason
from schemas.routes import ConsistencyRule


def run_models(
    courses: Sequence[Course], models: StackedDetector, allowance: Allowance, attempts: int, clock: Clock
) -> None:
    """L2 in L1's place on every answer whose route has it; an answer that it cannot judge is ``error:model``.

    Raises Retryable when the models are away as a whole.
    """
    wanted = waiting(courses, Layer.L2)
    if not wanted or not have_time(wanted, Layer.L2, allowance):
        return
    began = clock()
    judged = judge_after_guarded(
        models, [course.item for course in wanted], [course.judgements for course in wanted], attempts
    )
    took = Spent(took_ms=(clock() - began) * 1000 / len(wanted))
    for course, judgements in zip(wanted, judged, strict=True):
        course.judgements, course.detector, course.layer = judgements, models, Layer.L2
        has_failed = bool(judgements) and all(one.error is not None for one in course.factual())
        why = LayerReason.FAILED if has_failed else LayerReason.ROUTED
        course.note(row(Layer.L2, why, ran=True, claims=course.judged(), spent=took))


def run_consistency(courses: Sequence[Course], check: ConsistencyCheck, allowance: Allowance) -> None:
    """L4 on the answers that give cause; what it finds is noted, and no label changes."""
    causes: list[tuple[Course, ConsistencyRule, LayerReason]] = []
    for course in waiting(courses, Layer.L4):
        rule = course.plan.consistency
        cause = why_check(rule, course.judgements, course.ready.trace) if rule else None
        if rule is None or cause is None:
            course.note(not_run(Layer.L4, LayerReason.NO_CAUSE))
        else:
            causes.append((course, rule, cause))
    if not causes or not have_time([course for course, _, _ in causes], Layer.L4, allowance):
        return
    tasks = [ConsistencyTask(course.payer, course.ready.trace, course.item, rule) for course, rule, _ in causes]
    results = ask_guarded(lambda some: check.check(some, allowance.deadline), tasks, _is_sound)
    for (course, _, cause), result in zip(causes, results, strict=True):
        if result is None:
            course.note(row(Layer.L4, LayerReason.FAILED, ran=True))
            continue
        course.consistency = result.found
        compared = len(course.factual()) if result.found else 0
        why = result.stopped or (cause if result.found else LayerReason.FAILED)
        has_run = result.found is not None or result.spent.calls > 0
        course.note(row(Layer.L4, why, ran=has_run, claims=compared, spent=result.spent))


def _is_sound(_: ConsistencyTask, result: ConsistencyResult) -> bool:
    return is_spent(result.spent) and (result.found is not None or result.stopped is not None)
