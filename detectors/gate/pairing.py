"""Two runs over the same golden cases, case by case; counts only, tests and intervals are for the caller."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from detectors.gate.results import CaseResult, Status

MISSING = "missing"
"""The label of an answer that a run does not have."""


class Change(StrEnum):
    """What became of a case from one run to the other."""

    NEWLY_FAILED = "newly_failed"
    NEWLY_PASSED = "newly_passed"
    STILL_FAILED = "still_failed"
    STILL_PASSED = "still_passed"
    UNDECIDED = "undecided"
    """In at least one run nobody knows: the detector failed, or the answer is for a person to decide."""


@dataclass(frozen=True, slots=True)
class CasePair:
    """A case in two runs."""

    before: CaseResult
    after: CaseResult

    @property
    def change(self) -> Change:
        """What became of it."""
        return _CHANGES.get((self.before.status, self.after.status), Change.UNDECIDED)

    @property
    def flip(self) -> str:
        """``grounded -> hallucinated`` where the label of the answer changed, else empty."""
        before, after = label_of(self.before), label_of(self.after)
        return "" if before == after else f"{before} -> {after}"


_CHANGES = {
    (Status.PASSED, Status.PASSED): Change.STILL_PASSED,
    (Status.PASSED, Status.FAILED): Change.NEWLY_FAILED,
    (Status.FAILED, Status.PASSED): Change.NEWLY_PASSED,
    (Status.FAILED, Status.FAILED): Change.STILL_FAILED,
}


def label_of(result: CaseResult) -> str:
    """The outcome of an answer, ``missing`` without one."""
    return MISSING if result.outcome is None else result.outcome.value


def pair_up(before: Iterable[CaseResult], after: Iterable[CaseResult]) -> tuple[CasePair, ...]:
    """The cases of both runs in the order of the later one; a case that only one of them has is left out."""
    known = {result.case_id: result for result in before}
    return tuple(CasePair(known[result.case_id], result) for result in after if result.case_id in known)


def changes_of(pairs: Sequence[CasePair]) -> Counter[Change]:
    """How many cases each change has."""
    return Counter(pair.change for pair in pairs)


def flips_of(pairs: Sequence[CasePair]) -> dict[str, int]:
    """How often each change of label occurs, most frequent first."""
    return dict(sorted(Counter(pair.flip for pair in pairs if pair.flip).items(), key=lambda item: (-item[1], item[0])))
