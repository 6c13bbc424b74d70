"""Passages that were retrieved and are not, or not whole, in the packed prompt."""

import json

import pytest

from detectors.structural.truncation import truncation_findings
from schemas.finding import StructuralRule
from tests.builders import passage, trace

LONG = "\n".join(f"Rule {number}: an order of kind {number} ships within {number} days." for number in range(40))
OTHER = "Refunds take fourteen days from the return."
DETAILS = [
    (f"Context:\n{LONG}\n\n{OTHER}", []),
    ("[1] " + LONG.replace("\n", "\n> ") + f"\n[2] {OTHER}", []),
    (json.dumps([{"role": "system", "content": f"{LONG}\n{OTHER}"}]), []),
    (f"{LONG.upper()}   {OTHER.replace(' ', chr(10))}", []),
    (LONG.replace("Rule 7: an order", "[NAME_1]: an order") + OTHER, []),
    (f"Context: {OTHER}", [(0, "not in the prompt: long")]),
    (f"Context: {LONG}", [(1, "not in the prompt: other")]),
    (f"{LONG[: len(LONG) // 2]}\n{OTHER}", [(0, "only 50 % of it is in the prompt: long")]),
    (f"{LONG[-len(LONG) // 4 :]}\n{OTHER}", [(0, "only its end is in the prompt: long")]),
    ("Answer the question from the context.", [(None, "the prompt holds no passage")]),
    (" ", []),
    (None, []),
]


@pytest.mark.parametrize(("prompt", "expected"), DETAILS)
def test_what_the_prompt_lacks_is_named(prompt: str | None, expected: list[tuple[int | None, str]]) -> None:
    """Templates, quote signs, JSON, placeholders and white space are no cut; a missing half is."""
    seen = trace(packed_prompt=prompt, passages=(passage(LONG, doc_id="long"), passage(OTHER, doc_id="other")))
    found = truncation_findings(seen)

    assert expected == [(finding.passage, finding.detail) for finding in found]
    assert {finding.rule for finding in found} <= {StructuralRule.CONTEXT_TRUNCATED}


def test_many_cut_passages_are_counted() -> None:
    """Five findings at most; the last one counts the rest."""
    missing = tuple(passage(f"Passage number {number} was left out.", doc_id=f"d{number}") for number in range(30))
    found = truncation_findings(trace(packed_prompt=OTHER, passages=(passage(OTHER), *missing)))

    assert [1, 2, 3, 4, 5] == [finding.passage for finding in found]
    assert found[-1].detail.startswith("not in the prompt; and 25 more passages are not whole")


def test_blank_and_hidden_passages_are_passed_over() -> None:
    """There is nothing to look for."""
    assert [] == truncation_findings(trace(packed_prompt="x", passages=(passage(" "), passage("[REDACTED]"))))


def test_hostile_sizes_end_in_time() -> None:
    """Five hundred missing passages beside a prompt of eight megabytes, in far less than the limit on a test."""
    passages = tuple(passage(f"{number} " + "word " * 200) for number in range(500))
    truncation_findings(trace(packed_prompt="word " * 1_600_000, passages=passages))
