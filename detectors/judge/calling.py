"""One paid call: the breaker admits it, the purse reserves for it, and what it took is settled however it ends."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf
from threading import Lock

from detectors.breaker import Breaker
from detectors.completion import Ask, Choice, Completion, CompletionFailed, Reply, prompt_tokens
from detectors.layers import Payer, Prices, Purse, Spent
from schemas.labels import Outcome
from schemas.layers import LayerReason

TRIES = 2
"""A call that found the endpoint silent or away is made once more, within the time that is left.

One that is told when to come again (``Retry-After``) is made again then, as often as the call's own time allows.
"""
_MILLISECONDS = 1000
_OUTCOMES = {
    "timeout": Outcome.ERROR_TIMEOUT,
    "too_long": Outcome.ERROR_TOO_LONG,
    "model": Outcome.ERROR_MODEL,
}


class Unjudged(Exception):
    """A claim got no verdict: its outcome, and what stopped the layer where the cause is not the claim's own."""

    def __init__(self, outcome: Outcome, stopped: LayerReason | None = None) -> None:
        super().__init__(outcome.value)
        self.outcome = outcome
        self.stopped = stopped


@dataclass(slots=True)
class Counts:
    """What became of claims and calls since the start of the process, by name; safe across threads."""

    by_name: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def add(self, name: str, count: int = 1) -> None:
        """Count something."""
        with self._lock:
            self.by_name[name] += count


class Bill:
    """What one claim took so far; the time is its answer's, since calls overlap.

    ``spent`` may be read by another thread while a call is under way: the call counts as one that ran out of time.
    """

    def __init__(self) -> None:
        self.spent = self._ended = Spent()

    def begin(self, at_least: Spent) -> None:
        """One more call, and what it takes if nobody waits for its end."""
        self.spent = self._ended.plus(at_least)

    def add(self, more: Spent) -> None:
        """It ended."""
        self.spent = self._ended = self._ended.plus(more)


@dataclass(frozen=True, slots=True)
class Line:
    """What every call of a judge goes through; ``clock`` is in seconds of ``time.monotonic``.

    ``patience_seconds``: how long a call may wait, all in all, for an endpoint that says when to come again.
    """

    completion: Completion
    purse: Purse
    breaker: Breaker
    prices: Prices
    counts: Counts
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    patience_seconds: float

    def call(self, payer: Payer, ask: Ask, deadline: float | None, bill: Bill) -> Choice:
        """The first choice. Raises Unjudged."""
        patient_until = min(self.clock() + self.patience_seconds, inf if deadline is None else deadline)
        tries = 0
        while True:
            left = None if deadline is None else deadline - self.clock()
            if left is not None and left <= 0:
                raise Unjudged(Outcome.ERROR_TIMEOUT, LayerReason.OUT_OF_TIME)
            try:
                return self._once(payer, replace(ask, timeout_seconds=left), patient_until, bill).choices[0]
            except CompletionFailed as error:
                if self._can_wait(error, patient_until):
                    self.counts.add("waited")
                    self.sleep(error.retry_after_seconds)
                    continue
                self.counts.add(f"failed_{error.reason}")
                tries += 1
                if not error.is_away or error.retry_after_seconds or tries == TRIES:
                    raise Unjudged(_OUTCOMES[error.reason]) from error

    def _once(self, payer: Payer, ask: Ask, patient_until: float, bill: Bill) -> Reply:
        """One call, paid for. Raises CompletionFailed, and Unjudged where it is not to be made."""
        if not self.breaker.admit():
            raise Unjudged(Outcome.ERROR_MODEL, LayerReason.AWAY)
        prompt = prompt_tokens(ask.messages)
        tokens = prompt + ask.max_tokens
        spent: Spent | None = None
        failed: CompletionFailed | None = None
        began = self.clock()
        try:
            if not self.purse.may_spend(payer, tokens):
                raise Unjudged(Outcome.ERROR_BUDGET, LayerReason.OVER_BUDGET)
            spent = Spent(calls=1)
            bill.begin(self.prices.spent(1, prompt, 0))
            reply = self.completion.ask(ask)
            spent = self.prices.spent(reply.calls, reply.tokens_in, reply.tokens_out)
        except CompletionFailed as error:
            failed, spent = error, self.prices.spent(1, error.tokens_in, 0)
            raise
        finally:
            if spent is None:
                self.breaker.withdraw()
            else:
                self._tell_the_breaker(failed, patient_until)
                bill.add(spent)
                self.purse.settle(payer, tokens, replace(spent, took_ms=(self.clock() - began) * _MILLISECONDS))
        return reply

    def _tell_the_breaker(self, failed: CompletionFailed | None, patient_until: float) -> None:
        """An endpoint that is waited for is not away; one that asks for more than any call can wait is left alone."""
        if failed is not None and self._can_wait(failed, patient_until):
            self.breaker.withdraw()
        elif failed is not None and failed.retry_after_seconds > self.patience_seconds:
            self.breaker.pause(failed.retry_after_seconds)
        else:
            self.breaker.ended(was_answered=failed is None or not failed.is_away)

    def _can_wait(self, failed: CompletionFailed, patient_until: float) -> bool:
        return 0 < failed.retry_after_seconds < patient_until - self.clock()
