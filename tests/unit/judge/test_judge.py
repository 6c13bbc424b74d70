"""The judge on whole answers: every wanted claim has a label or a reason, nothing is paid twice, and time is kept."""

import json
from dataclasses import replace
from threading import Event

import pytest

from detectors.completion import Ask, Choice, CompletionFailed, prompt_tokens
from detectors.judge import JudgePrompt
from detectors.judge.asking import REPEAT_TEMPERATURE
from detectors.layers import JudgeResult, JudgeTask, Spent
from schemas.labels import ClaimLabel, Layer, Outcome
from schemas.layers import LayerReason
from schemas.verdict import ClaimJudgement
from tests.builders import PASSAGE_TEXT, evidence, judgement, passage
from tests.fakes_completion import TOKENS_IN, TOKENS_OUT, AnsweringCompletion, ScriptedCompletion
from tests.judge_parts import CLAIM, Clock, FakePurse, MemoryCache, asked_about, honest, judge, reply, task

AWAY = CompletionFailed("model", is_away=True)
SILENT = CompletionFailed("timeout", is_away=True, tokens_in=50)
OTHER = "It costs nothing."
COST = (TOKENS_IN + 2 * TOKENS_OUT) / 1_000_000


def said(result: JudgeResult, index: int = 0) -> ClaimJudgement:
    """What a claim was judged."""
    return result.judgements[index]


def errors(result: JudgeResult) -> list[Outcome | None]:
    """The error of each claim in order."""
    return [result.judgements[index].error for index in sorted(result.judgements)]


def test_a_label_holds_beside_the_scores_of_the_layer_below() -> None:
    """With the judge's confidence and reason, and the piece of evidence that it names."""
    below = judgement(0.5, contradiction=0.2)

    (result,) = judge(ScriptedCompletion([reply("contradicted")])).judge([task(below=below)])

    found = said(result)
    assert (ClaimLabel.CONTRADICTED, 0.9, Layer.L3, None) == (found.label, found.confidence, found.layer, found.error)
    assert (0.5, 0.2, "P1 says so.") == (found.support, found.contradiction, found.why)
    assert found.evidence is not None
    assert (0, PASSAGE_TEXT[: found.evidence.end]) == (found.evidence.passage, found.evidence.text)
    assert result.stopped is None


def test_unverifiable_is_unclear_and_keeps_the_evidence_of_the_layer_below() -> None:
    """Three values stay three values."""
    silent = reply("unverifiable", evidence=[])

    (result,) = judge(ScriptedCompletion([silent])).judge([task()])

    assert (ClaimLabel.UNCLEAR, evidence()) == (said(result).label, said(result).evidence)


def test_what_was_not_shown_is_said_in_the_judgement() -> None:
    """People read it beside the label."""
    passages = [*(passage(f"{n} " + "The sea is grey. " * 400) for n in range(9)), passage()]

    (result,) = judge(AnsweringCompletion(honest)).judge([task(passages=passages)])

    assert "of 10 passages" in said(result).why


def test_a_reply_that_cannot_be_used_is_asked_for_once_more_with_the_reason() -> None:
    """Its own reply and what was wrong are in the second prompt; both calls are paid."""
    completion, purse = ScriptedCompletion([reply(evidence=["P9"]), reply()]), FakePurse()

    (result,) = judge(completion, purse).judge([task()])

    assert ClaimLabel.SUPPORTED is said(result).label
    assert [reply(evidence=["P9"]), "there is no passage P9"] == [
        completion.seen[1][-2]["content"],
        completion.seen[1][-1]["content"].split(": ")[2].split(";")[0],
    ]
    assert (2, 2 * TOKENS_IN, 2 * TOKENS_OUT) == (result.spent.calls, result.spent.tokens_in, result.spent.tokens_out)
    assert 2 == len(purse.settled)


