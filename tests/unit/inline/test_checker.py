"""The checker: within its time, whatever the layers do, and failing as the policy says."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import TypeVar, cast

import pytest
from structlog.testing import capture_logs

from detectors.layers import JudgeResult, JudgeTask, Layers
from sampling.policy_file import default_policy
from schemas.errors import Retryable
from schemas.labels import ClaimLabel, Containment, Layer, Outcome, RiskTier
from schemas.routes import InlineRule, JudgeRule, OnFailure, Route
from streams.inline.reply import Unchecked
from streams.inline.stages import Above, judge_below, layers_in_use
from streams.inline.workers import Workers
from tests.builders import NOW
from tests.fakes import FakeDetector
from tests.fakes_detectors import BrokenDetector
from tests.fakes_inline import UNHURRIED, AtOnce, checker, failing_route, policy_with, request
from tests.fakes_layers import FakeJudge, FakeStacked

T = TypeVar("T")
WHOLE_BAND = JudgeRule(band_low=0.0, band_high=1.0)
TIERS = policy_with(
    failing_route(OnFailure.CLOSED, tier=RiskTier.HIGH, judge=WHOLE_BAND),
    failing_route(OnFailure.OPEN, judge=WHOLE_BAND),
)
BOTH_WAYS = pytest.mark.parametrize(
    ("tier", "decision"), [("high", Containment.HOLD_FOR_REVIEW), ("low", Containment.DELIVER)], ids=["closed", "open"]
)
SECRET = "zxqsecret"  # noqa: S105  a word to look for in the log


@dataclass
class HangingJudge(FakeJudge):
    """Does not look at its deadline, and answers when the gate is opened."""

    gate: threading.Event = field(default_factory=threading.Event)
    begun: threading.Event = field(default_factory=threading.Event)

    def judge(self, tasks: Sequence[JudgeTask], deadline: float | None = None) -> list[JudgeResult]:
        """Late."""
        self.begun.set()
        self.gate.wait()
        return super().judge(tasks, deadline)


class Queue(AtOnce):
    """Threads that others wait for."""

    def wait_seconds(self, each_seconds: float) -> float:
        """A dozen."""
        return 12 * each_seconds


@dataclass
class OverOnceBegun(AtOnce):
    """Threads whose time is over as soon as the judge has begun."""

    workers: Workers = field(kw_only=True)
    begun: threading.Event = field(kw_only=True)

    async def run(self, work: Callable[[], T], until: float, needs_seconds: float = 0.0) -> T:
        """Never what the work gives."""
        waiting = asyncio.create_task(self.workers.run(work, until, needs_seconds))
        await asyncio.to_thread(self.begun.wait)
        waiting.cancel()
        await asyncio.wait([waiting])
        raise TimeoutError


async def test_a_good_answer_is_delivered_as_it_is() -> None:
    """With its claim, the policy and the fingerprint."""
    reply = await checker().check(request(trace_id="t-9"))
    assert (Containment.DELIVER, request().answer, None, True) == (
        reply.decision,
        reply.text,
        reply.fallback,
        reply.checked,
    )
    assert ("t-9", "p-inline", 120_000, Outcome.GROUNDED, True) == (
        reply.trace_id,
        reply.policy_id,
        reply.within_ms,
        reply.outcome,
        reply.passed,
    )
    assert [(ClaimLabel.SUPPORTED, Layer.L1, "refunds", "https://help.example.com/refunds")] == [
        (claim.label, claim.decided_by, claim.evidence.doc_id, claim.evidence.url)
        for claim in reply.claims
        if claim.evidence
    ]
    assert reply.fingerprint
    assert [Layer.L0, Layer.L1] == [row.layer for row in reply.layers if row.ran]


async def test_a_bad_answer_is_kept_back_with_the_policys_text_and_links() -> None:
    """An amount that nothing supports is critical in the default policy."""
    document = default_policy().model_copy(update={"routes": policy_with().routes})
    reply = await checker(document).check(request("It costs 90 EUR."))
    assert (Containment.ABSTAIN, True) == (reply.decision, reply.checked)
    assert reply.fallback is not None
    assert reply.text == reply.fallback.text != "It costs 90 EUR."
    assert ["https://help.example.com/refunds"] == [source.url for source in reply.fallback.sources]
    assert '<a href="https://help.example.com/refunds"' in reply.fallback.html


async def test_a_request_may_ask_for_less_time_and_never_for_more() -> None:
    """The policy's is the most."""
    policy = policy_with(Route(inline=InlineRule(within_ms=50_000)))
    given = [(await checker(policy).check(request(within_ms=ms))).within_ms for ms in (40_000, 60_000)]
    assert [40_000, 50_000] == given


@BOTH_WAYS
async def test_out_of_time_is_decided_by_the_tier(tier: str, decision: Containment) -> None:
    """And said."""
    reply = await checker(TIERS, below=AtOnce(TimeoutError())).check(request(tier=tier))
    assert (decision, False, Unchecked.OUT_OF_TIME, ()) == (reply.decision, reply.checked, reply.reason, reply.claims)
    assert (reply.decision is Containment.DELIVER) == (reply.text == request().answer)
    assert (reply.decision is Containment.DELIVER) == (reply.fallback is None)


@BOTH_WAYS
@pytest.mark.parametrize(
    "error", [Retryable("away"), ValueError(SECRET), RecursionError()], ids=["away", "broken", "deep"]
)
async def test_a_failure_is_decided_by_the_tier(tier: str, decision: Containment, error: Exception) -> None:
    """Of judging at all; the log names the kind of error and repeats nothing of it."""
    with capture_logs() as logs:
        reply = await checker(TIERS, below=AtOnce(error)).check(request(tier=tier))
    assert (decision, False, Unchecked.FAILED) == (reply.decision, reply.checked, reply.reason)
    assert [type(error).__name__] == [line["error"] for line in logs if line["event"] == "check_failed"]
    assert SECRET not in str(logs)


