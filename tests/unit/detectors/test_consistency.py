"""Self-consistency: what is compared, where samples come from, what they may cost; it flags and never clears."""

from typing import Any

import pytest

from detectors.claims import split_claims
from detectors.consistency import ResamplingFailed, SelfConsistency, compare, mean_logprob, why_check
from detectors.consistency.comparing import is_short, least_of
from detectors.consistency.resampling import MOST_TOKENS, room_for
from detectors.layers import ConsistencyResult, ConsistencyTask, Payer, Spent
from schemas.claim import CheckItem
from schemas.layers import LayerReason
from schemas.routes import ConsistencyCause, ConsistencyRule, Route
from schemas.trace import Trace
from schemas.verdict import ClaimJudgement
from tests.builders import judgement, trace
from tests.fakes_consistency import CountingPurse, ScriptedResampler
from tests.fakes_detectors import BrokenDetector, ScriptedDetector, WordDetector
from tests.fakes_layers import spent

RULE = ConsistencyRule()
LONG = "The pass costs 12 euros for adults. It is valid for two whole days."
SAME = "It is valid for two whole days. The pass costs 12 euros for adults."
OTHER = "The pass costs 12 euros for adults. Bring a warm coat along."


def item(answer: str = LONG) -> CheckItem:
    """An answer with its claims, without passages: what it is compared with is not among them."""
    return CheckItem("", (), answer, split_claims(answer))


def task(answer: str = LONG, rule: ConsistencyRule = RULE, **fields: Any) -> ConsistencyTask:
    """An answer with a recorded prompt, to be compared."""
    asked: Trace = trace(answer=answer, **{"packed_prompt": "What does the pass cost?", **fields})
    return ConsistencyTask(Payer(asked.trace_id, asked.intent, asked.tier, Route()), asked, item(answer), rule)


def check(one: ConsistencyTask, resampler: ScriptedResampler | None = None, left: int = 10_000) -> ConsistencyResult:
    """The result for one answer; nothing stays reserved."""
    purse = CountingPurse(left)
    found = SelfConsistency(WordDetector(), purse, resampler).check([one])[0]
    assert 0 == purse.held
    return found


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("30 days", True),
        ("Within 30 days of delivery, always [1].", True),
        ("You have 30 days from the delivery.", False),
        ("", True),
        ("三十天内可以退货", True),
        ("退款需要五天时间并且适用于所有信用卡。", False),
    ],
)
def test_short_is_six_words_without_citations(answer: str, expected: bool) -> None:
    """Longer answers are never given twice in the same words."""
    assert expected == is_short(answer)


@pytest.mark.parametrize(
    ("others", "votes", "is_flagged"),
    [
        (["30 days."] * 4, 5, False),
        (["30 Days [2]", "30 days", "14 days", "30 days"], 4, False),
        (["30 days", "30 days", "14 days", "14 days"], 3, True),
        (["14 days"] * 4, 4, True),
        (["30 days"], 2, False),
        (["30 days", "14 days"], 2, True),
    ],
)
def test_short_answers_are_compared_by_vote(others: list[str], votes: int, is_flagged: bool) -> None:
    """Four of five, in proportion for other numbers; an answer that the samples outvote is flagged as well."""
    found = compare(item("30 days [1]"), others, RULE, WordDetector())

    assert found is not None
    assert (votes, is_flagged, None) == (found.votes, found.is_flagged, found.agreement)


@pytest.mark.parametrize(
    ("others", "unstable", "agreement"),
    [
        ([SAME] * 4, (), 1.0),
        ([SAME, SAME, SAME, OTHER], (), 0.875),
        ([SAME, SAME, OTHER, OTHER], (1,), 0.75),
        (["Bring a warm coat along, and gloves too."] * 4, (0, 1), 0.0),
    ],
)
def test_long_answers_are_compared_claim_by_claim(
    others: list[str], unstable: tuple[int, ...], agreement: float
) -> None:
    """A claim that fewer than four of the five answers state is unstable, the given answer being one of the five."""
    found = compare(item(), others, RULE, WordDetector())

    assert found is not None
    assert (unstable, bool(unstable)) == (found.unstable_claims, found.is_flagged)
    assert found.votes is None
    assert agreement == pytest.approx(found.agreement, abs=0.2)


