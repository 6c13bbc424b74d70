"""One paid call: the breaker admits it, the purse reserves for it, and what it took is settled however it ends."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Lock

from detectors.breaker import Breaker
from detectors.completion import Ask, Choice, Completion, CompletionFailed, Reply, prompt_tokens
from detectors.layers import Payer, Prices, Purse, Spent
from schemas.labels import Outcome
from schemas.layers import LayerReason

TRIES = 2
"""A call that found the endpoint silent or away is made once more, within the time that is left."""
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


@dataclass(slots=True)
class Bill:
    """What one claim took so far; the time is its answer's, since calls overlap."""

    spent: Spent = field(default_factory=Spent)

    def add(self, more: Spent) -> None:
        """One more call."""
        self.spent = self.spent.plus(more)


@dataclass(frozen=True, slots=True)
class Line:
    """What every call of a judge goes through; ``clock`` is in seconds of ``time.monotonic``."""

    completion: Completion
    purse: Purse
    breaker: Breaker
    prices: Prices
    counts: Counts
    clock: Callable[[], float]

    def call(self, payer: Payer, ask: Ask, deadline: float | None, bill: Bill) -> Choice:
        """The first choice. Raises Unjudged."""
        failed = CompletionFailed("timeout")
        for _ in range(TRIES):
            left = None if deadline is None else deadline - self.clock()
            if left is not None and left <= 0:
                raise Unjudged(Outcome.ERROR_TIMEOUT, LayerReason.OUT_OF_TIME)
            try:
                return self._once(payer, replace(ask, timeout_seconds=left), bill).choices[0]
            except CompletionFailed as error:
                self.counts.add(f"failed_{error.reason}")
                failed = error
                if not error.is_away:
                    break
        raise Unjudged(_OUTCOMES[failed.reason])

    def _once(self, payer: Payer, ask: Ask, bill: Bill) -> Reply:
        """One call, paid for. Raises CompletionFailed, and Unjudged where it is not to be made."""
        if not self.breaker.admit():
            raise Unjudged(Outcome.ERROR_MODEL, LayerReason.AWAY)
        tokens = prompt_tokens(ask.messages) + ask.max_tokens
        spent: Spent | None = None
        was_answered, began = True, self.clock()
        try:
            if not self.purse.may_spend(payer, tokens):
                raise Unjudged(Outcome.ERROR_BUDGET, LayerReason.OVER_BUDGET)
            spent = Spent(calls=1)
            reply = self.completion.ask(ask)
            spent = self.prices.spent(reply.calls, reply.tokens_in, reply.tokens_out)
        except CompletionFailed as error:
            was_answered = not error.is_away
            spent = self.prices.spent(1, error.tokens_in, 0)
            raise
        finally:
            if spent is None:
                self.breaker.withdraw()
            else:
                self.breaker.ended(was_answered=was_answered)
                bill.add(spent)
                self.purse.settle(payer, tokens, replace(spent, took_ms=(self.clock() - began) * _MILLISECONDS))
        return reply
