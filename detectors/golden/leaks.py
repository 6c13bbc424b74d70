"""Leaks over the border of a split: what was tuned on must not be measured on under another id."""

from collections.abc import Iterator

from detectors.golden.near import near_pairs
from detectors.golden.problem import Problem, doubt, fault
from detectors.golden.sets import GoldenSet

_SAME = ("answer", "corpus_version", "is_answerable", "intent")


def leak_problems(golden: GoldenSet, similarity: float) -> Iterator[Problem]:
    """One problem a case that shares source, trace or question with an earlier case of another split."""
    cases = golden.cases
    for name in ("source_id", "trace_id"):
        first: dict[str, int] = {}
        for place, case in enumerate(cases):
            value = getattr(case, name)
            if not value:
                continue
            earlier = cases[first.setdefault(value, place)]
            if earlier.split is not case.split:
                yield fault(
                    case, golden.line(place), name, f"{value!r} {_border(earlier.case_id, earlier.split, case.split)}"
                )
    told: set[int] = set()
    for pair in near_pairs([case.question for case in cases], similarity):
        one, other = cases[pair.first], cases[pair.second]
        if pair.second in told:
            continue
        if one.split is not other.split:
            told.add(pair.second)
            near = f"is nearly that of {one.case_id} ({pair.similarity:.2f})"
            border = _border(one.case_id, one.split, other.split)
            yield fault(other, golden.line(pair.second), "question", f"{near} and {border}")
        elif pair.similarity == 1 and all(getattr(one, name) == getattr(other, name) for name in _SAME):
            told.add(pair.second)
            yield doubt(
                other, golden.line(pair.second), "question", f"{one.case_id} asks the same; one of the two adds nothing"
            )


def _border(case_id: str, one: str, other: str) -> str:
    return f"is in {other}, while {case_id} is in {one}; `golden split` keeps such cases together"
