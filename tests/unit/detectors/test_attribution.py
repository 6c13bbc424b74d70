"""Claims whose citations do not hold although the context supports them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from detectors.attribution import find_misattributed
from detectors.preparation import prepare
from schemas.claim import CheckItem
from schemas.finding import Finding, StructuralRule
from schemas.labels import Outcome
from schemas.trace import Passage
from schemas.verdict import ClaimJudgement
from tests.builders import evidence, passage, policy, trace

WEAK = ClaimJudgement(support=0.1, contradiction=0.0)
MISMATCH, IRRELEVANT = StructuralRule.CITATION_MISMATCH, StructuralRule.CITATION_IRRELEVANT
RED, ROUND, ALSO_RED = (
    passage("It is red.", doc_id="a"),
    passage("Round.", doc_id="b"),
    passage("Red: red.", doc_id="c"),
)
HALVES = (passage("It is re", doc_id="a"), passage("d or so.", doc_id="b"))


@dataclass
class WordRed:
    """Supports a claim where the passages together hold ``red``, and points at the first that does; counts calls."""

    name: str = "red"
    fingerprint: str = "red-1"
    calls: list[int] = field(default_factory=list)

    def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
        """One judgement per claim."""
        self.calls.append(len(items))
        return [[self._judge(item.passages) for _ in item.claims] for item in items]

    def _judge(self, passages: Sequence[Passage]) -> ClaimJudgement:
        if "red" not in "".join(one.text for one in passages):
            return WEAK
        number = next((place for place, one in enumerate(passages) if "red" in one.text), 0)
        return ClaimJudgement(support=0.9, contradiction=0.0, evidence=evidence("red", passage=number))


def misattributed(answer: str, passages: tuple[Passage, ...], detector: WordRed) -> list[Finding]:
    """The findings on one answer, judged by ``detector`` before."""
    ready = prepare(trace(answer=answer, passages=passages), policy(), 100_000)
    (judged,) = detector.judge([ready.to_item()])
    (found,) = find_misattributed([ready], [judged], [policy()], detector)
    return found


CASES = [
    ("It is red [1].", (RED, ROUND), []),
    ("It is red [2].", (RED, ROUND), [(MISMATCH, 1, "cites b; supported by a")]),
    ("It is red [1][2].", (RED, ROUND), [(IRRELEVANT, 1, "b")]),
    ("It is red [1][3].", (RED, ROUND, ALSO_RED), []),
    ("It is red [2][3].", (RED, ROUND, ALSO_RED), []),
    ("It is red [3].", (RED, ROUND, ALSO_RED), []),
    ("It is red [1][2].", HALVES, []),
    ("It is red.", (RED, ROUND), []),
    ("It is red [1].", (ROUND,), []),
]


@pytest.mark.parametrize(("answer", "passages", "expected"), CASES)
def test_each_citation_is_looked_at_where_another_passage_could_hide_it(
    answer: str, passages: tuple[Passage, ...], expected: list[tuple[StructuralRule, int, str]]
) -> None:
    """Cited passages that support a claim only together are both right."""
    found = misattributed(answer, passages, WordRed())

    assert expected == [(one.rule, one.passage, one.detail) for one in found]
    assert all(one.claim == 0 for one in found)


def test_all_second_looks_of_a_batch_are_one_call() -> None:
    """One citation beside its evidence needs none."""
    detector = WordRed()
    ready = [
        prepare(trace(answer=answer, passages=(RED, ROUND)), policy(), 100_000)
        for answer in ("It is red [2].", "It is red [1, 2]. It is red [1].")
    ]
    judged = detector.judge([one.to_item() for one in ready])
    found = find_misattributed(ready, judged, [policy()] * 2, detector)

    assert [2, 3] == detector.calls
    assert [[MISMATCH], [IRRELEVANT]] == [[one.rule for one in findings] for findings in found]


def test_a_second_look_that_fails_counts_for_the_answer() -> None:
    """Nothing is said that was not seen."""

    class Failing(WordRed):
        def _judge(self, passages: Sequence[Passage]) -> ClaimJudgement:
            judged = super()._judge(passages)
            return ClaimJudgement(error=Outcome.ERROR_TIMEOUT) if judged == WEAK else judged

    assert [] == misattributed("It is red [2].", (RED, ROUND), Failing())


def test_the_number_of_second_looks_is_bounded() -> None:
    """A thousand claims with several citations each cost sixty looks; a claim that cites everything costs none."""
    detector = WordRed()
    misattributed(" ".join(["It is red [1][2]."] * 1000), (RED, ROUND), detector)
    misattributed("It is red " + "".join(f"[{n}]" for n in range(1, 20)) + ".", (RED, *[ROUND] * 18), detector)

    assert [1, 60, 1] == detector.calls
