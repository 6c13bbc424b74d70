"""A failing item costs nobody else a judgement."""

import pytest

from detectors.claims import split_claims
from detectors.judging import judge_answers_guarded, judge_guarded
from schemas.claim import CheckItem
from schemas.errors import Retryable
from schemas.labels import Outcome
from schemas.verdict import ClaimJudgement
from tests.builders import check_item, evidence
from tests.fakes_detectors import AnswerBreaker, BrokenDetector, ForgetfulDetector, ScriptedDetector

SURE = ClaimJudgement(support=1.0, contradiction=0.0)
FAILED = ClaimJudgement(error=Outcome.ERROR_INTERNAL)


def item(answer: str) -> CheckItem:
    """An item with the claims of ``answer``."""
    return check_item(answer, claims=split_claims(answer))


def test_an_item_that_keeps_failing_is_an_error_of_its_own() -> None:
    """The others of its batch keep their judgements; courtesies in it stay empty."""
    detector = BrokenDetector(poison="Bad", error=ZeroDivisionError())

    judged = judge_guarded(detector, [item("Good one."), item("Bad one. Hello!"), item("Good two.")], attempts=3)

    assert [[SURE], [FAILED, ClaimJudgement()], [SURE]] == judged
    assert 1 + 1 + 3 + 1 == detector.calls


def test_a_passing_failure_is_tried_again() -> None:
    """The batch fails, the item alone fails once, then it is judged."""
    assert [[SURE]] == judge_guarded(BrokenDetector(poison="Bad", error=ValueError(), times=2), [item("Bad one.")])


def test_an_answer_of_the_wrong_shape_is_a_failure() -> None:
    """A missing judgement is never filled in by guessing."""
    assert [[FAILED]] == judge_guarded(ForgetfulDetector(), [item("Good one.")])


def test_a_detector_that_is_away_is_not_the_items_fault() -> None:
    """Retryable passes through, so that the caller waits."""
    with pytest.raises(Retryable):
        judge_guarded(BrokenDetector(poison="", error=Retryable("away")), [item("Good one.")])


def test_scores_belong_to_factual_claims_and_never_stand_beside_an_error() -> None:
    """A factual claim without score or error is an error; one with both keeps the error only."""
    both = ClaimJudgement(support=0.5, error=Outcome.ERROR_TIMEOUT, why="slow")
    detector = ScriptedDetector({"Both.": both, "None.": ClaimJudgement()})

    expected = [[ClaimJudgement(error=Outcome.ERROR_TIMEOUT, why="slow"), FAILED, ClaimJudgement()]]
    assert expected == judge_guarded(detector, [item("Both. None. Really?")])


def test_no_items_need_no_call() -> None:
    """An empty batch stays at home."""
    detector = BrokenDetector(poison="", error=ValueError())

    assert [] == judge_guarded(detector, [])
    assert 0 == detector.calls


def test_evidence_from_a_passage_that_does_not_exist_is_a_failure() -> None:
    """A judgement that points nowhere is not believed."""
    nowhere = ClaimJudgement(support=0.9, contradiction=0.0, evidence=evidence(passage=7))

    assert [[FAILED]] == judge_guarded(ScriptedDetector({"Good one.": nowhere}), [item("Good one.")])


def test_an_answer_without_a_score_of_its_own_has_that_of_its_weakest_claim() -> None:
    """From a detector that judges claims alone; None where none was judged."""
    weak = ClaimJudgement(support=0.2, contradiction=0.0)
    items = [item("Good one. Weak one."), item("Hello!")]
    assert [0.2, None] == [one.score for one in judge_answers_guarded(ScriptedDetector({"Weak one.": weak}), items)]


def test_a_detector_of_answers_is_asked_for_their_scores() -> None:
    """Beside the same judgements; an item that fails costs no other its score, and has none itself."""
    detector = AnswerBreaker("Bad")

    judged = judge_answers_guarded(detector, [item("Good one."), item("Bad one."), item("Good two.")])

    assert [0.75, None, 0.75] == [one.score for one in judged]
    assert [[SURE], [FAILED], [SURE]] == [one.claims for one in judged]
