"""Verification: drawn traces to verdicts, through the layers that the policy's routes name and the process has."""

from collections.abc import Sequence
from datetime import datetime
from time import perf_counter

from detectors.adjudication import run_judge
from detectors.allowance import Allowance
from detectors.cascade import run_consistency, run_models
from detectors.claims.llm import LlmSplitter
from detectors.course import Course
from detectors.detector import Detector
from detectors.first_look import FirstLook, first_look
from detectors.hops import check_hops
from detectors.layers import Layers
from detectors.preparation import Clock, Prepared
from detectors.routing import plan_of, route_of
from detectors.second_looks import Looked, look_again, settle_outdated
from detectors.structural import MAX_ANSWER_BYTES, StructuralFindings
from detectors.verdicts import Run, build_verdict
from schemas.draw import DrawnTrace
from schemas.labels import Layer, Outcome
from schemas.policy import PolicyDocument
from schemas.verdict import Verdict

SECOND_LOOKS = "second_looks"
"""The step of judging single claims again, in ``timings_ms``."""
_NO_LAYERS = Layers()
_NO_LIMIT = Allowance()


def verify(  # noqa: PLR0913 - four inputs, the rest are layers and limits with defaults
    drawn: Sequence[DrawnTrace],
    policies: Sequence[PolicyDocument],
    detector: Detector,
    now: datetime,
    *,
    above: Layers = _NO_LAYERS,
    allowance: Allowance = _NO_LIMIT,
    max_answer_bytes: int = MAX_ANSWER_BYTES,
    attempts: int = 3,
    splitter: LlmSplitter | None = None,
    clock: Clock = perf_counter,
) -> list[Verdict]:
    """One verdict per drawn trace, in order; ``policies`` are those in force at each trace's event time.

    ``detector`` is L1, asked about what ingest has not judged with the same one already; of the layers ``above`` it
    each answer takes those that its route names. Each layer takes one call for all answers, and second looks (outdated
    versions, hops, doubtful citations, what only the user may have said) one more each. With ``splitter`` a language
    model splits the answers, and the rules where it fails.

    ``allowance`` is for answers that somebody waits for: layers without time are left out, and the routing table says
    so. Never raises for what a trace contains, or for what a judge does. Raises Retryable when a detector is away.
    """
    began = clock()
    looks = first_look(
        drawn, policies, detector, splitter=splitter, max_answer_bytes=max_answer_bytes, attempts=attempts, clock=clock
    )
    courses = [_course(look, policy, detector, above) for look, policy in zip(looks, policies, strict=True)]
    looked, looking_ms = _run_layers(
        courses, policies, above, allowance, max_answer_bytes=max_answer_bytes, attempts=attempts, clock=clock
    )
    took_ms = (clock() - began) * 1000 / max(1, len(drawn))
    run = Run(detector.fingerprint, above, now, took_ms, splitter.name if splitter else "")
    return [
        build_verdict(course, policy, run, found, {**look.timings_ms, SECOND_LOOKS: looking_ms})
        for course, policy, found, look in zip(courses, policies, looked, looks, strict=True)
    ]


def give_up(
    drawn: Sequence[DrawnTrace],
    policies: Sequence[PolicyDocument],
    detector: Detector,
    now: datetime,
    above: Layers = _NO_LAYERS,
) -> list[Verdict]:
    """``error:internal`` for each drawn trace, in order: processes died at them, so no layer looks at them."""
    verdicts = []
    for item, policy in zip(drawn, policies, strict=True):
        ready = Prepared(item.trace, (), StructuralFindings(Outcome.ERROR_INTERNAL))
        course = _course(FirstLook(ready, (), {Layer.L1: 0.0}), policy, detector, above)
        verdicts.append(build_verdict(course, policy, Run(detector.fingerprint, above, now, 0.0), Looked(), {}))
    return verdicts


def _course(look: FirstLook, policy: PolicyDocument, detector: Detector, above: Layers) -> Course:
    trace = look.ready.trace
    plan = plan_of(route_of(policy, trace.intent, trace.tier), above)
    course = Course(look.ready, plan, detector, look.judgements)
    course.begin(look.timings_ms[Layer.L1])
    return course


def _run_layers(  # noqa: PLR0913 - what all layers need
    courses: Sequence[Course],
    policies: Sequence[PolicyDocument],
    above: Layers,
    allowance: Allowance,
    *,
    max_answer_bytes: int,
    attempts: int,
    clock: Clock,
) -> tuple[list[Looked], float]:
    """Take each course through its layers; what second looks found, and each answer's part of their time.

    Outdated versions are set aside before the judge is asked, so that it sees what is in force; hops are looked at
    after it, so that they change none of its words.
    """
    if above.models is not None:
        run_models(courses, above.models, allowance, attempts, clock)
    began = clock()
    rested = settle_outdated(courses, policies, attempts)
    was_settled = clock()
    if above.consistency is not None:
        run_consistency(courses, above.consistency, allowance)
    if above.judge is not None:
        run_judge(courses, above.judge, allowance)
    was_judged = clock()
    check_hops(courses, policies, allowance, max_answer_bytes=max_answer_bytes, attempts=attempts)
    looked = look_again(courses, policies, rested, attempts)
    seconds = was_settled - began + clock() - was_judged
    return looked, seconds * 1000 / max(1, len(courses))
