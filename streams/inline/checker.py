"""Checks one answer within the time that its policy allows; a layer that does not end is left behind."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from time import monotonic
from uuid import uuid4

import structlog

from detectors.routing import route_of
from sampling.effective import EffectivePolicy
from schemas.labels import Layer
from schemas.layers import LayerReason
from schemas.routes import OnFailure
from schemas.trace import Trace
from streams.inline.answering import Case, judged_reply, unjudged_reply
from streams.inline.counts import CheckCounts
from streams.inline.pace import Pace
from streams.inline.reply import CheckReply, Unchecked
from streams.inline.request import CheckRequest
from streams.inline.sources import readable_sources
from streams.inline.stages import Above, Judges, judge_below, layers_in_use
from streams.inline.upper import Upper
from streams.inline.workers import NotBegun, Workers

log = structlog.get_logger(__name__)
MOST_REPLY_SECONDS = 0.005
"""Kept back from the time allowed, a tenth of it at most, for making the reply."""


@dataclass(slots=True)
class Checker:
    """``policy`` gives the one in force at a moment; ``below`` are the threads for L0 and L1.

    The layers above have threads of their own, so that one that hangs never keeps an answer from L0 and L1.
    """

    judges: Judges
    policy: Callable[[datetime], EffectivePolicy]
    now: Callable[[], datetime]
    below: Workers
    upper: Upper
    max_in_flight: int
    counts: CheckCounts = field(default_factory=CheckCounts)

    @property
    def pace(self) -> Pace:
        """How long layers are expected to take."""
        return self.upper.pace

    async def check(self, asked: CheckRequest) -> CheckReply:
        """The reply, at the latest when the time allowed is over. Raises PolicyIncomplete while no policy is known."""
        began = monotonic()
        now = self.now()
        policy = self.policy(now)
        trace = asked.to_trace(now, f"check-{uuid4().hex}")
        case = _case(asked, trace, policy)
        until = _until(began, case.within_ms)
        if self._is_full(until - began):
            reply = unjudged_reply(case, Unchecked.OVERLOADED)
        else:
            self.counts.in_flight += 1
            try:
                reply = await self._judged(case, trace, now, until)
            finally:
                self.counts.in_flight -= 1
        reply = reply.model_copy(update={"took_ms": round((monotonic() - began) * 1000, 1)})
        self.counts.add(reply)
        _log_reply(reply, trace)
        return reply

    def _is_full(self, seconds: float) -> bool:
        """Whether one more would wait too long to end in that time: better told at once, to try elsewhere."""
        needs = self.pace.needs_seconds().get(Layer.L1, 0.0)
        wait = self.below.wait_seconds(needs)
        return self.counts.in_flight >= self.max_in_flight or 0 < wait > seconds - needs

    async def _judged(self, case: Case, trace: Trace, now: datetime, until: float) -> CheckReply:
        needs = self.pace.needs_seconds()
        judge = partial(judge_below, self.judges, trace, case.policy, now)
        try:
            below = await self.below.run(judge, until, needs.get(Layer.L1, 0.0))
        except NotBegun:
            self.pace.left_out(Layer.L1)
            return unjudged_reply(case, Unchecked.OUT_OF_TIME)
        except TimeoutError:
            return unjudged_reply(case, Unchecked.OUT_OF_TIME)
        except Exception as error:  # noqa: BLE001 - whatever judging breaks on, the caller gets the policy's decision
            _log_failure(case.trace_id, error)
            return unjudged_reply(case, Unchecked.FAILED)
        self.pace.took(Layer.L1, below.seconds)
        verdict = below.verdict
        in_use = layers_in_use(below, self.judges.above)
        if in_use:
            above = Above(self.judges, below, in_use)
            failure = await self.upper.run(above, until, needs)
            if failure is not None:
                _log_failure(case.trace_id, failure)
            if failure is not None and case.on_failure is OnFailure.CLOSED:
                return unjudged_reply(case, Unchecked.FAILED)
            verdict = above.best(case.on_failure, LayerReason.OUT_OF_TIME if failure is None else LayerReason.FAILED)
        return judged_reply(case, verdict, readable_sources(trace, verdict, below.unfit))


def _case(asked: CheckRequest, trace: Trace, policy: EffectivePolicy) -> Case:
    rule = route_of(policy.document, trace.intent, trace.tier).inline
    within_ms = rule.within_ms if asked.within_ms is None else min(asked.within_ms, rule.within_ms)
    return Case(asked, trace.trace_id, trace.intent, policy.policy_id, policy.document, rule.on_failure, within_ms)


def _until(began: float, within_ms: int) -> float:
    seconds = within_ms / 1000
    return began + seconds - min(MOST_REPLY_SECONDS, seconds / 10)


def _log_reply(reply: CheckReply, trace: Trace) -> None:
    log.info(
        "check",
        trace_id=reply.trace_id,
        intent=trace.intent,
        tier=trace.tier.value,
        decision=reply.decision.value,
        reason=reply.reason.value if reply.reason else "",
        dropped=[layer.value for layer in reply.dropped],
        took_ms=reply.took_ms,
    )


def _log_failure(trace_id: str, error: Exception) -> None:
    log.error("check_failed", trace_id=trace_id, error=type(error).__name__)
