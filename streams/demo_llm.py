"""The demo with a language model on this machine: it answers live questions, is asked again, and judges.

The model is far too small for any of it; what is shown is the way of its answers through all layers.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import structlog

from demo.recipe import DEMO_RECIPE
from demo.written import answered, questions
from detectors.completion import Ask, Completion, CompletionFailed
from schemas.labels import Layer
from schemas.layers import LayerRun
from schemas.verdict import Verdict
from streams.clock import utc_now
from streams.completion import OpenAICompletion
from streams.local_llm import MODEL, serve_local
from streams.settings import Settings

log = structlog.get_logger(__name__)
ANSWER_TOKENS = 60
TEMPERATURE = 0.7
TIMEOUT_SECONDS = 40.0
"""Several times what an idle machine takes; on a busy one calls end here, and the verdict says so."""
PROMPT_TOKENS, REPLY_TOKENS = 3000, 200
"""Of the judge: together less than the context of a reply."""
FAILURES = 2
"""Calls of the judge that may run out of time in a row: other answers wait behind them."""
_FIRST_SEED = 1000
"""Far from those of the samples, or the first sample would be the answer itself."""


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes answers to the questions of the live traffic."""

    completion: Completion

    def traces(self, seed: int) -> Iterator[dict[str, Any] | None]:
        """Native traces without end, each answered when it is asked for; None where the model gave no answer."""
        for number, trace in enumerate(questions(utc_now(), seed, DEMO_RECIPE)):
            yield self._answered(trace, _FIRST_SEED + number)

    def _answered(self, trace: Mapping[str, Any], seed: int) -> dict[str, Any] | None:
        ask = Ask(
            [{"role": "user", "content": trace["packed_prompt"]}],
            ANSWER_TOKENS,
            temperature=TEMPERATURE,
            seed=seed,
            logprobs=True,
        )
        try:
            (choice, *_) = self.completion.ask(ask).choices
        except CompletionFailed as error:
            log.warning("demo_answer_failed", reason=error.reason)
            return None
        return answered(trace, utc_now(), self.completion.model, choice.text, choice.logprobs)


@contextmanager
def small_model(settings: Settings) -> Iterator[tuple[Settings, Writer]]:
    """A model for the length of a block: settings under which it is asked again and judges, and what answers with it.

    Raises ConfigError where a package is not installed.
    """
    with serve_local() as url:
        completion = OpenAICompletion(url=url, model=MODEL, key="", timeout_seconds=TIMEOUT_SECONDS, purpose="samples")
        try:
            yield _asking(settings, url), Writer(completion)
        finally:
            completion.close()


def _asking(settings: Settings, url: str) -> Settings:
    """Settings with the model as endpoint of both layers, one call at a time; prompts that its context holds."""
    endpoint = {"url": url, "model": MODEL, "timeout_seconds": TIMEOUT_SECONDS, "calls_at_once": 1}
    judge = {**endpoint, "prompt_tokens": PROMPT_TOKENS, "reply_tokens": REPLY_TOKENS, "breaker_failures": FAILURES}
    return settings.model_copy(
        update={
            "consistency": settings.consistency.model_copy(update=endpoint),
            "judge": settings.judge.model_copy(update=judge),
        }
    )


def told(verdict: Verdict) -> str:
    """One line on the way of an answer through the layers."""
    upper = [run for run in verdict.routing if run.layer not in (Layer.L0, Layer.L1)]
    return f"{verdict.outcome.value}   {' · '.join(map(_run, upper)) or 'L0 alone'}"


def _run(run: LayerRun) -> str:
    return ", ".join(part for part in (f"{run.layer} {run.told}", run.asked, run.took if run.ran else "") if part)
