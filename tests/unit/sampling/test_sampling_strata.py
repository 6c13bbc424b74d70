"""Strata: first rule of which every stated condition holds."""

from datetime import timedelta

import pytest

from sampling.strata import stratum_of
from schemas.policy import StratumRule
from tests.builders import NOW, claim, passage, screening, trace

FRESH = StratumRule(name="fresh", document_younger_than_days=7)


def test_first_matching_rule_names_the_stratum() -> None:
    """Order decides when several rules match."""
    rules = [StratumRule(name="low", score_below=0.3), StratumRule(name="mid", score_below=0.6)]
    found = [stratum_of(trace(), screening(score=score), rules) for score in (0.1, 0.3, 0.6)]
    assert ["low", "mid", "rest"] == found


def test_every_stated_condition_must_hold() -> None:
    """A rule is a conjunction."""
    rule = StratumRule(name="both", score_below=0.6, has_flag="escalated")
    assert "rest" == stratum_of(trace(), screening(score=0.1), [rule])
    assert "both" == stratum_of(trace(flags=("escalated",)), screening(score=0.1), [rule])


@pytest.mark.parametrize(
    "rule",
    [
        StratumRule(name="x", score_below=1.0),
        StratumRule(name="x", score_at_least=0.0),
        StratumRule(name="x", has_no_citation=True),
        StratumRule(name="x", has_no_citation=False),
        StratumRule(name="x", citations_at_least=1),
        StratumRule(name="x", retrieval_score_below=100.0),
        StratumRule(name="x", document_younger_than_days=9999),
        StratumRule(name="x", has_flag="any"),
    ],
)
def test_missing_signal_makes_a_condition_false(rule: StratumRule) -> None:
    """Nothing known about a trace puts it into ``rest``, whatever the rule asks."""
    bare = trace(answer=None, passages=None)
    assert "rest" == stratum_of(bare, screening(score=None, claims=()), [rule])


def test_citations_are_counted_by_source_from_markers_or_flags() -> None:
    """The same source cited twice counts once; the producer's flags count where markers are absent."""
    many = [StratumRule(name="many", citations_at_least=2)]
    twice = screening(claims=(claim(citations=("1",)), claim(citations=("1",))))
    flagged = trace(passages=(passage(cited=True), passage(cited=True), passage(cited=False)))
    assert "rest" == stratum_of(trace(), twice, many)
    assert "many" == stratum_of(flagged, screening(claims=()), many)


def test_answer_without_markers_has_no_citation() -> None:
    """Claims without markers are a known zero, not a missing signal."""
    rules = [StratumRule(name="uncited", has_no_citation=True)]
    assert "uncited" == stratum_of(trace(), screening(claims=(claim(),)), rules)
    assert "rest" == stratum_of(trace(), screening(claims=(claim(citations=("1",)),)), rules)


def test_best_passage_decides_low_retrieval() -> None:
    """One good passage is enough; passages without a score do not count."""
    rules = [StratumRule(name="low", retrieval_score_below=0.5)]
    good = trace(passages=(passage(score=0.1), passage(score=0.5), passage(score=None)))
    assert "rest" == stratum_of(good, screening(), rules)
    assert "low" == stratum_of(trace(passages=(passage(score=0.49), passage(score=None))), screening(), rules)


@pytest.mark.parametrize(("age_days", "expected"), [(6.9, "fresh"), (7, "rest"), (-1, "fresh")])
def test_document_age_is_taken_at_event_time(age_days: float, expected: str) -> None:
    """Exactly seven days is not younger than seven; a date ahead of the trace is young."""
    updated = passage(updated_at=NOW - timedelta(days=age_days))
    old = passage(updated_at=NOW - timedelta(days=900))
    assert expected == stratum_of(trace(passages=(old, updated)), screening(), [FRESH])
