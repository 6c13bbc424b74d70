"""Several runs on one claim: the majority holds, a tie is unverifiable, and too few verdicts are none."""

from collections.abc import Sequence

import pytest

from detectors.judge.reply import JudgeLabel, JudgeReply
from detectors.judge.stability import settle


def replies(labels: str) -> list[JudgeReply]:
    """One reply a letter: s, c, u or v."""
    names = {label.value[:1]: label for label in JudgeLabel if label is not JudgeLabel.UNVERIFIABLE}
    return [
        JudgeReply(
            claim="x",
            label=names.get(letter, JudgeLabel.UNVERIFIABLE),
            evidence=(n + 1,),
            confidence=0.9,
            reason=f"run {n}",
        )
        for n, letter in enumerate(labels)
    ]


@pytest.mark.parametrize(
    ("labels", "runs", "expected"),
    [
        ("s", 1, ("supported", 1, 0.9, (1,), "run 0")),
        ("css", 3, ("supported", 2, 2 / 3, (2,), "run 1")),
        ("scu", 3, ("unverifiable", 1, 1 / 3, (), "the runs disagree")),
        ("sscc", 4, ("unverifiable", 2, 0.5, (), "the runs disagree")),
        ("vvs", 3, ("unverifiable", 2, 2 / 3, (1,), "run 0")),
        ("ss", 3, ("supported", 2, 1.0, (1,), "run 0")),
    ],
)
def test_the_most_frequent_label_holds(
    labels: str, runs: int, expected: tuple[str, int, float, Sequence[int], str]
) -> None:
    """With its share of the runs as confidence, and the first run's evidence and reason."""
    found = settle(replies(labels), runs)

    assert found is not None
    assert expected == (found.label.value, found.votes, found.confidence, found.evidence, found.reason)


@pytest.mark.parametrize(("labels", "runs"), [("", 1), ("s", 3), ("ss", 4), ("", 9)])
def test_half_of_the_runs_are_not_enough(labels: str, runs: int) -> None:
    """Then the claim is an error with the reason of the runs that failed."""
    assert settle(replies(labels), runs) is None
