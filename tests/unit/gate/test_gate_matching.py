"""Which answer belongs to which case; what is not certain is refused."""

from detectors.gate import Matched, RunAnswer, match_answers
from schemas.golden import GoldenCase
from tests.builders import trace
from tests.builders_golden import golden_case

CASES = [golden_case("a", question="Are dogs allowed?"), golden_case("b", question="And cats?")]


def answer(trace_id: str, question: str = "", golden_case: str = "", where: str = "run.jsonl:1") -> RunAnswer:
    """A line of a run."""
    return RunAnswer(where, trace(trace_id, question=question), golden_case)


def matched(*answers: RunAnswer, cases: list[GoldenCase] = CASES) -> Matched:
    """Over two cases."""
    return match_answers(cases, answers)


def test_a_name_wins_over_the_trace_id_and_this_over_the_question() -> None:
    """From the most explicit to the least."""
    one = answer("b", "Are dogs allowed?", "a")
    two = answer("b", "Are dogs allowed?")
    three = answer("t-9", "ARE dogs  allowed")
    assert {"a": one} == matched(one).by_case
    assert {"b": two} == matched(two).by_case
    assert {"a": three} == matched(three).by_case


def test_what_belongs_to_no_case_is_told_apart() -> None:
    """A recorded hour of traffic may be asked for its golden questions; no question is not a question."""
    stranger, mute = answer("t-1", "What time is it?"), answer("t-2", "")
    assert Matched({}, (stranger, mute)) == matched(stranger, mute)


def test_an_unknown_name_is_a_fault() -> None:
    """A misspelt id must not fall back on something else."""
    found = matched(answer("a", "Are dogs allowed?", "aa"))
    assert ({}, ("run.jsonl:1: golden_case 'aa' is no case of the set; correct the id",)) == (
        found.by_case,
        found.faults,
    )


def test_a_case_is_answered_once() -> None:
    """Both lines are named; the first one stands, so that other faults are still found."""
    found = matched(answer("a"), answer("t-7", "are dogs allowed?", where="run.jsonl:2"))
    assert ("run.jsonl:2: 'a' is answered on run.jsonl:1 already; keep one of the two",) == found.faults


def test_a_question_of_two_cases_belongs_to_neither() -> None:
    """Unless the line says which."""
    twins = [golden_case("a", question="Dogs?"), golden_case("b", question="dogs")]
    found = matched(answer("t-1", "Dogs"), cases=twins)
    assert ("run.jsonl:1: the question is that of 'a' and 'b'; say which by `golden_case`",) == found.faults
    assert ["b"] == list(matched(answer("t-1", "Dogs", "b"), cases=twins).by_case)


def test_cases_that_are_not_asked_are_passed_over() -> None:
    """Answers to another split are neither faults nor strangers."""
    found = match_answers(CASES[:1], [answer("b"), answer("t-1", golden_case="b"), answer("a")], ["b"])
    assert (["a"], (), ()) == (list(found.by_case), found.strangers, found.faults)
