"""Fitting of the stack: the network is heard where it helps on every data set, and L1 alone elsewhere."""

from collections.abc import Callable
from math import tanh
from pathlib import Path
from typing import Any

import pytest

from detectors.models.answerkinds import AnswerKind
from detectors.models.own import Reading
from detectors.models.own.earned import earned, scored
from detectors.models.own.fit_stack import dump, fit
from detectors.models.own.held_out import Answer
from detectors.models.stacking import KindWeights, load_stack_weights
from schemas.claim import CheckItem
from schemas.verdict import ClaimJudgement
from tests.builders import passage

Says = Callable[[int, bool], float]
"""What the network says of a claim by its number and whether it is supported."""


def helps(number: int, supported: bool) -> float:
    """Right nearly always."""
    return (2.0 if supported else -2.0) * (-1 if number % 11 == 0 else 1)


def misleads(number: int, supported: bool) -> float:
    """The other way round."""
    return -helps(number, supported)


def knows_nothing(number: int, _: bool) -> float:
    """As often right as wrong, whatever the claim is."""
    return 3.0 if number // 2 % 3 else -3.0


def answers(dataset: str, says: Says, *, kind: AnswerKind = AnswerKind.SUMMARY, count: int = 120) -> list[Answer]:
    """Answers of one claim, every second one wrong, on which L1 is right four times of five."""
    return [_answer(dataset, number, says, kind) for number in range(count)]


def _answer(dataset: str, number: int, says: Says, kind: AnswerKind) -> Answer:
    supported = number % 2 == 0
    below = (1.0 if supported else -1.0) * (-1 if number // 2 % 5 == 0 else 1) + number % 7 / 10
    record: dict[str, Any] = {"dataset": dataset, "source_id": str(number % 12), "hallucinated": not supported}
    first = ClaimJudgement(support=0.5 * (1 + tanh(0.5 * below)))
    item = CheckItem("", (passage("Ann paid."),), "Ann paid.", [])
    return Answer(record, item, kind, (supported,), (first,), (Reading(says(number, supported)),))


def test_a_network_that_helps_is_heard_and_no_more_than_l1() -> None:
    """And a claim's own word is taken where the mean over the answer would do the same."""
    found = earned(scored(answers("ragtruth", helps)))

    assert found.own > 0
    assert found.own_mean == 0
    assert found.own <= 1


@pytest.mark.parametrize("says", [misleads, knows_nothing], ids=["misleads", "knows nothing"])
def test_a_network_that_does_not_help_is_not_heard(says: Says) -> None:
    """L1 alone is the place to fall back to; the same where there is nothing to learn from."""
    assert KindWeights() == earned(scored(answers("ragtruth", says)))
    assert KindWeights() == earned([])


def test_one_data_set_that_loses_is_enough_to_refuse() -> None:
    """However much the others gain: nobody knows which of them a user's answers are like."""
    found = answers("ragtruth", helps) + answers("summedits", helps) + answers("bump", misleads, count=24)

    assert KindWeights() == earned(scored(found))


def test_kinds_are_fitted_apart_and_written_as_they_are_read(tmp_path: Path) -> None:
    """Each kind has its own weights; one with enough wrong natural claims is calibrated, another takes L1's scale."""
    found = [
        *answers("ragtruth", helps, kind=AnswerKind.RECORDS),
        *answers("ragtruth", knows_nothing, kind=AnswerKind.QUESTION),
        *answers("wice", helps, kind=AnswerKind.STATEMENT),
    ]

    weights = fit(found)
    dump(weights, tmp_path / "stack.json")

    assert weights == load_stack_weights(tmp_path / "stack.json")
    assert [True, False, False, True] == [weights.kinds[kind].has_network for kind in AnswerKind]
    calibrated, at_scale = weights.kinds[AnswerKind.RECORDS], weights.kinds[AnswerKind.STATEMENT]
    assert (calibrated.own, calibrated.own_mean) == (at_scale.own, at_scale.own_mean)
    assert calibrated.slope > at_scale.slope  # L1 was less sure than it could be
