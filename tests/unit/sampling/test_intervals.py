"""Intervals of stratified samples."""

import pytest

from sampling.intervals import Part, korn_graubard


def test_a_fully_drawn_slice_keeps_its_binomial_interval() -> None:
    """Strata that follow the verdict have no spread inside, but which stratum an answer falls into is chance too."""
    strata = [Part(0.2, 1.0, 70, population=70), Part(0.8, 0.0, 280, population=280)]
    _, low, high = korn_graubard(strata)
    assert pytest.approx([0.163, 0.246], abs=0.005) == [low, high]
