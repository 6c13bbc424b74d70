"""Splitting takes time in proportion to the length of the answer, whatever its shape."""

import sys
from types import FrameType
from typing import Any

import pytest

from bench.benchkit.nasty import nasty_answers
from detectors.claims import split_claims
from schemas.policy import ClaimSplitting

SMALL = 3_000
LARGE = 100_000
NAMES = sorted(nasty_answers(1))


def _lines_run(answer: str, split: ClaimSplitting) -> int:
    """Lines of Python that splitting the answer runs: a measure of work that no busy machine disturbs."""
    count = 0

    def trace(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        split_claims(answer, split)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("split", ClaimSplitting)
@pytest.mark.parametrize("name", NAMES)
def test_twice_the_answer_is_twice_the_work(name: str, split: ClaimSplitting) -> None:
    """Counted in lines of code, so a loop within a loop shows even at 6 KB."""
    split_claims("It reads the word lists and has them.", split)
    once, twice = (_lines_run(nasty_answers(size)[name], split) for size in (SMALL, 2 * SMALL))

    assert twice <= 2.3 * once + 500


@pytest.mark.parametrize("name", NAMES)
def test_100_kb_of_one_shape_are_split_in_a_second(name: str) -> None:
    """Regular expressions count here: quadratic time would run into the limit that every test has."""
    answer = nasty_answers(LARGE)[name]
    claims = split_claims(answer)

    assert all(answer[claim.start : claim.end] == claim.text for claim in claims)
    assert sum(claim.end - claim.start for claim in claims) <= len(answer)


def test_200_kb_of_every_shape_on_one_line_and_on_many() -> None:
    """All shapes after one another, so that each may spoil what the next one relies on."""
    parts = nasty_answers(2 * LARGE // len(NAMES)).values()
    for answer in ("\n".join(parts), " ".join(parts).replace("\n", " ")):
        assert all(answer[claim.start : claim.end] == claim.text for claim in split_claims(answer))


@pytest.mark.parametrize("tail", ["x", "\n", ".", "]"])
@pytest.mark.parametrize(
    "repeated", ["-", "=", " ", "|", "`", "~", "#", ">", "*", "1", "a", "(", "[", ".", '"', "the "]
)
def test_time_is_linear_in_one_long_run(repeated: str, tail: str) -> None:
    """Below a table row and a title line, where rulers and separators are looked for."""
    run = repeated * (150_000 // len(repeated)) + tail
    for answer in (f"Title\n{run}", f"| a | b |\n|{run}", f"{run} A. {run}"):
        assert all(answer[claim.start : claim.end] == claim.text for claim in split_claims(answer))