@pytest.mark.parametrize(
    ("replies", "outcome", "stopped", "calls"),
    [
        (["prose"], Outcome.ERROR_JUDGE_PARSE, None, 2),
        ([Choice(reply()[:40], is_cut=True)], Outcome.ERROR_JUDGE_PARSE, None, 2),
        (["prose", CompletionFailed("too_long")], Outcome.ERROR_JUDGE_PARSE, None, 2),
        ([CompletionFailed("too_long")], Outcome.ERROR_TOO_LONG, None, 1),
        ([CompletionFailed("model")], Outcome.ERROR_MODEL, None, 1),
        ([AWAY], Outcome.ERROR_MODEL, None, 2),
        ([SILENT], Outcome.ERROR_TIMEOUT, None, 2),
        ([ValueError("odd")], Outcome.ERROR_MODEL, None, 1),
    ],
    ids=["prose", "cut off", "retry too long", "too long", "refused", "away", "silent", "broken client"],
)
def test_every_failure_has_its_reason_and_no_score(
    replies: list[str | Choice | Exception], outcome: Outcome, stopped: LayerReason | None, calls: int
) -> None:
    """Nothing falls back to the layer below, and nothing is kept."""
    completion, cache, purse = ScriptedCompletion(list(replies)), MemoryCache(), FakePurse()

    (result,) = judge(completion, purse, cache).judge([task()])

    assert ClaimJudgement(error=outcome, layer=Layer.L3) == said(result)
    assert (stopped, calls, {}) == (result.stopped, len(completion.asked), cache.held)
    assert calls == len(purse.settled) == result.spent.calls


def test_one_invalid_reply_costs_one_claim() -> None:
    """The claims that were judged stay judged."""
    completion = AnsweringCompletion(lambda ask: "no" if asked_about(ask.messages)["claim"] == OTHER else honest(ask))

    (result,) = judge(completion).judge([task(CLAIM, OTHER, "It is blue.")])

    assert [None, Outcome.ERROR_JUDGE_PARSE, None] == errors(result)


def test_a_silent_call_is_made_once_more() -> None:
    """The prompt of the first may be billed, and is counted."""
    (result,) = judge(ScriptedCompletion([SILENT, reply()])).judge([task()])

    assert ClaimLabel.SUPPORTED is said(result).label
    assert (2, TOKENS_IN + 50) == (result.spent.calls, result.spent.tokens_in)


def test_every_call_is_reserved_and_settled_at_what_it_took() -> None:
    """The reservation covers prompt and longest reply; the bill is in the result."""
    completion, purse = ScriptedCompletion([reply()]), FakePurse()

    (result,) = judge(completion, purse).judge([task()])

    (ask,) = completion.asked
    paid = Spent(calls=1, tokens_in=TOKENS_IN, tokens_out=TOKENS_OUT, cost_usd=COST)
    assert [(prompt_tokens(ask.messages) + ask.max_tokens, paid)] == purse.settled
    assert purse.reserved == [purse.settled[0][0]]
    assert replace(paid, took_ms=0.0) == result.spent


def test_each_call_is_booked_with_its_time_and_the_answer_with_its_wait() -> None:
    """Two calls of two seconds, one after the other."""
    clock, purse = Clock(), FakePurse()

    def slow(ask: Ask) -> str:
        clock.now += 2.0
        return honest(ask)

    (result,) = judge(AnsweringCompletion(slow), purse, clock=clock).judge([task(CLAIM, OTHER)])

    assert [2000.0, 2000.0] == [spent.took_ms for _, spent in purse.settled]
    assert 4000.0 == result.spent.took_ms


def test_a_spent_budget_is_an_error_and_says_so() -> None:
    """Claims judged before it ran out stay; the breaker learns nothing from calls that were not made."""
    (result,) = judge(AnsweringCompletion(honest), FakePurse(calls=1)).judge([task(CLAIM, OTHER, "It is blue.")])

    assert [None, Outcome.ERROR_BUDGET, Outcome.ERROR_BUDGET] == errors(result)
    assert LayerReason.OVER_BUDGET is result.stopped


def test_a_budget_spent_before_the_retry_leaves_the_claim_unjudged() -> None:
    """And nothing open in the purse."""
    purse = FakePurse(calls=1)

    (result,) = judge(ScriptedCompletion(["prose"]), purse).judge([task()])

    assert [Outcome.ERROR_BUDGET] == errors(result)
    assert len(purse.reserved) == len(purse.settled) == 1


def test_an_endpoint_that_is_away_is_left_alone_and_found_again() -> None:
    """After three failures in a row no claim waits for it; after the pause one call finds out."""
    clock = Clock()
    completion = ScriptedCompletion([AWAY, AWAY, AWAY, reply(), reply(text=OTHER)])
    asked = judge(completion, clock=clock)

    (first,) = asked.judge([task(CLAIM, OTHER, "It is blue.")])
    (second,) = asked.judge([task(OTHER)])
    clock.now = 31.0
    (third,) = asked.judge([task(CLAIM)])
    (fourth,) = asked.judge([task(OTHER)])

    assert [Outcome.ERROR_MODEL] * 3 == errors(first)
    assert [LayerReason.AWAY] * 2 == [first.stopped, second.stopped]
    assert 0 == second.spent.calls
    assert [ClaimLabel.SUPPORTED] * 2 == [said(third).label, said(fourth).label]
    assert third.stopped is None


