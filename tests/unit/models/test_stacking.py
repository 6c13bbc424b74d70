"""The stack: what it takes from either layer, and what it never does."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from detectors.models.answerkinds import AnswerKind, kind_of
from detectors.models.own import Reading
from detectors.models.stacking import KindWeights, Stacked, StackWeights, load_stack_weights, stack_features
from schemas.claim import CheckItem, Claim
from schemas.errors import ConfigError
from schemas.labels import Outcome
from schemas.verdict import ClaimJudgement
from tests.builders import passage
from tests.fakes_detectors import ScriptedDetector

TEXTS = ("Ann paid 5 dollars.", "Ole left.", "Hello!")
WEIGHTS = StackWeights(
    {
        **dict.fromkeys(AnswerKind, KindWeights()),
        AnswerKind.QUESTION: KindWeights(1.0),
        AnswerKind.SUMMARY: KindWeights(0.0, 1.0),
    }
)


@dataclass
class _Reader:
    readings: Sequence[Reading | None]
    fingerprint: str = "reader-1"
    runs_on: str = "cpu fp32"
    asked: list[str] = field(default_factory=list)

    def read(self, items: Sequence[CheckItem]) -> list[list[Reading | None]]:
        self.asked += [item.question for item in items]
        return [list(self.readings[: len(item.claims)]) for item in items]


def item(question: str = "Who paid?", text: str = "Ann paid 5 dollars.") -> CheckItem:
    """Two factual claims and a greeting."""
    claims = [
        Claim(index=at, start=0, end=len(text), text=text, is_factual=text != TEXTS[2]) for at, text in enumerate(TEXTS)
    ]
    return CheckItem(question, (passage(text),), " ".join(TEXTS), claims)


def judged(first: ClaimJudgement, reading: Reading | None) -> ClaimJudgement:
    """What a stack makes of the first claim."""
    below = [first, ClaimJudgement(support=0.9, contradiction=0.0), ClaimJudgement()]
    reader = _Reader([reading, Reading(2.0), None])
    return Stacked(ScriptedDetector(), reader, WEIGHTS).judge_after([item()], [below])[0][0]


def test_both_layers_move_support_and_contradiction_follows() -> None:
    """Of what is not supported, the same share contradicts as L1 says; both reasons are given."""
    first = ClaimJudgement(support=0.5, contradiction=0.25, why="the figure")

    better, worse = judged(first, Reading(1.0)), judged(first, Reading(-1.0, doubted=("5",)))

    assert better.support is not None
    assert worse.support is not None
    assert better.support > 0.5 > worse.support
    assert worse.contradiction == pytest.approx((1 - worse.support) / 2, abs=1e-3)
    assert "the figure; the model doubts: 5" == worse.why


def test_a_decisive_conflict_holds() -> None:
    """The network cannot talk a wrong figure away; where two passages disagree both sides stay."""
    decisive = ClaimJudgement(support=0.2, contradiction=0.6)
    disputed = ClaimJudgement(support=0.9, contradiction=0.6)

    assert (0.3, 0.6) == (judged(decisive, Reading(6.0)).support, judged(decisive, Reading(6.0)).contradiction)
    assert 0.6 == judged(disputed, Reading(3.0)).contradiction
    assert (judged(disputed, Reading(3.0)).support or 0.0) > 0.9


def test_what_cannot_be_stacked_is_said() -> None:
    """An error of L1 stays one, nothing to read leaves L1's word, and a claim too long to read is an error."""
    failed = ClaimJudgement(error=Outcome.ERROR_INTERNAL)
    plain = ClaimJudgement(support=0.0, contradiction=0.0)

    assert failed == judged(failed, Reading(3.0))
    assert plain == judged(plain, Reading())
    assert Outcome.ERROR_TOO_LONG is judged(plain, Reading(is_too_long=True)).error


