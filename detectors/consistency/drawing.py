"""Draws answers from a chat endpoint: several a call where it can, and as many calls as that takes."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import monotonic

from detectors.breaker import Breaker, BreakerRule
from detectors.completion import Ask, Completion, CompletionFailed, Message, Reply
from detectors.consistency.resampling import ResamplingFailed, Samples
from detectors.layers import Prices, Spent
from schemas.layers import LayerReason


@dataclass(frozen=True, slots=True)
class CompletionResampler:
    """Implements ``Resampler``; the prompt is one message of a user, since traces do not keep the roles.

    ``samples_per_call`` are asked for at once, which pays for the prompt once; an endpoint that gives fewer is asked
    again. ``clock`` is that of deadlines.
    """

    completion: Completion
    samples_per_call: int = 4
    prices: Prices = field(default_factory=Prices)
    clock: Callable[[], float] = monotonic
    breaker: Breaker = field(default_factory=lambda: Breaker(BreakerRule(), monotonic))

    @property
    def model(self) -> str:
        """The name that the endpoint knows."""
        return self.completion.model

    def sample(self, prompt: str, count: int, temperature: float, max_tokens: int, deadline: float | None) -> Samples:
        """As ``Resampler.sample``; what was drawn before a call failed is kept, blank replies are not."""
        began = self.clock()
        texts: list[str] = []
        took = Spent()
        why_stopped = None
        while len(texts) < count and why_stopped is None:
            left = None if deadline is None else deadline - self.clock()
            why_stopped = self._why_not_now(left)
            if why_stopped is not None:
                break
            ask = Ask(
                [Message(role="user", content=prompt)],
                max_tokens,
                samples=min(self.samples_per_call, count - len(texts)),
                temperature=temperature,
                seed=len(texts),  # or an endpoint that gives one answer a call would give the same one again
                timeout_seconds=left,
            )
            try:
                reply = self._asked(ask)
            except CompletionFailed as error:
                took = took.plus(self.prices.spent(1, error.tokens_in, 0))
                why_stopped = _reason(error)
            else:
                took = took.plus(self.prices.spent(reply.calls, reply.tokens_in, reply.tokens_out))
                written = [choice.text for choice in reply.choices if choice.text.strip()]
                texts += written
                why_stopped = None if written else LayerReason.FAILED
        spent = replace(took, took_ms=1000 * (self.clock() - began))
        if not texts:
            raise ResamplingFailed(why_stopped or LayerReason.FAILED, spent)
        return Samples(tuple(texts[:count]), spent)

    def _why_not_now(self, left: float | None) -> LayerReason | None:
        """None admits a call, which must then be made."""
        if left is not None and left <= 0:
            return LayerReason.OUT_OF_TIME
        return None if self.breaker.admit() else LayerReason.AWAY

    def _asked(self, ask: Ask) -> Reply:
        """The reply to an admitted call; the breaker learns how it ended. Raises CompletionFailed."""
        try:
            reply = self.completion.ask(ask)
        except CompletionFailed as error:
            is_ours = error.reason == "timeout" and ask.timeout_seconds is not None  # too little time says nothing
            if is_ours:
                self.breaker.withdraw()
            elif error.retry_after_seconds:
                self.breaker.pause(error.retry_after_seconds)
            else:
                self.breaker.ended(was_answered=not error.is_away)
            raise
        except BaseException:
            self.breaker.withdraw()
            raise
        self.breaker.ended(was_answered=True)
        return reply


def _reason(error: CompletionFailed) -> LayerReason:
    if error.reason == "timeout":
        return LayerReason.OUT_OF_TIME
    return LayerReason.AWAY if error.is_away else LayerReason.FAILED
