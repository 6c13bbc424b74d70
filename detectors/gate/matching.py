"""Which answer of a run belongs to which golden case: by a name that the run gives, by trace id, or by the question.

Nothing is guessed: what could belong to two cases, and a case that is answered twice, are faults that name both.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from detectors.golden.near import normal
from schemas.golden import GoldenCase
from schemas.trace import Trace


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """One line of a run: where it stands, its trace, and the case that it names itself (empty: none)."""

    where: str
    trace: Trace
    golden_case: str = ""


@dataclass(frozen=True, slots=True)
class Matched:
    """Answers by case id, what belongs to no case, and the faults that make the run unusable."""

    by_case: Mapping[str, RunAnswer]
    strangers: tuple[RunAnswer, ...] = ()
    faults: tuple[str, ...] = ()


def match_answers(cases: Sequence[GoldenCase], answers: Sequence[RunAnswer], others: Sequence[str] = ()) -> Matched:
    """The answers by case: ``golden_case`` first, then a trace id that is a case id, then the same question.

    Questions are the same when their words are: case, punctuation and space do not count. ``others`` are ids of cases
    that are not asked for here; their answers are neither strangers nor faults.
    """
    by_question: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        by_question[normal(case.question)].append(case.case_id)
    ids, passed_over = {case.case_id for case in cases}, set(others)
    found: dict[str, RunAnswer] = {}
    strangers: list[RunAnswer] = []
    faults: list[str] = []
    for answer in answers:
        if {answer.golden_case or answer.trace.trace_id} & passed_over:
            continue
        candidates = _candidates(answer, ids, by_question)
        if answer.golden_case and not candidates:
            faults.append(f"{answer.where}: golden_case {answer.golden_case!r} is no case of the set; correct the id")
        elif len(candidates) > 1:
            both = " and ".join(repr(name) for name in candidates)
            faults.append(f"{answer.where}: the question is that of {both}; say which by `golden_case`")
        elif not candidates:
            strangers.append(answer)
        elif candidates[0] in found:
            first = found[candidates[0]].where
            faults.append(f"{answer.where}: {candidates[0]!r} is answered on {first} already; keep one of the two")
        else:
            found[candidates[0]] = answer
    return Matched(found, tuple(strangers), tuple(faults))


def _candidates(answer: RunAnswer, ids: set[str], by_question: Mapping[str, Sequence[str]]) -> Sequence[str]:
    if answer.golden_case:
        return [answer.golden_case] if answer.golden_case in ids else []
    if answer.trace.trace_id in ids:
        return [answer.trace.trace_id]
    asked = normal(answer.trace.question)
    return by_question.get(asked, ()) if asked else ()