def busy(seconds: float) -> CompletionFailed:
    """What an endpoint says that serves nobody for so long."""
    return CompletionFailed("model", is_away=True, retry_after_seconds=seconds)


def test_a_busy_endpoint_is_asked_again_when_it_says() -> None:
    """As often as a call's own time allows; each refusal is a call, and the endpoint does not count as away."""
    clock = Clock()
    asked = judge(ScriptedCompletion([*[busy(6.0)] * 3, reply()]), clock=clock, failures=1)

    (result,) = asked.judge([task()])

    assert (ClaimLabel.SUPPORTED, 18.0, 4) == (said(result).label, clock.now, result.spent.calls)
    assert {"waited": 3, "judged": 1, "cached": 0} == dict(asked.counts)


def test_one_that_is_busy_for_longer_than_a_call_may_wait_is_not_waited_for() -> None:
    """What its last word leaves too little time for fails, without a second call that it asked not to be sent."""
    clock = Clock()
    completion = ScriptedCompletion([busy(15.0), busy(15.0), reply()])

    (result,) = judge(completion, clock=clock).judge([task()])

    assert ([Outcome.ERROR_MODEL], 15.0, 2) == (errors(result), clock.now, len(completion.asked))


def test_one_that_asks_for_more_than_any_call_can_wait_is_left_alone_so_long() -> None:
    """By all calls: the breaker opens at once, and its own pause is not enough."""
    clock = Clock()
    asked = judge(ScriptedCompletion([busy(50.0), reply(text=OTHER)]), clock=clock)

    (first,) = asked.judge([task(CLAIM, OTHER)])
    clock.now = 49.0
    (second,) = asked.judge([task(OTHER)])
    clock.now = 50.0
    (third,) = asked.judge([task(OTHER)])

    assert [Outcome.ERROR_MODEL] * 2 == errors(first)
    assert (LayerReason.AWAY, 1) == (first.stopped, first.spent.calls)
    assert (LayerReason.AWAY, 0) == (second.stopped, second.spent.calls)
    assert ClaimLabel.SUPPORTED is said(third).label


def test_nobody_who_waits_for_an_answer_waits_for_a_busy_endpoint_beyond_his_time() -> None:
    """The stream could have waited, so its calls go on."""
    clock = Clock()
    asked = judge(ScriptedCompletion([busy(5.0), reply(text=OTHER)]), clock=clock, failures=2)

    (late,) = asked.judge([task()], deadline=4.0)
    (judged,) = asked.judge([task(OTHER)])

    assert ([Outcome.ERROR_MODEL], 0.0) == (errors(late), clock.now)
    assert ClaimLabel.SUPPORTED is said(judged).label


def test_an_endpoint_that_refuses_single_calls_is_not_away() -> None:
    """Else whoever writes answers could switch the judge off for everybody."""
    completion = ScriptedCompletion([*[CompletionFailed("model")] * 9, reply()])
    asked = judge(completion)

    for _ in range(9):
        asked.judge([task()])

    assert ClaimLabel.SUPPORTED is said(asked.judge([task()])[0]).label


def test_a_redelivery_pays_nothing() -> None:
    """Not in this process, nor in the next one with the same store."""
    cache, purse = MemoryCache(), FakePurse()
    first = judge(AnsweringCompletion(honest), purse, cache).judge([task(CLAIM, OTHER)])

    again = judge(ScriptedCompletion([ValueError("never asked")]), purse, cache).judge([task(CLAIM, OTHER)])

    assert first[0].judgements == again[0].judgements
    assert (0, 2, 0, 0.0) == (
        again[0].spent.calls,
        again[0].spent.cached,
        again[0].spent.tokens_in,
        again[0].spent.cost_usd,
    )
    assert (0, Spent(cached=2)) == purse.settled[-1]