def test_one_long_sample_makes_the_comparison_one_by_claims() -> None:
    """A short answer that a sample gives in a whole sentence is not outvoted by it."""
    others = ["The pass costs 12 euros for adults and it is blue"] * 4
    found = compare(item("The pass costs 12 euros."), others, RULE, ScriptedDetector())

    assert found is not None
    assert (None, False, 1.0) == (found.votes, found.is_flagged, found.agreement)


def test_failures_of_the_detector_are_no_scores() -> None:
    """A claim that could not be judged is neither stable nor unstable; without any nothing was compared."""
    broken = BrokenDetector("pass", ValueError())

    assert compare(item(), [SAME] * 4, RULE, broken) is None
    assert LayerReason.FAILED == SelfConsistency(broken, CountingPurse()).check([task(alternatives=(SAME,))])[0].stopped


def test_fewest_that_agree_counts_in_proportion() -> None:
    """Rounded up, so that fewer samples never make it easier."""
    assert [1, 2, 3, 4, 4, 5, 16] == [least_of(RULE, answers) for answers in (1, 2, 3, 4, 5, 6, 20)]


CAUSES = [
    ((ConsistencyCause.ALWAYS,), 0.9, (), LayerReason.ALWAYS),
    ((ConsistencyCause.WEAK_EVIDENCE,), 0.49, (), LayerReason.WEAK_EVIDENCE),
    ((ConsistencyCause.WEAK_EVIDENCE,), 0.5, (-3.0,), None),
    ((ConsistencyCause.WEAK_EVIDENCE,), None, (), None),
    ((ConsistencyCause.LOW_LOGPROB,), 0.1, (-1.5, -0.6), LayerReason.LOW_LOGPROB),
    ((ConsistencyCause.LOW_LOGPROB,), 0.1, (-1.5, -0.5), None),
    ((ConsistencyCause.LOW_LOGPROB,), 0.1, (), None),
    ((ConsistencyCause.LOW_LOGPROB, ConsistencyCause.WEAK_EVIDENCE), 0.1, (-9.0,), LayerReason.WEAK_EVIDENCE),
]


@pytest.mark.parametrize(("causes", "support", "logprobs", "expected"), CAUSES)
def test_the_first_cause_that_is_there_is_named(
    causes: tuple[ConsistencyCause, ...],
    support: float | None,
    logprobs: tuple[float, ...],
    expected: LayerReason | None,
) -> None:
    """The weakest claim decides, and claims without a score do not."""
    judgements = [ClaimJudgement(), judgement(0.9), judgement(support) if support is not None else ClaimJudgement()]

    assert expected == why_check(ConsistencyRule(causes=causes), judgements, trace(token_logprobs=logprobs))


def test_the_mean_logprob_is_at_most_zero_and_bounded() -> None:
    """Providers send tiny positive numbers, and −9999 for what they call impossible."""
    assert mean_logprob(trace()) is None
    assert -50.0 == mean_logprob(trace(token_logprobs=(1e-9, -9999.0)))


def test_samples_of_the_trace_come_first_and_cost_nothing() -> None:
    """Blank ones say nothing, and are left out."""
    resampler = ScriptedResampler([OTHER] * 4)
    found = check(task(alternatives=(SAME, " ", SAME)), resampler)

    assert found.found is not None
    assert ("trace", 3, False) == (found.found.source, found.found.samples, found.found.is_flagged)
    assert (Spent(), None, []) == (found.spent, found.stopped, resampler.asked)


def test_without_samples_the_recorded_prompt_is_asked_again() -> None:
    """With the temperature of the rule and room for twice the answer; what it took is in the result."""
    resampler = ScriptedResampler([OTHER] * 4)
    found = check(task(), resampler)

    assert found.found is not None
    assert ("resampled", 5, True) == (found.found.source, found.found.samples, found.found.is_flagged)
    assert spent() == found.spent
    assert ([("What does the pass cost?", 4, 0.7, room_for(LONG))], [None]) == (resampler.asked, resampler.deadlines)
    assert MOST_TOKENS == room_for("a" * 100_000)


