"""Prompts are stored as pieces between passages."""

import pytest

from streams.store.prompt import cut_prompt, join_prompt

LONG = "A passage that is long enough to be worth a reference."
LONGER = LONG + " And it goes on."


@pytest.mark.parametrize(
    ("prompt", "passages"),
    [
        ("", []),
        ("no passage here", [LONG]),
        (LONG, [LONG]),
        (f"a{LONG}b{LONG}c", [LONG]),
        (f"{LONG}{LONG}", [LONG, LONG]),
        (f"x{LONGER}y{LONG}z", [LONG, LONGER]),
        ("ab", ["", "a"]),
    ],
)
def test_a_prompt_is_rebuilt_equal(prompt: str, passages: list[str]) -> None:
    """Whatever was cut out is put back."""
    pieces, references = cut_prompt(prompt, passages)
    assert prompt == join_prompt(pieces, references, passages)


def test_every_occurrence_of_a_long_passage_is_a_reference() -> None:
    """The text of a passage is not in the literal pieces."""
    pieces, references = cut_prompt(f"Use {LONG} or {LONGER}.", [LONG, LONGER])
    assert ["Use ", " or ", "."] == pieces
    assert [0, 1] == references


def test_a_short_passage_stays_in_the_piece() -> None:
    """A reference would save nothing."""
    assert (["Answer: yes"], []) == cut_prompt("Answer: yes", ["yes"])


def test_a_prompt_that_would_take_long_is_kept_as_it_is() -> None:
    """Ten thousand passages that all look alike, in ten megabytes: the time limit of the test run is the check."""
    prompt = "ab" * 5_000_000
    alike = ["ab" * 20 + f"c{number}" for number in range(10_000)]
    assert ([prompt], []) == cut_prompt(prompt, alike)
    pieces, indices = cut_prompt("a" * 100_000, ["a" * 32, "a" * 33])
    assert "a" * 100_000 == join_prompt(pieces, indices, ["a" * 32, "a" * 33])


def test_the_same_passage_many_times_is_one_reference() -> None:
    """Five hundred copies cost what one costs."""
    text = "Lamps may be returned within 30 days of delivery."
    assert (["Use: ", "."], [0]) == cut_prompt(f"Use: {text}.", [text] * 500)
