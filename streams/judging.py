"""The judge (L3) as the settings have it: a language model behind an endpoint, or none."""

from pathlib import Path
from time import monotonic, sleep

from detectors.breaker import Breaker, BreakerRule
from detectors.golden.reading import read_well_formed
from detectors.judge import Counts, JudgePrompt, Limits, Line, LlmJudge, golden_examples
from detectors.layers import JudgeCache, Prices, Purse
from streams.completion import OpenAICompletion
from streams.settings.judge import Judge


def judge_of(settings: Judge, purse: Purse, cache: JudgeCache, counts: Counts | None = None) -> LlmJudge | None:
    """The judge, None where no endpoint is named; nothing is called yet, and ``counts`` says later what became of it.

    Raises ConfigError when the ``openai`` extra is not installed, or the file with examples cannot be used.
    """
    if not settings.url:
        return None
    completion = OpenAICompletion(
        url=settings.url,
        model=settings.model,
        key=settings.key.get_secret_value(),
        timeout_seconds=settings.timeout_seconds,
        purpose="judge",
        enforce_schema=settings.enforce_schema,
    )
    line = Line(
        completion=completion,
        purse=purse,
        breaker=Breaker(BreakerRule(settings.breaker_failures, settings.breaker_seconds), monotonic),
        prices=Prices(settings.usd_per_million_in, settings.usd_per_million_out),
        counts=Counts() if counts is None else counts,
        clock=monotonic,
        sleep=sleep,
        patience_seconds=settings.timeout_seconds,
    )
    limits = Limits(settings.reply_tokens, settings.calls_at_once, enforces_schema=settings.enforce_schema)
    return LlmJudge(line, prompt_of(settings), cache, limits, completion.close)


def prompt_of(settings: Judge) -> JudgePrompt:
    """Rules and examples as the settings have them. Raises ConfigError."""
    if not settings.examples_file:
        return JudgePrompt(settings.prompt_tokens)
    golden = read_well_formed(Path(settings.examples_file))
    return JudgePrompt(settings.prompt_tokens, golden_examples(golden, settings.examples))