def test_a_kept_judgement_fits_every_trace_with_the_same_content() -> None:
    """Scores and ids are those of the trace at hand; the cache holds no text of a passage."""
    cache = MemoryCache()
    asked = judge(AnsweringCompletion(honest), cache=cache)
    asked.judge([task()])
    below = judgement(0.4, evidence=None)

    (result,) = asked.judge([task(passages=(passage(doc_id="refunds-2"),), below=below)])

    found = said(result)
    assert (1, 0.4, "refunds-2") == (result.spent.cached, found.support, found.evidence and found.evidence.doc_id)
    assert all(PASSAGE_TEXT[:20] not in kept.model_dump_json() for kept in cache.held.values())


CHANGES = {
    "claim": task(OTHER),
    "question": task(question="May I?"),
    "passage": task(passages=(passage("Other."),)),
    "more passages": task(passages=(passage(), passage())),
    "words before": task("It is blue.", CLAIM),
    "runs": task(repeats=3),
}


@pytest.mark.parametrize("changed", CHANGES.values(), ids=CHANGES)
def test_what_decides_a_judgement_is_in_its_key(changed: JudgeTask) -> None:
    """Another claim, question, evidence or number of runs is asked about anew."""
    asked = judge(AnsweringCompletion(honest))
    asked.judge([task()])

    (result,) = asked.judge([replace(changed, wanted=[len(changed.item.claims) - 1])])

    assert 0 == result.spent.cached


def test_another_judge_knows_nothing_of_this_one() -> None:
    """Another model or prompt is another fingerprint, and another key."""
    cache = MemoryCache()
    one = judge(AnsweringCompletion(honest), cache=cache)
    others = [
        judge(AnsweringCompletion(honest, model="m-2"), cache=cache),
        judge(AnsweringCompletion(honest), cache=cache, prompt=JudgePrompt(7000)),
        judge(AnsweringCompletion(honest), cache=cache, prompt=JudgePrompt(8000, [])),
    ]
    one.judge([task()])

    assert 4 == len({one.fingerprint, *(other.fingerprint for other in others)})
    assert [0, 0, 0] == [other.judge([task()])[0].spent.cached for other in others]
    assert one.fingerprint == judge(AnsweringCompletion(honest)).fingerprint
    assert "m-1" in one.fingerprint


def test_equal_claims_of_one_batch_are_asked_about_once() -> None:
    """The first answer pays, the others take its judgement over."""
    completion = AnsweringCompletion(honest)

    results = judge(completion).judge([task(), task(), task(CLAIM, OTHER)])

    assert 2 == len(completion.asked)
    assert [(1, 0), (0, 1), (1, 1)] == [(result.spent.calls, result.spent.cached) for result in results]
    assert all(error is None for result in results for error in errors(result))


def test_several_runs_are_one_judgement_and_one_entry() -> None:
    """Two of three; each run is drawn with a seed of its own."""
    completion, cache = ScriptedCompletion([reply(), reply("contradicted"), reply()]), MemoryCache()
    asked = judge(completion, cache=cache)

    (result,) = asked.judge([task(repeats=3)])

    assert (ClaimLabel.SUPPORTED, 2 / 3) == (said(result).label, said(result).confidence)
    assert "2 of 3 runs" in said(result).why
    assert [(0, REPEAT_TEMPERATURE), (1, REPEAT_TEMPERATURE), (2, REPEAT_TEMPERATURE)] == [
        (ask.seed, ask.temperature) for ask in completion.asked
    ]
    assert 1 == len(cache.held)
    assert 1 == asked.judge([task(repeats=3)])[0].spent.cached


def test_a_single_run_is_greedy() -> None:
    """Same claim and fingerprint, same verdict."""
    completion = ScriptedCompletion([reply()])
    judge(completion).judge([task()])

    assert (0.0, 0) == (completion.asked[0].temperature, completion.asked[0].seed)


def test_runs_that_fail_are_outvoted_or_the_reason() -> None:
    """One of three may fail; of two failures the last is the reason."""
    bad = CompletionFailed("model")
    good = judge(ScriptedCompletion([reply(), bad, reply()])).judge([task(repeats=3)])
    lost = judge(ScriptedCompletion([reply(), "prose", "prose", bad])).judge([task(repeats=3)])

    assert ClaimLabel.SUPPORTED is said(good[0]).label
    assert [Outcome.ERROR_MODEL] == errors(lost[0])


