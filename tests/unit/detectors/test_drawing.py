"""Answers drawn from a chat endpoint: how many calls, what they cost, and what a failure is."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from detectors.breaker import Breaker, BreakerRule
from detectors.completion import Ask, Choice, CompletionFailed, Reply
from detectors.consistency import CompletionResampler, ResamplingFailed, Samples
from detectors.layers import Prices, Spent
from schemas.layers import LayerReason

Step = Sequence[str] | CompletionFailed


@dataclass
class ScriptedEndpoint:
    """Gives the texts of each step, or fails with it; ten tokens in and two out a call."""

    steps: Sequence[Step]
    model: str = "m-1"
    asked: list[Ask] = field(default_factory=list)

    def ask(self, ask: Ask) -> Reply:
        """The next step."""
        self.asked.append(ask)
        step = self.steps[len(self.asked) - 1]
        if isinstance(step, CompletionFailed):
            raise step
        return Reply(tuple(Choice(text) for text in step), 10, 2)


class Clock:
    """Half a second passes whenever it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """The time."""
        self.now += 0.5
        return self.now


def drawn(endpoint: ScriptedEndpoint, count: int = 4, per_call: int = 4, deadline: float | None = None) -> Samples:
    """Samples at a temperature of 0.7."""
    resampler = CompletionResampler(endpoint, per_call, Prices(100_000.0, 1_000_000.0), Clock())
    return resampler.sample("the prompt", count, 0.7, 99, deadline)


def test_one_call_gives_all_samples_where_the_endpoint_can() -> None:
    """The prompt is paid once; free text, no schema, the temperature of the policy."""
    endpoint = ScriptedEndpoint([["a", "b", "c", "d"]])

    assert Samples(("a", "b", "c", "d"), Spent(1, 0, 10, 2, 3.0, 500.0)) == drawn(endpoint)
    assert [
        Ask([{"role": "user", "content": "the prompt"}], 99, samples=4, temperature=0.7, seed=0, timeout_seconds=None)
    ] == endpoint.asked
    assert "m-1" == CompletionResampler(endpoint).model


def test_an_endpoint_that_gives_fewer_is_asked_again_with_another_seed() -> None:
    """The same seed would give the same answer, and that would look like agreement."""
    endpoint = ScriptedEndpoint([["a"], ["b", "c"], ["d", "e"]])

    assert (("a", "b", "c", "d"), 3) == ((found := drawn(endpoint)).texts, found.spent.calls)
    assert [(4, 0), (3, 1), (1, 3)] == [(ask.samples, ask.seed) for ask in endpoint.asked]


def test_so_many_a_call_as_the_settings_say() -> None:
    """Some endpoints refuse more than one."""
    endpoint = ScriptedEndpoint([["a"], ["b"]])

    assert ("a", "b") == drawn(endpoint, count=2, per_call=1).texts
    assert [1, 1] == [ask.samples for ask in endpoint.asked]


def test_what_was_drawn_before_a_failure_is_kept() -> None:
    """And what the failed call may be billed for is counted."""
    endpoint = ScriptedEndpoint([["a"], CompletionFailed("timeout", is_away=True, tokens_in=10)])

    assert Samples(("a",), Spent(2, 0, 20, 2, 4.0, 500.0)) == drawn(endpoint)


def test_blank_replies_are_no_samples_and_are_not_asked_for_again() -> None:
    """An endpoint that has nothing to say would be asked for ever."""
    assert ("a",) == drawn(ScriptedEndpoint([["a", " "], ["\n"]])).texts


FAILURES = [
    (CompletionFailed("timeout", is_away=True), LayerReason.OUT_OF_TIME),
    (CompletionFailed("model", is_away=True), LayerReason.AWAY),
    (CompletionFailed("model"), LayerReason.FAILED),
    (CompletionFailed("too_long"), LayerReason.FAILED),
    (["", " "], LayerReason.FAILED),
]


@pytest.mark.parametrize(
    ("step", "reason"), FAILURES, ids=["timeout", "away", "refused", "prompt too long", "blank replies"]
)
def test_without_any_sample_the_reason_is_said(step: Step, reason: LayerReason) -> None:
    """With what it cost."""
    with pytest.raises(ResamplingFailed) as caught:
        drawn(ScriptedEndpoint([step]))

    assert (reason, 1, 500.0) == (caught.value.reason, caught.value.spent.calls, caught.value.spent.took_ms)


def test_a_deadline_bounds_each_call_and_ends_the_drawing() -> None:
    """In seconds that are left; nobody is asked after it."""
    endpoint = ScriptedEndpoint([["a"], ["b"]])

    assert ("a", "b") == drawn(endpoint, count=2, deadline=2.0).texts
    assert [1.0, 0.5] == [ask.timeout_seconds for ask in endpoint.asked]
    late = ScriptedEndpoint([])
    with pytest.raises(ResamplingFailed) as caught:
        drawn(late, deadline=1.0)
    assert (LayerReason.OUT_OF_TIME, []) == (caught.value.reason, late.asked)


def test_an_endpoint_that_is_away_is_left_alone_for_a_while() -> None:
    """Each further answer would wait for it in vain; a call that had too little time says nothing of it."""
    away = CompletionFailed("timeout", is_away=True)
    endpoint = ScriptedEndpoint([away, away, ["a"]])
    resampler = CompletionResampler(endpoint, breaker=Breaker(BreakerRule(failures=1, pause_seconds=1e9), Clock()))
    reasons = []
    for deadline in (1e12, None, None):
        with pytest.raises(ResamplingFailed) as caught:
            resampler.sample("the prompt", 1, 0.7, 99, deadline)
        reasons.append((caught.value.reason, caught.value.spent.calls))

    assert [(LayerReason.OUT_OF_TIME, 1), (LayerReason.OUT_OF_TIME, 1), (LayerReason.AWAY, 0)] == reasons


def test_an_endpoint_that_asks_for_a_pause_gets_it() -> None:
    """One call is enough; samples are triage, and nobody waits for them."""
    busy = CompletionFailed("model", is_away=True, retry_after_seconds=9.0)
    resampler = CompletionResampler(ScriptedEndpoint([busy, ["a"]]), breaker=Breaker(BreakerRule(), Clock()))
    calls = []
    for _ in range(2):
        with pytest.raises(ResamplingFailed) as caught:
            resampler.sample("the prompt", 1, 0.7, 99, None)
        calls.append((caught.value.reason, caught.value.spent.calls))

    assert [(LayerReason.AWAY, 1), (LayerReason.AWAY, 0)] == calls


def test_a_bug_of_the_client_leaves_the_breaker_as_it_was() -> None:
    """It says nothing of the endpoint."""
    breaker = Breaker(BreakerRule(failures=1), Clock())
    with pytest.raises(IndexError):
        CompletionResampler(ScriptedEndpoint([]), breaker=breaker).sample("the prompt", 1, 0.7, 99, None)

    assert not breaker.is_open
