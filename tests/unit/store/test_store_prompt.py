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
