"""Feedback never decides who is drawn: it comes later, and from whoever likes to speak."""

import inspect
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampling import draw, strata
from sampling.strata import stratum_of
from schemas.policy import StratumRule
from tests.builders import screening, trace

RULES = (
    StratumRule(name="weak", score_below=0.5),
    StratumRule(name="uncited", has_no_citation=True),
    StratumRule(name="flagged", has_flag="thumb=down"),
)


@given(st.text())
def test_the_stratum_is_the_same_with_any_feedback(feedback: str) -> None:
    """Whatever was said, also the name of a flag that a rule asks for."""
    for score in (0.1, 0.9):
        seen = screening(score=score)
        assert stratum_of(trace(), seen, RULES) == stratum_of(trace(feedback=feedback), seen, RULES)
    assert "rest" == stratum_of(trace(feedback="thumb=down"), screening(score=0.9, claims=()), RULES[2:])


@pytest.mark.parametrize("module", [strata, draw])
def test_nothing_that_draws_reads_feedback(module: ModuleType) -> None:
    """A condition on it would bias every rate by those who speak."""
    assert "feedback" not in inspect.getsource(module)


def test_no_rule_can_ask_for_feedback() -> None:
    """The policy has no such condition."""
    assert [name for name in StratumRule.model_fields if "feedback" in name] == []