def test_l1_is_asked_where_it_is_not_known() -> None:
    """And only there; claims that are not factual stay unjudged."""
    stack = Stacked(
        ScriptedDetector({TEXTS[1]: ClaimJudgement(support=0.1, contradiction=0.0)}),
        _Reader([Reading(0.0)] * 2 + [None]),
        WEIGHTS,
    )
    below = [ClaimJudgement(support=0.5, contradiction=0.0)] * 2 + [ClaimJudgement()]

    known, asked = stack.judge_after([item(), item()], [below, None])

    assert 0.5 == known[0].support
    assert (asked[1].support or 1.0) < 0.2
    assert ClaimJudgement() == known[2] == asked[2]
    assert [asked, asked] == stack.judge([item(), item()])


def test_a_kind_that_the_network_does_not_help_keeps_the_judgement_below() -> None:
    """To the last digit, and the network is not asked for it."""
    first = [ClaimJudgement(support=0.123456, contradiction=0.3, why="the figure"), ClaimJudgement(), ClaimJudgement()]
    reader = _Reader([Reading(-6.0, doubted=("5",)), Reading(-6.0), None])

    found = Stacked(ScriptedDetector(), reader, WEIGHTS).judge_after([item(" "), item()], [first, first])

    assert first == found[0]
    assert (found[1][0].support or 1.0) < 0.01
    assert ["Who paid?"] == reader.asked


def test_where_the_answer_as_a_whole_counts_all_its_claims_move_alike() -> None:
    """What the network says of one claim is shared with those beside it; their order stays that of L1."""
    below = [ClaimJudgement(support=0.8), ClaimJudgement(support=0.5), ClaimJudgement()]
    reader = _Reader([Reading(-4.0), Reading(2.0), None])

    ((first, second, _),) = Stacked(ScriptedDetector(), reader, WEIGHTS).judge_after([item("Summarize it.")], [below])

    assert first.support == pytest.approx(0.5954, abs=1e-4)  # log-odds of 0.8, and the mean of -4 and 2
    assert second.support == pytest.approx(0.2689, abs=1e-4)


def test_no_sure_layer_silences_the_other() -> None:
    """Log-odds are kept within bounds; without a score of either layer there is nothing to stack."""
    sure, failed = ClaimJudgement(support=1.0, contradiction=0.0), ClaimJudgement(error=Outcome.ERROR_INTERNAL)

    found = stack_features([sure, failed, sure, sure], [Reading(-40.0), Reading(1.0), Reading(), None])

    assert [(6.0, -6.0, -2.5), None, None, None] == found


@pytest.mark.parametrize(
    ("question", "text", "kind"),
    [
        ("Summarize the article.", "Ann paid.", AnswerKind.SUMMARY),
        ("Who paid?", "Ann paid.", AnswerKind.QUESTION),
        (" ", "Ann paid.", AnswerKind.STATEMENT),
        ("Write an overview.", '{"name": "Ann"}', AnswerKind.RECORDS),
    ],
    ids=["summary", "question", "statement", "records"],
)
def test_kinds_of_answers(question: str, text: str, kind: AnswerKind) -> None:
    """What is asked, and of what."""
    assert kind is kind_of(item(question, text))


def test_weights_for_other_features_are_refused(tmp_path: Path) -> None:
    """A file of another version would give numbers that mean nothing."""
    path = tmp_path / "stack.json"
    path.write_text('{"question": {"own": 0.5, "own_most_wrong": 0.1}}', encoding="utf-8")

    with pytest.raises(ConfigError, match="other features"):
        load_stack_weights(path)
    with pytest.raises(ConfigError, match="missing"):
        load_stack_weights(tmp_path / "absent.json")


def test_the_shipped_weights_read_both_layers_the_right_way() -> None:
    """More support below is never less above, and L1 counts for no less than the network."""
    kinds = load_stack_weights().kinds.values()

    assert all(one.slope > 0 and min(one.own, one.own_mean) >= 0 and one.own + one.own_mean <= 1 for one in kinds)
    assert any(one.has_network for one in kinds)
    assert all((1.0, 0.0) == (one.slope, one.intercept) for one in kinds if not one.has_network)
