"""Claims that a case expects, and claims that must not come again."""

from collections.abc import Sequence

import pytest

from detectors.evidence import load_evidence_detector
from detectors.gate import Stated, stated_claims
from schemas.claim import CheckItem
from schemas.labels import ClaimLabel, Outcome
from schemas.policy import Thresholds
from schemas.verdict import ClaimJudgement
from tests.builders_golden import golden_case, golden_claim
from tests.fakes_detectors import ScriptedDetector

RECORDED = "The fee is 4 EUR. You can pay on board."


def stated(answer: str, label: ClaimLabel = ClaimLabel.SUPPORTED, *, text: str = "The fee is 4 EUR.") -> Stated:
    """What an answer states of one claim; the detector supports nothing."""
    case = golden_case(answer=RECORDED, answer_labels=(), claims=(golden_claim(label, text=text),))
    nothing = ScriptedDetector({text: ClaimJudgement(support=0.0, contradiction=0.0)})
    return stated_claims([case], [answer], nothing, Thresholds())[0]


def test_words_are_enough() -> None:
    """Case, punctuation and citations aside; no detector is asked."""
    assert Stated(1) == stated("Well, the FEE is 4 EUR [2]!")


@pytest.mark.parametrize("answer", ["The fee is 4.50 EUR.", "The fee is 40 EUR.", "", "The fee is not 4 EUR."])
def test_other_figures_are_other_words(answer: str) -> None:
    """Neither stated, nor a wrong claim that was repeated."""
    assert Stated(1, ("The fee is 4 EUR.",)) == stated(answer)
    assert Stated() == stated(answer, ClaimLabel.UNSUPPORTED)


@pytest.mark.parametrize("label", [ClaimLabel.UNSUPPORTED, ClaimLabel.CONTRADICTED])
def test_wrong_claims_are_recognised_by_their_words(label: ClaimLabel) -> None:
    """As whole words."""
    assert Stated(0, (), ("The fee is 4 EUR.",)) == stated("Again: the fee is 4 EUR, as always.", label)
    assert Stated() == stated("The fee is 4 EUROS.", label)
    assert Stated() == stated("It costs 4.5.", label, text="It costs 4.")
    assert Stated() == stated("It costs 4 %.", label, text="It costs 4.")


@pytest.mark.parametrize("label", [ClaimLabel.UNCLEAR, ClaimLabel.NOT_FACTUAL])
def test_other_labels_ask_for_nothing(label: ClaimLabel) -> None:
    """Nobody agreed on them."""
    assert Stated() == stated("The fee is 4 EUR.", label)


def test_what_the_documents_do_not_answer_expects_no_claim() -> None:
    """A good answer declines."""
    case = golden_case(answer=RECORDED, answer_labels=(), claims=(golden_claim(text="The fee is 4 EUR."),))
    closed = case.model_copy(update={"is_answerable": False})
    assert [Stated()] == stated_claims([closed], ["I do not know."], ScriptedDetector(), Thresholds())


def test_other_words_are_for_the_detector() -> None:
    """With the answer as its only passage; each answer is asked about its own claims."""
    seen: list[CheckItem] = []

    class Listening(ScriptedDetector):
        def judge(self, items: Sequence[CheckItem]) -> list[list[ClaimJudgement]]:
            seen.extend(items)
            return ScriptedDetector.judge(self, items)

    case = golden_case(answer=RECORDED, answer_labels=(), claims=(golden_claim(text="The fee is 4 EUR."),))
    answers = ["You pay four euros.", "The fee is 4 EUR."]
    assert [Stated(1), Stated(1)] == stated_claims([case, case], answers, Listening(), Thresholds())
    assert [["You pay four euros."]] == [[one.text for one in item.passages] for item in seen]


def test_an_error_states_nothing() -> None:
    """It is not taken for agreement."""
    case = golden_case(answer=RECORDED, answer_labels=(), claims=(golden_claim(text="The fee is 4 EUR."),))
    failing = ScriptedDetector({"The fee is 4 EUR.": ClaimJudgement(error=Outcome.ERROR_TIMEOUT)})
    assert ("The fee is 4 EUR.",) == stated_claims([case], ["It is four."], failing, Thresholds())[0].missing


def test_the_shipped_detector_reads_other_words() -> None:
    """And is not misled by another figure."""
    claim = "A ticket can be cancelled until 24 hours before departure."
    case = golden_case(answer=claim, answer_labels=(), claims=(golden_claim(text=claim),))
    answers = [
        "You can cancel a ticket until 24 hours before departure.",
        "A ticket can be cancelled until 12 hours before.",
    ]
    found = stated_claims([case, case], answers, load_evidence_detector(), Thresholds())
    assert [(), (claim,)] == [one.missing for one in found]