def test_fewer_samples_than_asked_for_are_compared() -> None:
    """A blank reply is none."""
    found = check(task(), ScriptedResampler([SAME, "", "\n"]))

    assert found.found is not None
    assert (2, False) == (found.found.samples, found.found.is_flagged)


@pytest.mark.parametrize(
    ("resampler", "rule", "prompt"),
    [
        (None, RULE, "Q"),
        (ScriptedResampler([SAME]), ConsistencyRule(may_resample=False), "Q"),
        (ScriptedResampler([SAME]), RULE, " "),
        (ScriptedResampler([SAME]), RULE, None),
    ],
    ids=["no endpoint", "not allowed", "blank prompt", "no prompt"],
)
def test_without_any_source_there_are_no_samples(
    resampler: ScriptedResampler | None, rule: ConsistencyRule, prompt: str | None
) -> None:
    """Which is said, and is no agreement."""
    assert ConsistencyResult(None, stopped=LayerReason.NO_SAMPLES) == check(
        task(rule=rule, packed_prompt=prompt), resampler
    )


@pytest.mark.parametrize(("logprob", "is_flagged"), [(-2.0, True), (-0.1, False)])
def test_without_samples_log_probabilities_alone_may_flag(logprob: float, is_flagged: bool) -> None:
    """Where the rule names them; the reason why nothing was compared stays."""
    rule = ConsistencyRule(causes=(ConsistencyCause.LOW_LOGPROB,))
    found = check(task(rule=rule, packed_prompt=None, token_logprobs=(logprob,)))

    assert found.found is not None
    assert (1, logprob, is_flagged) == (found.found.samples, found.found.mean_logprob, found.found.is_flagged)
    assert LayerReason.NO_SAMPLES == found.stopped
    assert check(task(packed_prompt=None, token_logprobs=(logprob,))).found is None


def test_a_spent_budget_asks_nobody() -> None:
    """The reservation counts prompt and replies."""
    resampler = ScriptedResampler([SAME] * 4)

    assert ConsistencyResult(None, stopped=LayerReason.OVER_BUDGET) == check(task(), resampler, left=100)
    assert [] == resampler.asked


@pytest.mark.parametrize(
    ("resampler", "stopped", "cost"),
    [
        (ScriptedResampler(error=ResamplingFailed(LayerReason.AWAY)), LayerReason.AWAY, spent()),
        (ScriptedResampler(error=ResamplingFailed(LayerReason.OUT_OF_TIME)), LayerReason.OUT_OF_TIME, spent()),
        (ScriptedResampler(["", " "]), LayerReason.FAILED, spent()),
        (ScriptedResampler(error=RuntimeError("a bug")), LayerReason.FAILED, Spent()),
    ],
    ids=["away", "out of time", "blank", "bug"],
)
def test_a_model_that_fails_is_a_reason_and_its_cost_is_kept(
    resampler: ScriptedResampler, stopped: LayerReason, cost: Spent
) -> None:
    """Never an exception, and the reservation is given back."""
    assert ConsistencyResult(None, cost, stopped) == check(task(), resampler)


def test_results_come_in_the_order_of_the_tasks() -> None:
    """One that fails costs no neighbour."""
    checker = SelfConsistency(WordDetector(), CountingPurse(), ScriptedResampler([SAME] * 4))
    found = checker.check([task(), task(packed_prompt=None), task(OTHER), task()])

    assert [False, None, True, False] == [one.found.is_flagged if one.found else None for one in found]
    assert [] == checker.check([])


def test_the_fingerprint_names_what_decides() -> None:
    """The model that is asked and the detector that compares; the rule is the policy's."""
    names = {
        SelfConsistency(detector, CountingPurse(), resampler).fingerprint
        for detector in (WordDetector("a"), WordDetector("b"))
        for resampler in (None, ScriptedResampler(model="m-1"), ScriptedResampler(model="m-2"))
    }
    assert 6 == len(names)