def test_the_deadline_bounds_calls_and_what_did_not_begin_is_out_of_time() -> None:
    """A call gets the time that is left."""
    clock = Clock(100.0)

    def slow(ask: Ask) -> str:
        clock.now += 4.0
        return honest(ask)

    completion = AnsweringCompletion(slow)
    (result,) = judge(completion, clock=clock).judge([task(CLAIM, OTHER, "It is blue.")], deadline=106.0)

    assert [6.0, 2.0] == [ask.timeout_seconds for ask in completion.asked]
    assert [None, None, Outcome.ERROR_TIMEOUT] == errors(result)
    assert LayerReason.OUT_OF_TIME is result.stopped


def test_nobody_waits_beyond_the_deadline_and_what_was_paid_is_kept() -> None:
    """A client that ignores its time limit holds nobody up; its reply is there the next time."""
    released, cache = Event(), MemoryCache()

    def stuck(ask: Ask) -> str:
        released.wait(20)
        return honest(ask)

    asked = judge(AnsweringCompletion(stuck), cache=cache)
    clockless = asked.judge([task()], deadline=0.2)
    released.set()
    asked._awaited.shutdown()

    assert [Outcome.ERROR_TIMEOUT] == errors(clockless[0])
    assert LayerReason.OUT_OF_TIME is clockless[0].stopped
    assert 1 == asked.judge([task()])[0].spent.cached


def test_a_call_that_nobody_waits_for_any_more_is_in_the_bill_of_its_answer() -> None:
    """As one that ran out of time, which is how it is booked once it has: verdict and books say the same."""
    released, purse = Event(), FakePurse()

    def silent(ask: Ask) -> str:
        released.wait(20)
        raise CompletionFailed("timeout", is_away=True, tokens_in=prompt_tokens(ask.messages))

    clock = Clock()
    asked = judge(AnsweringCompletion(silent), purse, clock=clock)
    (result,) = asked.judge([task()], deadline=0.2)
    clock.now = 1.0
    released.set()
    asked._awaited.shutdown()

    ((_, booked),) = purse.settled
    assert (1, True) == (booked.calls, booked.cost_usd > 0)
    assert replace(booked, took_ms=0.0) == replace(result.spent, took_ms=0.0)


def test_a_claim_that_does_not_fit_is_too_long_and_costs_nothing() -> None:
    """The others are judged."""
    (result,) = judge(AnsweringCompletion(honest)).judge([task("You can return it. " * 4000, CLAIM)])

    assert [Outcome.ERROR_TOO_LONG, None] == errors(result)
    assert 1 == result.spent.calls


def test_no_more_calls_are_under_way_than_the_settings_say() -> None:
    """However many claims there are."""
    under_way, most = [], []

    def counted(ask: Ask) -> str:
        under_way.append(1)
        most.append(len(under_way))
        released.wait(0.02)
        under_way.pop()
        return honest(ask)

    released = Event()
    (result,) = judge(AnsweringCompletion(counted), calls_at_once=3).judge(
        [task(*(f"Number {n} is blue." for n in range(12)))]
    )

    assert [None] * 12 == errors(result)
    assert max(most) <= 3


def test_only_wanted_claims_are_judged_and_none_is_no_call() -> None:
    """One at a time, and nothing for an answer without any."""
    completion = AnsweringCompletion(honest)
    asked = judge(completion)

    (one, none) = asked.judge([replace(task(CLAIM, OTHER), wanted=[1]), replace(task(), wanted=[])])

    assert ([1], []) == (list(one.judgements), list(none.judgements))
    assert [OTHER] == [asked_about(ask.messages)["claim"] for ask in completion.asked]
    assert Spent() == none.spent
    assert [] == asked.judge([])


def test_what_became_of_claims_and_calls_is_counted() -> None:
    """For metrics: no text, and nothing but names of ours."""
    asked = judge(ScriptedCompletion(["prose", reply(), CompletionFailed("too_long")]))
    asked.judge([task()])
    asked.judge([task(), task(OTHER)])

    assert {
        "judged": 2,
        "cached": 1,
        "retried": 1,
        "refused_parse": 1,
        "failed_too_long": 1,
        "error:too_long": 1,
    } == dict(asked.counts)


def test_a_prompt_is_json_to_the_last_sign_also_when_asked_again() -> None:
    """The claim's message is the same in both calls."""
    completion = ScriptedCompletion(["prose", reply()])
    judge(completion).judge([task()])

    first, second = completion.seen
    assert first == second[: len(first)]
    assert CLAIM == json.loads(first[-1]["content"])["claim"]