@BOTH_WAYS
async def test_a_detector_that_breaks_is_a_failure(tier: str, decision: Containment) -> None:
    """Its verdict is an error, and no judgement."""
    broken = BrokenDetector("delivery", ValueError("x"))
    reply = await checker(TIERS, detector=broken).check(request(tier=tier))
    assert (decision, False, Unchecked.FAILED) == (reply.decision, reply.checked, reply.reason)
    assert (Outcome.ERROR_INTERNAL, [Outcome.ERROR_INTERNAL]) == (
        reply.outcome,
        [claim.error for claim in reply.claims],
    )


@BOTH_WAYS
async def test_models_that_are_away_are_a_failure(tier: str, decision: Containment) -> None:
    """Open, the layers below decide, and the routing table says so."""
    reply = await checker(TIERS, layers=Layers(models=FakeStacked()), models=AtOnce(Retryable("x"))).check(
        request(tier=tier)
    )
    assert (decision, tier == "low") == (reply.decision, reply.checked)
    if reply.checked:
        assert [("L2", "failed")] == [(row.layer, row.why) for row in reply.layers if row.why == "failed"]


async def test_a_judge_that_hangs_is_left_behind() -> None:
    """The reply is that of the layers below, which say so; the thread is counted until it ends."""
    judge, workers = HangingJudge(), Workers("hang", 1)
    policy = policy_with(Route(inline=UNHURRIED, judge=WHOLE_BAND))
    of = checker(
        policy,
        layers=Layers(models=FakeStacked(), judge=judge),
        endpoints=OverOnceBegun(workers=workers, begun=judge.begun),
    )
    reply = await of.check(request())
    assert (Containment.DELIVER, True, (Layer.L3,), 1) == (
        reply.decision,
        reply.checked,
        reply.dropped,
        workers.late,
    )
    assert [Layer.L0, Layer.L1, Layer.L2] == [row.layer for row in reply.layers if row.ran]
    assert of.pace.needs_seconds()[Layer.L3] > 100.0
    judge.gate.set()
    await workers.run(lambda: None, float("inf"))
    assert (0, {Layer.L3: 1}) == (workers.late, dict(of.counts.dropped))
    workers.close()


@BOTH_WAYS
async def test_too_many_at_a_time_are_refused_with_the_tiers_decision(tier: str, decision: Containment) -> None:
    """And those at work go on."""
    gate = asyncio.Event()

    class Waiting(AtOnce):
        async def run(self, work: Callable[[], T], until: float, needs_seconds: float = 0.0) -> T:
            """Once the gate is open."""
            await gate.wait()
            return await super().run(work, until, needs_seconds)

    of = checker(TIERS, below=Waiting(), max_in_flight=2)
    first = [asyncio.create_task(of.check(request())) for _ in range(2)]
    await asyncio.sleep(0)
    refused = await of.check(request(tier=tier))
    assert (decision, False, Unchecked.OVERLOADED) == (refused.decision, refused.checked, refused.reason)
    gate.set()
    assert [True, True] == [reply.checked for reply in await asyncio.gather(*first)]
    assert (0, {("deliver", "judged"): 2, (decision, "overloaded"): 1}) == (of.counts.in_flight, dict(of.counts.ended))


async def test_what_would_wait_too_long_is_refused_at_once() -> None:
    """Waiting could only end in being out of time; where nothing waits, it is tried, however long it is expected."""
    of = checker(TIERS)
    for _ in range(2):
        of.pace.took(Layer.L1, 1_000.0)
    assert (await of.check(request())).checked
    of.below = cast("Workers", Queue())
    assert Unchecked.OVERLOADED is (await of.check(request())).reason


async def test_the_judges_word_is_the_decision_when_it_comes_in_time() -> None:
    """Over the classifier's."""
    text = "You can return it within 30 days."
    judge = FakeJudge({text: ClaimLabel.CONTRADICTED})
    reply = await checker(TIERS, detector=FakeDetector(), layers=Layers(judge=judge)).check(request(text))
    assert (Outcome.HALLUCINATED, Layer.L3, 0.8) == (
        reply.outcome,
        reply.claims[0].decided_by,
        reply.claims[0].confidence,
    )
    assert judge.deadlines[0] is not None


async def test_a_judge_must_answer_while_a_verdict_can_still_be_made_of_it() -> None:
    """Else claims that were judged in time would be lost with those that were not: as long as L1 takes is left."""
    judge = FakeJudge()
    of, until = checker(TIERS, layers=Layers(judge=judge)), monotonic() + 1_000.0
    first = judge_below(of.judges, request().to_trace(NOW, "t"), policy_with(Route(judge=WHOLE_BAND)), NOW)
    for l1_seconds in (2.0, 10_000.0):
        above = Above(of.judges, first, layers_in_use(first, of.judges.above))
        assert await of.upper.run(above, until, {Layer.L1: l1_seconds}) is None

    short, long = (deadline or 0.0 for deadline in judge.deadlines)
    assert until - 2.0 == short
    assert until - 500.0 <= long < until


async def test_the_log_has_one_line_a_check_and_no_text() -> None:
    """Ids, labels and times."""
    with capture_logs() as logs:
        await checker().check(request(f"{SECRET} costs 90 EUR.", question=SECRET))
    assert [("check", "abstain")] == [(line["event"], line["decision"]) for line in logs]
    assert SECRET not in str(logs)
