"""Checks the hops of answers that were made in several, and traces claims of the answer back through them.

The detector that judged the answer is asked, never a judge, in one call for all answers of the same one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from detectors.allowance import Allowance
from detectors.course import Course, by_detector
from detectors.hops.steps import Step, Steps, read_steps
from detectors.hops.summary import hop_verdict
from detectors.hops.tracing import ANSWER, Against, Key, Traced, explained, is_open, trace_claim, trace_steps
from detectors.judging import judge_guarded
from detectors.newest import with_index
from detectors.outcome import label_claim
from schemas.claim import CheckItem, Claim
from schemas.labels import ClaimLabel, Outcome
from schemas.policy import PolicyDocument, Thresholds
from schemas.trace import Passage
from schemas.verdict import ClaimJudgement, HopVerdict

_LATE = ClaimJudgement(error=Outcome.ERROR_TIMEOUT)


@dataclass(frozen=True, slots=True)
class _Question:
    """Claims against texts: ``key`` says whose and which, ``positions`` which claims of the answer they are.

    ``places`` are those of the texts in the context of the trace; None where the texts are outputs of hops.
    """

    key: Key
    item: CheckItem
    positions: tuple[int, ...] = ()
    places: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class _Case:
    """An answer with hops, and what is to be asked about it."""

    course: Course
    thresholds: Thresholds
    read: Steps
    questions: tuple[_Question, ...]


def check_hops(
    courses: Sequence[Course],
    policies: Sequence[PolicyDocument],
    allowance: Allowance,
    *,
    max_answer_bytes: int,
    attempts: int = 3,
) -> None:
    """Note on each course how its hops fared, and which hop brought each claim of the answer; labels may follow.

    A claim that the sources alone do not support is as supported as the claims of the hop that says so; the word of a
    judge stands. Where somebody waits and time ran out, hops are ``error:timeout`` and change nothing. Raises
    Retryable.
    """
    for places in by_detector(courses):
        cases = [
            _case(courses[place], policies[place], max_answer_bytes) for place in places if _has_hops(courses[place])
        ]
        items = [question.item for case in cases for question in case.questions]
        is_late = not allowance.has_time_for(courses[places[0]].layer)
        judged = iter(
            [[_LATE] * len(item.claims) for item in items]
            if is_late
            else judge_guarded(courses[places[0]].detector, items, attempts)
        )
        for case in cases:
            _settle(case, [next(judged) for _ in case.questions])


def _has_hops(course: Course) -> bool:
    return bool(course.ready.trace.hops) and course.ready.needs_judging


def _case(course: Course, policy: PolicyDocument, max_bytes: int) -> _Case:
    read = read_steps(course.ready, course.item.passages, policy.claims.split, max_bytes)
    questions = (*_of_steps(course, read.steps), *_of_answer(course, read, policy.thresholds))
    return _Case(course, policy.thresholds, read, questions)


def _of_steps(course: Course, steps: Sequence[Step]) -> Iterator[_Question]:
    context, asked = course.item.passages, course.item.question
    for place, step in enumerate(steps):
        question, output = step.hop.question or asked, step.hop.output
        if step.claims and step.sources:
            texts = tuple(context[source] for source in step.sources)
            item = CheckItem(question, texts, output, step.claims)
            yield _Question((place, Against.SOURCES), item, places=step.sources)
        if step.claims and step.earlier:
            item = CheckItem(question, _outputs(steps, step.earlier), output, step.claims)
            yield _Question((place, Against.EARLIER), item)


def _of_answer(course: Course, read: Steps, thresholds: Thresholds) -> Iterator[_Question]:
    """Claims that the sources do not support, or only texts that repeat a hop; a judge's word is not asked about."""
    item, judgements = course.item, course.judgements
    echoed = tuple(at for at, one in enumerate(judgements) if _rests_on_echo(one, read, thresholds))
    doubted = (at for at, one in enumerate(judgements) if one.label is None and is_open(one, thresholds))
    positions = tuple(sorted({*echoed, *doubted}))
    if positions and read.before_answer:
        texts = _outputs(read.steps, read.before_answer)
        asked = CheckItem(item.question, texts, item.answer, _some(item.claims, positions))
        yield _Question((ANSWER, Against.EARLIER), asked, positions)
    if echoed:
        kept = tuple(place for place in range(len(item.passages)) if place not in read.echoes)
        texts = tuple(item.passages[place] for place in kept)
        asked = CheckItem(item.question, texts, item.answer, _some(item.claims, echoed))
        yield _Question((ANSWER, Against.SOURCES), asked, echoed, kept)


def _rests_on_echo(judgement: ClaimJudgement, read: Steps, thresholds: Thresholds) -> bool:
    evidence = judgement.evidence
    is_own_word = judgement.label is None and evidence is not None and evidence.passage in read.echoes
    return is_own_word and label_claim(judgement, thresholds).label is ClaimLabel.SUPPORTED


def _outputs(steps: Sequence[Step], places: Sequence[int]) -> tuple[Passage, ...]:
    return tuple(Passage(doc_id=f"hop:{steps[place].number + 1}", text=steps[place].hop.output) for place in places)


def _some(claims: Sequence[Claim], positions: Sequence[int]) -> tuple[Claim, ...]:
    return tuple(claims[position] for position in positions)


def _settle(case: _Case, judged: Sequence[Sequence[ClaimJudgement]]) -> None:
    course, read, hops = case.course, case.read, case.course.ready.trace.hops
    answers = {
        question.key: [one if question.places is None else with_index(one, question.places) for one in judgements]
        for question, judgements in zip(case.questions, judged, strict=True)
    }
    trail = trace_steps(read.steps, answers, case.thresholds)
    course.hops = tuple(_row(step, found, case) for step, found in zip(read.steps, trail.traced, strict=True))
    course.hops_left_out = read.left_out
    asked = {question.key: question.positions for question in case.questions}
    judgements = [*course.judgements]
    _replace(judgements, asked.get((ANSWER, Against.SOURCES), ()), answers.get((ANSWER, Against.SOURCES), ()))
    brought = _brought(judgements, read)
    said = zip(asked.get((ANSWER, Against.EARLIER), ()), answers.get((ANSWER, Against.EARLIER), ()), strict=True)
    for position, one in said:
        claim = course.ready.claims[position]
        found = trace_claim(claim, judgements[position], one, read.before_answer, trail)
        if found is not None:
            judgements[position], brought[position] = explained(found, hops, case.thresholds), found.hop
    course.judgements, course.hop_of = judgements, brought


def _row(step: Step, found: Sequence[Traced], case: _Case) -> HopVerdict:
    return hop_verdict(step, found, case.course.ready.trace.hops, case.thresholds)


def _replace(judgements: list[ClaimJudgement], positions: Sequence[int], found: Sequence[ClaimJudgement]) -> None:
    """Set what was judged without echoes in place of what was judged with them; an error leaves what was there."""
    for position, one in zip(positions, found, strict=True):
        if one.error is None:
            judgements[position] = one


def _brought(judgements: Sequence[ClaimJudgement], read: Steps) -> dict[int, int]:
    """By claim of the answer the hop that was given its evidence."""
    found = {at: one.evidence.passage for at, one in enumerate(judgements) if one.evidence is not None}
    return {at: read.hop_of[place] for at, place in found.items() if place in read.hop_of}
